//===- Activations.h - Values between ops, as they live ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A *moment* is an op of a body that runs. A device then holds the values that
// this op, a later one or the layer's exit reads: as their ops left them, and
// in the copies that readers have made. A copy that later readers may take is
// kept until the last of them; one that only its reader has is there while that
// one runs. Where a copy is whole, it replaces the others.
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

/// Those of the layers of all bodies: of a micro-batch, without what an op
/// needs while it runs, embedding and head.
Activations activationsOf(const StrategyGraph &graph);

} // namespace shardopt::selection

#endif // SHARDOPT_SEARCH_DIMS_ACTIVATIONS_H
