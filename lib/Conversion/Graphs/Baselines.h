//===- Baselines.h - Shardings that people write by hand ------ -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_BASELINES_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_BASELINES_H

#include "FactorGraph.h"

namespace shardopt::graphs {

/// A sharding of all nodes that no search chose.
struct Baseline {
  std::string name;
  std::vector<size_t> choices; ///< the strategy of each node
};

struct PlanCost {
  double seconds = 0; ///< of one device
  /// All-reduces along an axis, and changes of a layout that communicate.
  int64_t reductions = 0, reshards = 0;
  double bytes = 0; ///< of the results of these
};
PlanCost costOf(FactorGraph &graph, llvm::ArrayRef<size_t> choices);

/// Everything on every device; data parallel: the dim that the first dim of the
/// first result that is larger than 1 follows, on all axes; Megatron's: that
/// dim on all axes but the last one, and on the last one weights on columns,
/// then on rows, from the first or the second GEMM on, whichever is faster.
std::vector<Baseline> baselinesOf(FactorGraph &graph, const FactorMap &factors,
                                  const Mesh &mesh);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_BASELINES_H
