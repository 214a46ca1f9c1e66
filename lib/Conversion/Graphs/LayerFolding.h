//===- LayerFolding.h - Layers that share a sharding ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_LAYERFOLDING_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_LAYERFOLDING_H

#include "FactorGraph.h"

namespace shardopt::graphs {

/// A problem whose nodes are classes of those of another one.
struct FoldedProblem {
  solve::Problem problem;
  std::vector<size_t> classOf; ///< of each node of the other one
  int64_t layers = 1;          ///< that share their strategies

  solve::Solution unfold(const solve::Solution &solution) const;
};

/// The same problem, where an op and those like it in all repeated layers have
/// one strategy, and so have their arguments. Costs are summed. Memory is that
/// of the first layer, and of all arguments.
FoldedProblem foldLayers(const FactorGraph &graph,
                         const solve::Problem &problem);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_LAYERFOLDING_H
