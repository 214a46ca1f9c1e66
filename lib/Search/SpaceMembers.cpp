//===- SpaceMembers.cpp - The strategies of a space -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/StrategySpace.h"

#include <algorithm>
#include <cassert>

namespace shardopt::search {

//===----------------------------------------------------------------------===//
// Variables and members
//===----------------------------------------------------------------------===//

size_t StrategySpace::domainSize(size_t variable) const {
  return variable < firstDim() ? degrees[open[variable]].size()
                               : dims[variable - firstDim()].size();
}

const std::vector<int64_t> &StrategySpace::degreeDomain(Degree degree) const {
  assert(!degrees[degree].empty() && "not a variable");
  return degrees[degree];
}

const std::string &StrategySpace::variableName(size_t variable) const {
  static const std::vector<std::string> names = degreeNames();
  return variable < firstDim() ? names[size_t(open[variable])]
                               : opNames[variable - firstDim()];
}

bool StrategySpace::contains(const Strategy &strategy) const {
  return pointOf(strategy).has_value();
}

StrategySpace::Grid StrategySpace::gridOf(const Point &point) const {
  Grid grid = {};
  std::copy_n(point.begin(), batch(), grid.begin());
  return grid;
}

bool StrategySpace::fits(const Point &point) const {
  return std::binary_search(grids.begin(), grids.end(), gridOf(point));
}

/// The batch number `index` where the other degrees are `others`.
int64_t StrategySpace::batchAt(uint32_t index, const Degrees &others) const {
  if (ladder.empty())
    return degrees[Degree::Batch][index];
  // Fewer micro-batches than stages, if these are not too many for that.
  constexpr int64_t mostPartial = 32;
  uint32_t partial = others.pp <= mostPartial ? others.pp - 1 : 0;
  if (index < partial)
    return (index + 1) * others.dp;
  return ladder[index - partial] * others.pp * others.dp;
}

Degrees StrategySpace::degreesAt(const Grid &grid, uint32_t batch) const {
  PartialDegrees given;
  given.stages = cut;
  for (size_t variable = 0; variable < this->batch(); ++variable)
    given[open[variable]] = degrees[open[variable]][grid[variable]];
  Degrees at = given.filled();
  at.batch = batchAt(batch, at);
  return at;
}

Degrees StrategySpace::degreesAt(const Point &point) const {
  return degreesAt(gridOf(point), point[batch()]);
}

Strategy StrategySpace::strategyAt(const Point &point) const {
  assert(point.size() == numVariables() && "one index a variable");
  Strategy strategy;
  strategy.degrees = degreesAt(point);
  strategy.dims.reserve(dims.size());
  for (size_t op = 0; op < dims.size(); ++op)
    strategy.dims.push_back(dims[op][point[firstDim() + op]]);
  return strategy;
}

/// The position of `value` in the sorted `domain`.
template <typename T>
static std::optional<uint32_t> indexOf(const std::vector<T> &domain, T value) {
  auto it = std::lower_bound(domain.begin(), domain.end(), value);
  if (it == domain.end() || *it != value)
    return std::nullopt;
  return it - domain.begin();
}

std::optional<uint32_t>
StrategySpace::indexOfBatch(const Degrees &wanted) const {
  uint32_t begin = 0, end = uint32_t(numBatches());
  while (begin < end) {
    uint32_t middle = begin + (end - begin) / 2;
    int64_t batch = batchAt(middle, wanted);
    if (batch == wanted.batch)
      return middle;
    (batch < wanted.batch ? begin : end) =
        batch < wanted.batch ? middle + 1 : middle;
  }
  return std::nullopt;
}

std::string StrategySpace::describeBatches() const {
  return "b * pp * dp for " + std::to_string(ladder.size()) +
         " values of b from 1 to " + std::to_string(ladder.back()) +
         " in steps of 1, then of at most 3 %, and M * dp for M below pp";
}

std::optional<Strategy>
StrategySpace::withLargerBatch(const Strategy &strategy) const {
  Strategy larger = strategy;
  // The batch may be none of the space's.
  for (uint32_t index = 0; index < numBatches(); ++index) {
    larger.degrees.batch = batchAt(index, strategy.degrees);
    if (larger.degrees.batch > strategy.degrees.batch)
      return larger;
  }
  return std::nullopt;
}

std::optional<Point> StrategySpace::pointOf(const Strategy &strategy) const {
  if (strategy.dims.size() != dims.size())
    return std::nullopt;
  Point point;
  for (Degree degree : open) {
    auto index = degree == Degree::Batch
                     ? indexOfBatch(strategy.degrees)
                     : indexOf(degrees[degree], strategy.degrees[degree]);
    if (!index)
      return std::nullopt;
    point.push_back(*index);
  }
  for (size_t op = 0; op < dims.size(); ++op) {
    auto index = indexOf(dims[op], strategy.dims[op]);
    if (!index)
      return std::nullopt;
    point.push_back(*index);
  }
  if (!fits(point) || degreesAt(point) != strategy.degrees)
    return std::nullopt;
  return point;
}

std::vector<Degrees> StrategySpace::degreeTuples() const {
  std::vector<Degrees> tuples;
  tuples.reserve(grids.size() * degrees[Degree::Batch].size());
  for (const Grid &grid : grids)
    for (uint32_t batch = 0; batch < numBatches(); ++batch)
      tuples.push_back(degreesAt(grid, batch));
  return tuples;
}

double StrategySpace::size() const {
  double size = double(grids.size()) * degrees[Degree::Batch].size();
  for (const DimDomain &domain : dims)
    size *= domain.size();
  return size;
}

//===----------------------------------------------------------------------===//
// Random members
//===----------------------------------------------------------------------===//

Point StrategySpace::sample(Rng &rng) const {
  const Grid &grid = grids[rng.below(grids.size())];
  Point point(grid.begin(), grid.begin() + batch());
  for (size_t variable = batch(); variable < numVariables(); ++variable)
    point.push_back(rng.below(domainSize(variable)));
  return point;
}

void StrategySpace::repair(Point &point, size_t kept, Rng &rng) const {
  if (fits(point))
    return;
  size_t fewest = numDegrees, count = 0;
  Grid current = gridOf(point);
  Grid choice = grids.front();
  for (const Grid &grid : grids) {
    if (kept < batch() && grid[kept] != point[kept])
      continue;
    size_t changes = 0;
    for (size_t variable = 0; variable < grid.size(); ++variable)
      changes += grid[variable] != current[variable];
    if (changes > fewest)
      continue;
    if (changes < fewest)
      count = 0;
    fewest = changes;
    // Reservoir sampling: each of the closest so far is kept equally often.
    if (rng.below(++count) == 0)
      choice = grid;
  }
  std::copy_n(choice.begin(), batch(), point.begin());
}

} // namespace shardopt::search
