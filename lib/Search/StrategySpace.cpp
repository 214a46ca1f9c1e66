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

/// Keep tp * ep * pp far from overflow.
static constexpr int64_t maxDegree = int64_t(1) << 20;
static constexpr int64_t maxBatch = int64_t(1) << 31;
/// Degree tuples are listed, so there is an end to their number.
static constexpr double maxTuples = 1 << 24;

static const std::string degreeNames[] = {"tp", "ep", "pp", "batch"};

//===----------------------------------------------------------------------===//
// Domains of the degrees
//===----------------------------------------------------------------------===//

namespace {
/// The values of one degree and where they come from.
struct DegreeSource {
  size_t variable;
  const std::optional<std::vector<int64_t>> &list;
  std::optional<int64_t> pin;
};
} // namespace

static std::vector<int64_t> powersOfTwoUpTo(int64_t limit) {
  std::vector<int64_t> values;
  for (int64_t value = 1; value <= limit; value *= 2)
    values.push_back(value);
  return values;
}

static std::vector<int64_t> defaultDomain(size_t variable,
                                          const SpaceFacts &facts) {
  bool manyExperts = facts.experts > 16;
  switch (variable) {
  case StrategySpace::Tp:
    return powersOfTwoUpTo(64);
  case StrategySpace::Ep:
    return powersOfTwoUpTo(manyExperts ? facts.experts : 16);
  case StrategySpace::Pp: {
    std::vector<int64_t> values = {1, 2, 3, 4, 6, 8, 12, 24};
    while (values.size() > 1 && values.back() > facts.layers)
      values.pop_back();
    return values;
  }
  default:
    return powersOfTwoUpTo(manyExperts ? 65536 : 8192);
  }
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
static ErrorOr<std::vector<int64_t>> makeDomain(const DegreeSource &source,
                                                const SpaceFacts &facts) {
  const std::string &name = degreeNames[source.variable];
  int64_t limit =
      source.variable == StrategySpace::Batch ? maxBatch : maxDegree;
  std::vector<int64_t> domain;
  if (source.list) {
    domain = *source.list;
    if (domain.empty())
      return Error{"'" + name + "' lists no value"};
    for (int64_t value : domain)
      if (auto error = checkRange("'" + name + "'", value, limit))
        return *error;
    std::sort(domain.begin(), domain.end());
    domain.erase(std::unique(domain.begin(), domain.end()), domain.end());
  }
  if (!source.pin)
    return source.list ? domain : defaultDomain(source.variable, facts);

  if (auto error = checkRange("pinned '" + name + "'", *source.pin, limit))
    return *error;
  if (source.list &&
      !std::binary_search(domain.begin(), domain.end(), *source.pin))
    return Error{"'" + name + "' is pinned to " + std::to_string(*source.pin) +
                 ", but its list is " + join(domain)};
  return std::vector<int64_t>{*source.pin};
}

/// "tp 8 (pinned), ep 1, 2, 4 (listed), pp 1, 2 (default)".
static std::string describeGrid(const DegreeSource (&sources)[4],
                                const std::array<std::vector<int64_t>, 4> &of) {
  std::string text;
  for (size_t variable = 0; variable < StrategySpace::Batch; ++variable) {
    const DegreeSource &source = sources[variable];
    text += (text.empty() ? "" : ", ") + degreeNames[variable] + " " +
            join(of[variable]) +
            (source.pin    ? " (pinned)"
             : source.list ? " (listed)"
                           : " (default)");
  }
  return text;
}

/// Leaves in `domains` and `grids` only values that some grid has.
static void dropUnusedValues(std::array<std::vector<int64_t>, 4> &domains,
                             std::vector<std::array<uint32_t, 3>> &grids) {
  for (size_t axis = 0; axis < 3; ++axis) {
    std::vector<bool> used(domains[axis].size());
    for (const auto &grid : grids)
      used[grid[axis]] = true;
    std::vector<uint32_t> renumbered(used.size());
    std::vector<int64_t> kept;
    for (size_t i = 0; i < used.size(); ++i) {
      renumbered[i] = kept.size();
      if (used[i])
        kept.push_back(domains[axis][i]);
    }
    for (auto &grid : grids)
      grid[axis] = renumbered[grid[axis]];
    domains[axis] = std::move(kept);
  }
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

ErrorOr<StrategySpace> StrategySpace::create(const SpaceFacts &facts,
                                             const SpaceRequest &request) {
  assert((request.pinnedDims.empty() ||
          request.pinnedDims.size() == facts.ops.size()) &&
         "one pin an op, or none at all");
  if (request.maxDevices)
    if (auto error =
            checkRange("'max-devices'", *request.maxDevices, INT64_MAX))
      return *error;
  if (request.devices)
    if (auto error = checkRange("'devices'", *request.devices, INT64_MAX))
      return *error;
  if (request.devices && request.maxDevices &&
      *request.devices > *request.maxDevices)
    return Error{"'devices' is " + std::to_string(*request.devices) +
                 ", but 'max-devices' is " +
                 std::to_string(*request.maxDevices)};

  StrategySpace space;
  const DegreeSource sources[] = {{Tp, request.tp, request.pinnedTp},
                                  {Ep, request.ep, request.pinnedEp},
                                  {Pp, request.pp, request.pinnedPp},
                                  {Batch, request.batch, request.pinnedBatch}};
  double tuples = 1;
  for (const DegreeSource &source : sources) {
    ErrorOr<std::vector<int64_t>> domain = makeDomain(source, facts);
    if (!domain)
      return domain.error();
    tuples *= domain->size();
    space.degrees[source.variable] = std::move(*domain);
  }
  if (tuples > maxTuples)
    return Error{"the lists of 'tp', 'ep', 'pp' and 'batch' have more than " +
                 std::to_string(int64_t(maxTuples)) + " combinations"};

  const auto &[tps, eps, pps, batches] = space.degrees;
  for (uint32_t t = 0; t < tps.size(); ++t)
    for (uint32_t e = 0; e < eps.size(); ++e)
      for (uint32_t p = 0; p < pps.size(); ++p) {
        int64_t devices = tps[t] * eps[e] * pps[p];
        if (request.devices ? devices == *request.devices
                            : devices <= request.maxDevices.value_or(INT64_MAX))
          space.grids.push_back({t, e, p});
      }
  if (space.grids.empty() && request.devices)
    return Error{
        "no tp * ep * pp is 'devices' = " + std::to_string(*request.devices) +
        ": " + describeGrid(sources, space.degrees)};
  if (space.grids.empty())
    return Error{
        "tp * ep * pp is at least " + std::to_string(tps[0] * eps[0] * pps[0]) +
        ", but 'max-devices' is " + std::to_string(*request.maxDevices) + ": " +
        describeGrid(sources, space.degrees)};
  dropUnusedValues(space.degrees, space.grids);

  space.opNames = facts.ops;
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
  return variable < FirstDim ? degrees[variable].size()
                             : dims[variable - FirstDim].size();
}

const std::vector<int64_t> &StrategySpace::degreeDomain(size_t variable) const {
  assert(variable < FirstDim && "not a degree");
  return degrees[variable];
}

const std::string &StrategySpace::variableName(size_t variable) const {
  return variable < FirstDim ? degreeNames[variable]
                             : opNames[variable - FirstDim];
}

bool StrategySpace::contains(const Strategy &strategy) const {
  return pointOf(strategy).has_value();
}

bool StrategySpace::fits(const Point &point) const {
  std::array<uint32_t, 3> grid = {point[Tp], point[Ep], point[Pp]};
  return std::binary_search(grids.begin(), grids.end(), grid);
}

Degrees StrategySpace::degreesAt(const Point &point) const {
  return {degrees[Tp][point[Tp]], degrees[Ep][point[Ep]],
          degrees[Pp][point[Pp]], degrees[Batch][point[Batch]]};
}

Strategy StrategySpace::strategyAt(const Point &point) const {
  assert(point.size() == numVariables() && "one index a variable");
  Strategy strategy;
  strategy.degrees = degreesAt(point);
  strategy.dims.reserve(dims.size());
  for (size_t op = 0; op < dims.size(); ++op)
    strategy.dims.push_back(dims[op][point[FirstDim + op]]);
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
  const Degrees &of = strategy.degrees;
  Point point;
  int64_t values[] = {of.tp, of.ep, of.pp, of.batch};
  for (size_t variable = 0; variable < FirstDim; ++variable) {
    auto index = indexOf(degrees[variable], values[variable]);
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
  if (!fits(point))
    return std::nullopt;
  return point;
}

std::vector<Degrees> StrategySpace::degreeTuples() const {
  std::vector<Degrees> tuples;
  tuples.reserve(grids.size() * degrees[Batch].size());
  for (const auto &[t, e, p] : grids)
    for (int64_t batch : degrees[Batch])
      tuples.push_back({degrees[Tp][t], degrees[Ep][e], degrees[Pp][p], batch});
  return tuples;
}

double StrategySpace::size() const {
  double size = static_cast<double>(grids.size()) * degrees[Batch].size();
  for (const DimDomain &domain : dims)
    size *= domain.size();
  return size;
}

//===----------------------------------------------------------------------===//
// Random members
//===----------------------------------------------------------------------===//

Point StrategySpace::sample(Rng &rng) const {
  const auto &grid = grids[rng.below(grids.size())];
  Point point(grid.begin(), grid.end());
  for (size_t variable = Batch; variable < numVariables(); ++variable)
    point.push_back(rng.below(domainSize(variable)));
  return point;
}

void StrategySpace::repair(Point &point, size_t kept, Rng &rng) const {
  if (fits(point))
    return;
  size_t fewest = 4, count = 0;
  std::array<uint32_t, 3> choice = grids.front();
  for (const auto &grid : grids) {
    if (kept < Batch && grid[kept] != point[kept])
      continue;
    size_t changes = 0;
    for (size_t axis = 0; axis < 3; ++axis)
      changes += grid[axis] != point[axis];
    if (changes > fewest)
      continue;
    if (changes < fewest)
      count = 0;
    fewest = changes;
    // Reservoir sampling: each of the closest so far is kept equally often.
    if (rng.below(++count) == 0)
      choice = grid;
  }
  std::copy(choice.begin(), choice.end(), point.begin());
}

} // namespace shardopt::search
