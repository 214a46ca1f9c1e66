//===- StrategySpace.h - Variables and domains of a search ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_STRATEGYSPACE_H
#define SHARDOPT_SEARCH_STRATEGYSPACE_H

#include "shardopt/Search/Rng.h"
#include "shardopt/Support/Error.h"
#include "shardopt/Support/Strategy.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::search {

/// What the default domains depend on.
struct SpaceFacts {
  int64_t layers = 1;           ///< all stacks together
  int64_t experts = 0;          ///< routed experts of a layer; 0 if dense
  std::vector<std::string> ops; ///< names of the shardable ops, in order
};

/// What a user asked for. A list replaces the default domain; a pin, which the
/// module carries, leaves one value of a domain.
struct SpaceRequest {
  std::optional<std::vector<int64_t>> tp, ep, pp, batch; ///< lists, any order
  std::optional<int64_t> pinnedTp, pinnedEp, pinnedPp, pinnedBatch;
  std::vector<std::optional<Dim>> pinnedDims; ///< empty, or one entry an op
  std::optional<int64_t> maxDevices;          ///< tp * ep * pp at most
  std::optional<int64_t> devices;             ///< tp * ep * pp exactly
};

/// The domain of the dim of one op: a set of dims, ascending.
using DimDomain = std::vector<Dim>;
using DimDomains = std::vector<DimDomain>;

/// A strategy as indices into the domains of the variables, in their order.
using Point = std::vector<uint32_t>;

/// The search space: the variables tp, ep, pp, batch and one dim an op, each
/// with a finite domain, and the number of devices that tp * ep * pp may take.
///
/// No domain is empty and at least one combination of degrees fits, so a space
/// always holds a strategy. Which (op, dim) pairs are structurally illegal is
/// not known here: the simulator says so.
class StrategySpace {
public:
  /// Positions of the degrees among the variables; dims follow.
  enum Variable : size_t { Tp, Ep, Pp, Batch, FirstDim };

  /// Default domains: tp the powers of two up to 64; ep those up to 16, or up
  /// to the number of experts if there are more than 16 (replicas of the whole
  /// model if it is dense); pp {1, 2, 3, 4, 6, 8, 12, 24} up to the layers;
  /// batch the powers of two up to 8192, or 65536 with more than 16 experts;
  /// degrees within the device limit. Requests that contradict each other, a
  /// value out of range, or no combination within the device limit: an error
  /// that names both sides.
  static ErrorOr<StrategySpace> create(const SpaceFacts &facts,
                                       const SpaceRequest &request);

  const std::vector<std::string> &ops() const { return opNames; }

  // Variables.
  size_t numVariables() const { return FirstDim + dims.size(); }
  size_t domainSize(size_t variable) const;
  /// The domain of Tp, Ep, Pp or Batch, ascending.
  const std::vector<int64_t> &degreeDomain(size_t variable) const;
  const DimDomains &dimDomains() const { return dims; }
  /// "tp", "ep", "pp", "batch", or the name of the op.
  const std::string &variableName(size_t variable) const;

  // Members.
  bool contains(const Strategy &strategy) const;
  /// Whether tp * ep * pp of `point` is within the device limit.
  bool fits(const Point &point) const;
  Degrees degreesAt(const Point &point) const;
  Strategy strategyAt(const Point &point) const;
  /// The indices of a strategy; none if it is not in the space.
  std::optional<Point> pointOf(const Strategy &strategy) const;
  /// All degrees of the space, ascending (tp slowest, batch fastest).
  std::vector<Degrees> degreeTuples() const;
  /// The number of strategies, as a double because it may exceed 2^64.
  double size() const;

  /// A strategy drawn uniformly.
  Point sample(Rng &rng) const;

  /// Makes `point` fit the device limit by changing as few of tp, ep and pp as
  /// it can, never `kept` (a variable); which of the closest is drawn. Where
  /// no combination of the space has the value of `kept`, that one changes too.
  void repair(Point &point, size_t kept, Rng &rng) const;

  /// The same space with other dim domains: one entry an op, none empty.
  StrategySpace withDims(DimDomains domains) const;

private:
  StrategySpace() = default;

  std::vector<std::string> opNames;
  std::array<std::vector<int64_t>, 4> degrees; ///< of Tp, Ep, Pp, Batch
  DimDomains dims;
  /// Indices of (tp, ep, pp) within the device limit, ascending.
  std::vector<std::array<uint32_t, 3>> grids;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_STRATEGYSPACE_H
