//===- Activations.h - Values between ops, as they live ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `cost::LiveValues` says of one strategy, as a sum over the nodes of a
// graph: what each of them makes live, and from which moment to which.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_ACTIVATIONS_H
#define SHARDOPT_SEARCH_DIMS_ACTIVATIONS_H

#include "shardopt/Search/Dims/StrategyGraph.h"

namespace shardopt::selection {

/// What a node makes live.
struct Buffer {
  size_t node = 0;           ///< of the graph
  size_t begin = 0, end = 0; ///< from one moment to before another
  std::vector<double> bytes; ///< of a device, by strategy of the node
};

struct Activations {
  std::vector<std::string> moments; ///< the op of each
  std::vector<Buffer> buffers;
};

/// Those of all bodies, one after the other.
Activations activationsOf(const StrategyGraph &graph);

} // namespace shardopt::selection

#endif // SHARDOPT_SEARCH_DIMS_ACTIVATIONS_H
