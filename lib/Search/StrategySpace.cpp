//===- StrategySpace.cpp - Variables and domains of a search --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/StrategySpace.h"

#include <algorithm>
#include <cassert>

namespace shardopt::search {

/// Degree tuples are listed, so there is an end to their number.
static constexpr double maxTuples = 1 << 24;

//===----------------------------------------------------------------------===//
// Domains of the degrees
//===----------------------------------------------------------------------===//

static std::vector<int64_t> powersOfTwoUpTo(int64_t limit) {
  std::vector<int64_t> values;
  for (int64_t value = 1; value <= limit; value *= 2)
    values.push_back(value);
  return values;
}

/// Those of the ascending `values` that are at most `limit`, and the first.
static std::vector<int64_t> valuesUpTo(int64_t limit,
                                       std::vector<int64_t> values) {
  while (values.size() > 1 && values.back() > limit)
    values.pop_back();
  return values;
}

static std::vector<int64_t> defaultDomain(Degree degree,
                                          const SpaceFacts &facts) {
  switch (degree) {
#define SHARDOPT_DEGREE(name, Name, Summary, Values, most, axis, divides,      \
                        fallback, domain)                                      \
  case Degree::Name:                                                           \
    return domain;
#include "shardopt/Support/Degrees.def"
  }
  return {};
}

/// "1, 2, 4".
static std::string join(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

static std::optional<Error> checkRange(const std::string &what, int64_t value,
                                       int64_t limit) {
  if (value >= 1 && value <= limit)
    return std::nullopt;
  return Error{what + " is " + std::to_string(value) +
               ", which is out of range: 1 to " + std::to_string(limit)};
}

/// The domain of one degree, ascending and without repetitions.
static ErrorOr<std::vector<int64_t>> makeDomain(Degree degree,
                                                const SpaceRequest &request,
                                                const SpaceFacts &facts) {
  const std::string name = std::string("'") + spell(degree) + "'";
  const int64_t limit = infoOf(degree).most;
  const std::optional<std::vector<int64_t>> &list = request.lists[degree];
  const std::optional<int64_t> pin = request.pinned[degree];
  std::vector<int64_t> domain;
  if (list) {
    domain = *list;
    if (domain.empty())
      return Error{name + " lists no value"};
    for (int64_t value : domain)
      if (auto error = checkRange(name, value, limit))
        return *error;
    std::sort(domain.begin(), domain.end());
    domain.erase(std::unique(domain.begin(), domain.end()), domain.end());
  }
  if (!pin)
    return list ? domain : defaultDomain(degree, facts);

  if (auto error = checkRange("pinned " + name, *pin, limit))
    return *error;
  if (list && !std::binary_search(domain.begin(), domain.end(), *pin))
    return Error{name + " is pinned to " + std::to_string(*pin) +
                 ", but its list is " + join(domain)};
  return std::vector<int64_t>{*pin};
}

/// "tp 8 (pinned), ep 1, 2, 4 (listed), pp 1, 2 (default)".
std::string StrategySpace::describeGrid(const SpaceRequest &request) const {
  std::string text;
  for (size_t variable = 0; variable < batch(); ++variable) {
    const Degree degree = open[variable];
    text += (text.empty() ? "" : ", ") + variableName(variable) + " " +
            join(degrees[degree]) +
            (request.pinned[degree]  ? " (pinned)"
             : request.lists[degree] ? " (listed)"
                                     : " (default)");
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

void StrategySpace::listGrids(const SpaceRequest &request) {
  Grid grid = {};
  while (true) {
    const int64_t devices = degreesAt(grid, 1).devices();
    if (request.devices ? devices == *request.devices
                        : devices <= request.maxDevices.value_or(INT64_MAX))
      grids.push_back(grid);
    size_t variable = batch();
    while (variable > 0 && ++grid[variable - 1] == domainSize(variable - 1))
      grid[--variable] = 0;
    if (variable == 0)
      return;
  }
}

/// Leaves in domains and grids only values that some grid has.
void StrategySpace::dropUnusedValues() {
  for (size_t variable = 0; variable < batch(); ++variable) {
    std::vector<int64_t> &domain = degrees[open[variable]];
    std::vector<bool> used(domain.size());
    for (const Grid &grid : grids)
      used[grid[variable]] = true;
    std::vector<uint32_t> renumbered(used.size());
    std::vector<int64_t> kept;
    for (size_t i = 0; i < used.size(); ++i) {
      renumbered[i] = kept.size();
      if (used[i])
        kept.push_back(domain[i]);
    }
    for (Grid &grid : grids)
      grid[variable] = renumbered[grid[variable]];
    domain = std::move(kept);
  }
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// "'tp', 'ep', 'pp' and 'batch'".
static std::string listNames(const std::vector<Degree> &degrees) {
  std::string text;
  for (size_t i = 0; i < degrees.size(); ++i)
    text += (i == 0                    ? "'"
             : i + 1 == degrees.size() ? " and '"
                                       : ", '") +
            std::string(spell(degrees[i])) + "'";
  return text;
}

static std::optional<Error> checkDevices(const SpaceRequest &request) {
  if (request.maxDevices)
    if (auto error =
            checkRange("'max-devices'", *request.maxDevices, INT64_MAX))
      return error;
  if (request.devices)
    if (auto error = checkRange("'devices'", *request.devices, INT64_MAX))
      return error;
  if (request.devices && request.maxDevices &&
      *request.devices > *request.maxDevices)
    return Error{"'devices' is " + std::to_string(*request.devices) +
                 ", but 'max-devices' is " +
                 std::to_string(*request.maxDevices)};
  return std::nullopt;
}

ErrorOr<StrategySpace> StrategySpace::create(const SpaceFacts &facts,
                                             const SpaceRequest &request) {
  assert((request.pinnedDims.empty() ||
          request.pinnedDims.size() == facts.ops.size()) &&
         "one pin an op, or none at all");
  assert((facts.choices.empty() || facts.choices.size() == facts.ops.size()) &&
         "choices for each op, or none at all");
  if (auto error = checkDevices(request))
    return *error;

  StrategySpace space;
  double tuples = 1;
  for (Degree degree : allDegrees) {
    if (!infoOf(degree).isRequired() && !request.lists[degree] &&
        !request.pinned[degree])
      continue;
    ErrorOr<std::vector<int64_t>> domain = makeDomain(degree, request, facts);
    if (!domain)
      return domain.error();
    tuples *= domain->size();
    space.open.push_back(degree);
    space.degrees[degree] = std::move(*domain);
  }
  if (tuples > maxTuples)
    return Error{"the lists of " + listNames(space.open) + " have more than " +
                 std::to_string(int64_t(maxTuples)) + " combinations"};

  space.listGrids(request);
  if (space.grids.empty() && request.devices)
    return Error{"no " + devicesFormula() +
                 " is 'devices' = " + std::to_string(*request.devices) + ": " +
                 space.describeGrid(request)};
  if (space.grids.empty())
    return Error{devicesFormula() + " is at least " +
                 std::to_string(space.degreesAt(Grid{}, 1).devices()) +
                 ", but 'max-devices' is " +
                 std::to_string(*request.maxDevices) + ": " +
                 space.describeGrid(request)};
  space.dropUnusedValues();

  space.opNames = facts.ops;
  space.dims = facts.choices;
  if (space.dims.empty())
    space.dims.assign(facts.ops.size(), {Dim::Zero, Dim::One, Dim::None});
  for (size_t op = 0; op < request.pinnedDims.size(); ++op)
    if (request.pinnedDims[op])
      space.dims[op] = {*request.pinnedDims[op]};
  return space;
}

StrategySpace StrategySpace::withDims(DimDomains domains) const {
  assert(domains.size() == dims.size() && "one domain an op");
  StrategySpace space = *this;
  space.dims = std::move(domains);
  return space;
}

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

Degrees StrategySpace::degreesAt(const Grid &grid, int64_t batch) const {
  PartialDegrees given;
  given[Degree::Batch] = batch;
  for (size_t variable = 0; variable < this->batch(); ++variable)
    given[open[variable]] = degrees[open[variable]][grid[variable]];
  return given.filled();
}

Degrees StrategySpace::degreesAt(const Point &point) const {
  return degreesAt(gridOf(point), degrees[Degree::Batch][point[batch()]]);
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

std::optional<Point> StrategySpace::pointOf(const Strategy &strategy) const {
  if (strategy.dims.size() != dims.size())
    return std::nullopt;
  Point point;
  for (Degree degree : open) {
    auto index = indexOf(degrees[degree], strategy.degrees[degree]);
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
    for (int64_t batch : degrees[Degree::Batch])
      tuples.push_back(degreesAt(grid, batch));
  return tuples;
}

double StrategySpace::size() const {
  double size =
      static_cast<double>(grids.size()) * degrees[Degree::Batch].size();
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
  const Grid current = gridOf(point);
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
