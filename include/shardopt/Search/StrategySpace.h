//===- StrategySpace.h - Variables and domains of a search ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_STRATEGYSPACE_H
#define SHARDOPT_SEARCH_STRATEGYSPACE_H

#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/Error.h"
#include "shardopt/Support/Rng.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::search {

/// What the default domains depend on.
struct SpaceFacts {
  int64_t layers = 1;           ///< all stacks together
  int64_t experts = 0;          ///< routed experts of a layer; 0 if dense
  std::vector<std::string> ops; ///< names of the shardable ops, in order
  /// The dims that each op has, but for `dimBoth`; empty: 0, 1 and none.
  std::vector<std::vector<Dim>> choices;
  /// The ops whose dim must be 0 where cp is above 1, by index.
  std::vector<size_t> contextOps;
  /// Whether their dim may be none too where cp = tp: in prefill.
  bool cutsPositions = false;
  /// The ops that have `dimBoth` where tp2 is above 1, by index.
  std::vector<size_t> bothDimsOps;
  /// What a device caches with tp and cp, in any unit; empty: not known.
  std::function<double(int64_t tp, int64_t cp)> cacheShare;
};

/// Which degrees are open by default.
enum class SpaceKind : uint8_t {
  /// Those of every strategy: ep is dp, cp 1, the exchange an all-to-all.
  Uniform,
  /// Those of serving engines too, with the batches that fit.
  Serving,
};

/// What a user asked for. A list replaces the default domain; a pin, which the
/// module carries, leaves one value of a domain.
struct SpaceRequest {
  SpaceKind kind = SpaceKind::Uniform;
  DegreeMap<std::optional<std::vector<int64_t>>> lists; ///< in any order
  PartialDegrees pinned;
  std::vector<std::optional<Dim>> pinnedDims; ///< empty, or one entry an op
  std::optional<int64_t> maxDevices;          ///< Degrees::devices() at most
  std::optional<int64_t> devices;             ///< the same, exactly
  /// The most sequences of a micro-batch among the batches that fit.
  int64_t mostSequences = int64_t(1) << 17;
};

/// The domain of the dim of one op: a set of dims, ascending.
using DimDomain = std::vector<Dim>;
using DimDomains = std::vector<DimDomain>;

/// A strategy as indices into the domains of the variables, in their order.
using Point = std::vector<uint32_t>;

/// The search space: a variable for each degree that is open, the batch last of
/// them, and one dim an op, each with a finite domain; and the number of
/// devices that the degrees may take. Degrees with a fallback are open where a
/// list, a pin or the kind of the space asks for them, all others always. Only
/// where a list or a pin has a tp2 above 1 are weights sharded on both dims.
/// Combinations that do not divide each other are not in it. Where the layers
/// of each stage are pinned, that pins pp.
///
/// In a serving space, dp and ep of a model without experts are one variable,
/// ep is 1, dp or as large as the experts allow, and cp above 1 only where that
/// makes the cache of a device smaller, or where it is tp and positions of
/// prompts can be cut. Unless a list or a pin says otherwise,
/// the batch *fits* the other degrees: it is b * M * dp, with every stage at
/// work (M = pp), for b = 1, 2, 3, … in steps of 3 % at most; and with b = 1
/// for every M below pp.
///
/// No domain is empty and at least one combination of degrees fits, so a space
/// always holds a strategy. Which (op, dim) pairs are structurally illegal is
/// not known here: the simulator says so.
class StrategySpace {
public:
  /// Default domains are those of Degrees.def, within the device limit.
  /// Requests that contradict each other, a value out of range, or no
  /// combination within the device limit: an error that names both sides.
  static ErrorOr<StrategySpace> create(const SpaceFacts &facts,
                                       const SpaceRequest &request);

  const std::vector<std::string> &ops() const { return opNames; }

  // Variables.
  size_t numVariables() const { return open.size() + dims.size(); }
  /// The degrees that are variables, in their order; dims follow.
  const std::vector<Degree> &openDegrees() const { return open; }
  size_t firstDim() const { return open.size(); }
  /// The variable of the batch, the last degree.
  size_t batch() const { return open.size() - 1; }
  /// Whether batches fit the other degrees. The domain of the batch then holds
  /// the sequences of a micro-batch.
  bool fitsBatch() const { return !ladder.empty(); }
  size_t domainSize(size_t variable) const;
  /// The domain of an open degree, ascending.
  const std::vector<int64_t> &degreeDomain(Degree degree) const;
  const DimDomains &dimDomains() const { return dims; }
  /// The name of the degree or of the op.
  const std::string &variableName(size_t variable) const;

  // Members.
  bool contains(const Strategy &strategy) const;
  /// Whether the degrees of `point` are within the device limit.
  bool fits(const Point &point) const;
  Degrees degreesAt(const Point &point) const;
  Strategy strategyAt(const Point &point) const;
  /// The indices of a strategy; none if it is not in the space.
  std::optional<Point> pointOf(const Strategy &strategy) const;
  /// All degrees of the space, ascending (the first slowest, batch fastest).
  std::vector<Degrees> degreeTuples() const;
  /// The same by number: of the combinations but for the batch, and of the
  /// batches of each, ascending.
  size_t numGrids() const { return grids.size(); }
  size_t numBatches() const { return degrees[Degree::Batch].size(); }
  Degrees degreesOf(size_t grid, size_t batch) const {
    return degreesAt(grids[grid], uint32_t(batch));
  }
  /// The layers of each stage in every strategy; empty: divided evenly.
  const StageCut &stages() const { return cut; }
  /// The batches that fit, in words.
  std::string describeBatches() const;
  /// The same strategy with the next larger batch; none if there is none.
  std::optional<Strategy> withLargerBatch(const Strategy &strategy) const;
  /// The number of strategies, as a double because it may exceed 2^64.
  double size() const;

  /// A strategy drawn uniformly.
  Point sample(Rng &rng) const;

  /// Makes `point` fit the device limit by changing as few degrees as it can,
  /// never the batch or `kept` (a variable); which of the closest is drawn.
  /// Where no combination of the space has the value of `kept`, that one
  /// changes too.
  void repair(Point &point, size_t kept, Rng &rng) const;

  /// The part of the space where `isWanted` of the degrees, whose batch is the
  /// least; none if there is no such part.
  std::optional<StrategySpace>
  where(const std::function<bool(const Degrees &)> &isWanted) const;

  /// The same space with other dim domains: one entry an op, none empty.
  StrategySpace withDims(DimDomains domains) const;

private:
  StrategySpace() = default;

  /// Indices of all open degrees but the batch; 0 beyond them.
  using Grid = std::array<uint32_t, numDegrees - 1>;

  Grid gridOf(const Point &point) const;
  Degrees degreesAt(const Grid &grid, uint32_t batch) const;
  int64_t batchAt(uint32_t index, const Degrees &others) const;
  std::optional<uint32_t> indexOfBatch(const Degrees &wanted) const;
  std::optional<Error> pinStages(const SpaceFacts &facts,
                                 SpaceRequest &request);
  std::optional<Error> openBothDims(const SpaceFacts &facts,
                                    const SpaceRequest &request);
  std::optional<Error> openDegrees(const SpaceFacts &facts,
                                   const SpaceRequest &request);
  bool admits(const Degrees &degrees, const SpaceFacts &facts,
              const SpaceRequest &request) const;
  std::optional<size_t> findUncutContext(const Degrees &degrees,
                                         const SpaceFacts &facts) const;
  bool isPossible(const Degrees &degrees, const SpaceFacts &facts) const;
  std::string whyNot(const Degrees &degrees, const SpaceFacts &facts) const;
  /// Lists the grids. Of those that devices allow, why the first that is not
  /// listed is impossible.
  std::string listGrids(const SpaceFacts &facts, const SpaceRequest &request);
  void makeLadder(int64_t mostSequences);
  void dropUnusedValues();
  std::string describeGrid(const SpaceRequest &request) const;

  std::vector<std::string> opNames;
  std::vector<Degree> open;
  DegreeMap<std::vector<int64_t>> degrees; ///< empty where not open
  DimDomains dims;
  StageCut cut;
  std::vector<Grid> grids;     ///< those within the device limit, ascending
  std::vector<int64_t> ladder; ///< of b; empty: batches are listed
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_STRATEGYSPACE_H
