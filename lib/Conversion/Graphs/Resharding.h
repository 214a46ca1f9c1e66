//===- Resharding.h - What it costs to change a layout -------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_RESHARDING_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_RESHARDING_H

#include "Mesh.h"
#include "shardopt/Cost/TimeModel.h"

#include <map>

namespace shardopt::graphs {

/// A tensor as far as moving it goes.
struct TensorSize {
  std::vector<int64_t> shape;
  double bytes = 0; ///< of all of it

  bool operator<(const TensorSize &other) const {
    return std::tie(shape, bytes) < std::tie(other.shape, other.bytes);
  }
};

/// Collectives along the axes of a mesh.
class Resharding {
public:
  Resharding(const cost::TimeModel &time, const Mesh &mesh)
      : time(time), mesh(mesh) {}

  /// Seconds of one collective along an axis; `bytes` as in `cost::Collective`.
  double collective(cost::CollectiveKind kind, size_t axis, double bytes) const;
  /// Seconds of the cheapest way between two layouts. A step slices along an
  /// axis, which is free, gathers along one, or exchanges one dim for another;
  /// of several axes on a dim the last one moves.
  double seconds(const TensorSize &tensor, const Layout &from,
                 const Layout &to);

private:
  using Distances = std::map<Layout, double>;
  Distances distancesFrom(const TensorSize &tensor, const Layout &from) const;

  const cost::TimeModel &time;
  const Mesh &mesh;
  std::map<std::pair<TensorSize, Layout>, Distances> known;
};

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_RESHARDING_H
