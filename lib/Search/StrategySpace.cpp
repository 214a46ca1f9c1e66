//===- StrategySpace.cpp - Variables and domains of a search --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/StrategySpace.h"

#include "shardopt/Model/StageGrid.h"

#include <algorithm>
#include <cassert>
#include <set>

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

static std::vector<int64_t> exchangesOf(const SpaceFacts &facts) {
  if (!facts.experts)
    return {exchangeAllToAll};
  return {exchangeAllToAll, exchangeGather};
}

static std::vector<int64_t> defaultDomain(Degree degree,
                                          const SpaceFacts &facts) {
  switch (degree) {
#define SHARDOPT_DEGREE(name, Name, Summary, Values, most, axis, divides,      \
                        fallback, names, domain)                               \
  case Degree::Name:                                                           \
    return domain;
#include "shardopt/Model/Degrees.def"
  }
  return {};
}

/// "1, 2, 4", or names.
static std::string joinValues(Degree degree,
                              const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + spell(degree, value);
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
  std::string name = std::string("'") + spell(degree) + "'";
  int64_t limit = infoOf(degree).most;
  const std::optional<std::vector<int64_t>> &list = request.lists[degree];
  std::optional<int64_t> pin = request.pinned[degree];
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
    return Error{name + " is pinned to " + spell(degree, *pin) +
                 ", but its list is " + joinValues(degree, domain)};
  return std::vector<int64_t>{*pin};
}

/// "tp 8 (pinned), ep 1, 2, 4 (listed), pp 1, 2 (default)".
std::string StrategySpace::describeGrid(const SpaceRequest &request) const {
  std::string text;
  for (size_t variable = 0; variable < batch(); ++variable) {
    Degree degree = open[variable];
    text += (text.empty() ? "" : ", ") + variableName(variable) + " " +
            joinValues(degree, degrees[degree]) +
            (request.pinned[degree]  ? " (pinned)"
             : request.lists[degree] ? " (listed)"
                                     : " (default)");
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// The largest power of two that divides tp * dp and is at most `experts`.
static int64_t widestExperts(const Degrees &degrees, int64_t experts) {
  int64_t widest = 1;
  while (2 * widest <= experts && degrees.tp * degrees.dp % (2 * widest) == 0)
    widest *= 2;
  return widest;
}

/// Whether a device caches less with `degrees` than with every smaller power of
/// two as cp.
static bool shrinksCache(const Degrees &degrees, const SpaceFacts &facts) {
  if (!facts.cacheShare)
    return degrees.cp == 1;
  double share = facts.cacheShare(degrees.tp, degrees.cp);
  for (int64_t cp = 1; cp < degrees.cp; cp *= 2)
    if (degrees.tp % cp == 0 &&
        facts.cacheShare(degrees.tp, cp) <= share * (1 + 1e-12))
      return false;
  return true;
}

/// The op whose dim keeps cp from being more than 1; none: no op does.
std::optional<size_t>
StrategySpace::findUncutContext(const Degrees &degrees,
                                const SpaceFacts &facts) const {
  bool maybeWhole = facts.cutsPositions && degrees.cp == degrees.tp;
  for (size_t op : facts.contextOps)
    if (dims[op].front() != Dim::Zero &&
        !(maybeWhole && dims[op].back() == Dim::None))
      return op;
  return std::nullopt;
}

bool StrategySpace::isPossible(const Degrees &degrees,
                               const SpaceFacts &facts) const {
  return hasGrid(degrees, facts.experts > 0) &&
         (!facts.experts || degrees.ep <= facts.experts) &&
         (degrees.cp == 1 || !findUncutContext(degrees, facts));
}

/// Why no strategy has `degrees`, whatever the batch; empty: some may.
std::string StrategySpace::whyNot(const Degrees &degrees,
                                  const SpaceFacts &facts) const {
  if (auto error = gridError(degrees, facts.experts > 0))
    return *error;
  if (facts.experts && degrees.ep > facts.experts)
    return "ep " + std::to_string(degrees.ep) +
           " exceeds the number of experts " + std::to_string(facts.experts);
  if (degrees.cp > 1)
    if (std::optional<size_t> op = findUncutContext(degrees, facts))
      return "cp " + std::to_string(degrees.cp) + " needs dim 0 (heads) of '" +
             opNames[*op] + "', which is pinned to another";
  return "";
}

/// Whether combinations with `degrees` are in the space, whatever the batch and
/// the number of devices. What only the simulator refuses is left to it where
/// no degree of serving engines is open.
bool StrategySpace::admits(const Degrees &degrees, const SpaceFacts &facts,
                           const SpaceRequest &request) const {
  if (degrees.isUniform() && request.kind == SpaceKind::Uniform)
    return true;
  if (!isPossible(degrees, facts))
    return false;
  auto isAsked = [&](Degree degree) {
    return request.lists[degree] || request.pinned[degree];
  };
  if (request.kind == SpaceKind::Uniform)
    return true;
  if (facts.experts && !isAsked(Degree::Ep) && degrees.ep != 1 &&
      degrees.ep != degrees.dp &&
      degrees.ep != widestExperts(degrees, facts.experts))
    return false;
  return isAsked(Degree::Cp) || degrees.cp == 1 ||
         (facts.cutsPositions && degrees.cp == degrees.tp &&
          !facts.contextOps.empty()) ||
         shrinksCache(degrees, facts);
}

std::string StrategySpace::listGrids(const SpaceFacts &facts,
                                     const SpaceRequest &request) {
  // The first reason beyond the grid, else the first of all.
  std::string refused;
  bool isOfGrid = true;
  auto refuse = [&](const Degrees &at) {
    bool isGrid = hasGrid(at, facts.experts > 0);
    if (!refused.empty() && !isGrid)
      return;
    if (std::string reason = whyNot(at, facts); !reason.empty()) {
      refused = std::move(reason);
      isOfGrid = !isGrid;
    }
  };
  Grid grid = {};
  while (true) {
    Degrees at = degreesAt(grid, 0);
    int64_t devices = at.devices();
    bool isWithin = request.devices
                        ? devices == *request.devices
                        : devices <= request.maxDevices.value_or(INT64_MAX);
    if (isWithin && admits(at, facts, request))
      grids.push_back(grid);
    else if (isWithin && isOfGrid)
      refuse(at);
    size_t variable = batch();
    while (variable > 0 && ++grid[variable - 1] == domainSize(variable - 1))
      grid[--variable] = 0;
    if (variable == 0)
      return refused;
  }
}

/// Steps of 3 % at most from 1, and every micro-batch that a batch of a power
/// of two has, so that no such batch is better than all that fit.
void StrategySpace::makeLadder(int64_t mostSequences) {
  std::vector<int64_t> steps;
  for (int64_t b = 1; b <= mostSequences;
       b = std::max(b + 1, int64_t(double(b) * 1.03)))
    steps.push_back(b);
  std::set<int64_t> groups;
  int64_t most = 1;
  for (const Grid &grid : grids) {
    Degrees at = degreesAt(grid, 0);
    groups.insert(at.pp * at.dp);
    most = std::max(most, at.pp * at.dp);
  }
  for (int64_t parts : groups)
    for (int64_t batch = 1; batch <= (int64_t(1) << 16); batch *= 2)
      if (int64_t b = (batch + parts - 1) / parts; b <= mostSequences)
        steps.push_back(b);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  while (steps.size() > 1 && steps.back() > maxBatch / most)
    steps.pop_back();
  degrees[Degree::Batch] = ladder = std::move(steps);
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

/// Whether `degree` is a variable.
static bool isOpen(Degree degree, const SpaceFacts &facts,
                   const SpaceRequest &request) {
  if (infoOf(degree).isRequired() || request.lists[degree] ||
      request.pinned[degree])
    return true;
  // Without experts, dp is ep and nothing is exchanged. In a phase the load of
  // experts is none that EPLB evens out. No engine has tp2.
  return request.kind == SpaceKind::Serving && degree != Degree::Eplb &&
         degree != Degree::Tp2 && (facts.experts || degree == Degree::Cp);
}

/// Takes the stages that are pinned, and with them pp. An even cut is what
/// strategies have that say nothing.
std::optional<Error> StrategySpace::pinStages(const SpaceFacts &facts,
                                              SpaceRequest &request) {
  const StageCut &pinned = request.pinned.stages;
  if (pinned.isEmpty())
    return std::nullopt;
  std::optional<int64_t> &pp = request.pinned[Degree::Pp];
  if (!pp)
    pp = int64_t(pinned.layers.size());
  if (auto error = stageCutError(pinned, *pp, facts.layers))
    return Error{*error};
  if (!pinned.isEven())
    cut = pinned;
  return std::nullopt;
}

std::optional<Error> StrategySpace::openDegrees(const SpaceFacts &facts,
                                                const SpaceRequest &request) {
  double tuples = 1;
  for (Degree degree : allDegrees) {
    if (!isOpen(degree, facts, request))
      continue;
    ErrorOr<std::vector<int64_t>> domain = makeDomain(degree, request, facts);
    if (!domain)
      return domain.error();
    tuples *= domain->size();
    open.push_back(degree);
    degrees[degree] = std::move(*domain);
  }
  // Experts may be cut as all else is, whatever dp is.
  bool isEpAsked = request.lists[Degree::Ep] || request.pinned[Degree::Ep];
  if (request.kind == SpaceKind::Serving && facts.experts && !isEpAsked) {
    std::vector<int64_t> &ep = degrees[Degree::Ep];
    const std::vector<int64_t> &dp = degrees[Degree::Dp];
    ep.insert(ep.end(), dp.begin(), dp.end());
    std::sort(ep.begin(), ep.end());
    ep.erase(std::unique(ep.begin(), ep.end()), ep.end());
  }
  if (tuples > maxTuples)
    return Error{"the lists of " + listNames(open) + " have more than " +
                 std::to_string(int64_t(maxTuples)) + " combinations"};
  return std::nullopt;
}

/// Gives ops the dim that needs tp2, if it may be above 1.
std::optional<Error> StrategySpace::openBothDims(const SpaceFacts &facts,
                                                 const SpaceRequest &request) {
  const std::vector<int64_t> &domain = degrees[Degree::Tp2];
  bool isOpen = !domain.empty() && domain.back() > 1;
  for (size_t op : facts.bothDimsOps) {
    bool isPinned =
        !request.pinnedDims.empty() && request.pinnedDims[op].has_value();
    if (isPinned && request.pinnedDims[op] == dimBoth && !isOpen)
      return Error{"'" + opNames[op] +
                   "' is pinned to dim 3 (both), which needs 'tp2' above 1: "
                   "expected a list or a pin of it"};
    if (isOpen && !isPinned)
      dims[op].push_back(dimBoth);
  }
  return std::nullopt;
}

ErrorOr<StrategySpace> StrategySpace::create(const SpaceFacts &facts,
                                             const SpaceRequest &asked) {
  SpaceRequest request = asked;
  assert((request.pinnedDims.empty() ||
          request.pinnedDims.size() == facts.ops.size()) &&
         "one pin an op, or none at all");
  assert((facts.choices.empty() || facts.choices.size() == facts.ops.size()) &&
         "choices for each op, or none at all");
  if (auto error = checkDevices(request))
    return *error;

  StrategySpace space;
  space.opNames = facts.ops;
  space.dims = facts.choices;
  if (space.dims.empty())
    space.dims.assign(facts.ops.size(), {Dim::Zero, Dim::One, Dim::None});
  for (size_t op = 0; op < request.pinnedDims.size(); ++op)
    if (request.pinnedDims[op])
      space.dims[op] = {*request.pinnedDims[op]};
  if (auto error = space.pinStages(facts, request))
    return *error;
  if (auto error = space.openDegrees(facts, request))
    return *error;
  if (auto error = space.openBothDims(facts, request))
    return *error;
  std::string formula = devicesFormula(!space.degrees[Degree::Dp].empty());
  std::string refused = space.listGrids(facts, request);
  if (space.grids.empty() && !refused.empty())
    return Error{"no degrees of the lists go together: " + refused + ": " +
                 space.describeGrid(request)};
  if (space.grids.empty() && request.devices)
    return Error{"no " + formula +
                 " is 'devices' = " + std::to_string(*request.devices) + ": " +
                 space.describeGrid(request)};
  if (space.grids.empty())
    return Error{formula + " is at least " +
                 std::to_string(space.degreesAt(Grid{}, 0).devices()) +
                 ", but 'max-devices' is " +
                 std::to_string(*request.maxDevices) + ": " +
                 space.describeGrid(request)};
  space.dropUnusedValues();
  bool isBatchAsked =
      request.lists[Degree::Batch] || request.pinned[Degree::Batch];
  if (request.kind == SpaceKind::Serving && !isBatchAsked)
    space.makeLadder(request.mostSequences);
  return space;
}

std::optional<StrategySpace> StrategySpace::where(
    const std::function<bool(const Degrees &)> &isWanted) const {
  StrategySpace space = *this;
  space.grids.clear();
  for (const Grid &grid : grids)
    if (isWanted(degreesAt(grid, 0)))
      space.grids.push_back(grid);
  if (space.grids.empty())
    return std::nullopt;
  space.dropUnusedValues();
  return space;
}

StrategySpace StrategySpace::withDims(DimDomains domains) const {
  assert(domains.size() == dims.size() && "one domain an op");
  StrategySpace space = *this;
  space.dims = std::move(domains);
  return space;
}

} // namespace shardopt::search
