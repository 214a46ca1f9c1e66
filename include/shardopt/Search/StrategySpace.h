//===- StrategySpace.h - Variables and domains of a search ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_STRATEGYSPACE_H
#define SHARDOPT_SEARCH_STRATEGYSPACE_H

#include "shardopt/Support/Error.h"
#include "shardopt/Support/Rng.h"
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
  /// The dims that each op has; empty: 0, 1 and none.
  std::vector<std::vector<Dim>> choices;
};

/// What a user asked for. A list replaces the default domain; a pin, which the
/// module carries, leaves one value of a domain.
struct SpaceRequest {
  DegreeMap<std::optional<std::vector<int64_t>>> lists; ///< in any order
  PartialDegrees pinned;
  std::vector<std::optional<Dim>> pinnedDims; ///< empty, or one entry an op
  std::optional<int64_t> maxDevices;          ///< Degrees::devices() at most
  std::optional<int64_t> devices;             ///< the same, exactly
};

/// The domain of the dim of one op: a set of dims, ascending.
using DimDomain = std::vector<Dim>;
using DimDomains = std::vector<DimDomain>;

/// A strategy as indices into the domains of the variables, in their order.
using Point = std::vector<uint32_t>;

/// The search space: a variable for each degree that is open, the batch last of
/// them, and one dim an op, each with a finite domain; and the number of
/// devices that the degrees may take. Degrees with a fallback are open where a
/// list or a pin asks for them, all others always.
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
  /// The number of strategies, as a double because it may exceed 2^64.
  double size() const;

  /// A strategy drawn uniformly.
  Point sample(Rng &rng) const;

  /// Makes `point` fit the device limit by changing as few degrees as it can,
  /// never the batch or `kept` (a variable); which of the closest is drawn.
  /// Where no combination of the space has the value of `kept`, that one
  /// changes too.
  void repair(Point &point, size_t kept, Rng &rng) const;

  /// The same space with other dim domains: one entry an op, none empty.
  StrategySpace withDims(DimDomains domains) const;

private:
  StrategySpace() = default;

  /// Indices of all open degrees but the batch; 0 beyond them.
  using Grid = std::array<uint32_t, numDegrees - 1>;

  void setDomain(Degree degree, std::vector<int64_t> values);
  Grid gridOf(const Point &point) const;
  Degrees degreesAt(const Grid &grid, int64_t batch) const;
  void listGrids(const SpaceRequest &request);
  void dropUnusedValues();
  std::string describeGrid(const SpaceRequest &request) const;

  std::vector<std::string> opNames;
  std::vector<Degree> open;
  DegreeMap<std::vector<int64_t>> degrees; ///< empty where not open
  DimDomains dims;
  std::vector<Grid> grids; ///< those within the device limit, ascending
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_STRATEGYSPACE_H
