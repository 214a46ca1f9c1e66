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

#include <vector>

namespace shardopt::graphs {

/// Seconds of one collective along an axis; `bytes` as in `cost::Collective`.
double collectiveSeconds(const cost::TimeModel &time, const Mesh &mesh,
                         cost::CollectiveKind kind, size_t axis, double bytes);

/// A way between two layouts.
struct ReshardCost {
  double seconds = 0;
  double bytes = 0; ///< of the results of its collectives, on a device
};

/// What it costs to change the layout of a tensor.
class Resharding {
public:
  /// `bytes` is the size of all of it.
  Resharding(const cost::TimeModel &time, const Mesh &mesh,
             llvm::ArrayRef<int64_t> shape, double bytes);

  /// The cheapest way between two layouts. A step slices along an axis, which
  /// is free, gathers along one, or exchanges one dim for another; of several
  /// axes on a dim the last one moves.
  ReshardCost cost(const AxisDims &from, const AxisDims &to);
  double seconds(const AxisDims &from, const AxisDims &to) {
    return cost(from, to).seconds;
  }

private:
  size_t numberOf(const AxisDims &layout) const;
  std::vector<ReshardCost> waysFrom(const AxisDims &from) const;

  const cost::TimeModel &time;
  const Mesh &mesh;
  std::vector<int64_t> shape;
  double bytes;
  /// By numbers of layouts; empty where nothing was asked yet.
  std::vector<std::vector<ReshardCost>> known;
};

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_RESHARDING_H
