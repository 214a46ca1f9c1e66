//===- WiredModels.h - Layers that are no chains ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SEARCH_DIMS_WIREDMODELS_H
#define SHARDOPT_UNITTESTS_SEARCH_DIMS_WIREDMODELS_H

#include "TestModels.h"

namespace shardopt::cost::test {

/// A layer of `numTowers` towers of attention and a feed-forward block beside
/// each other, each with a residual of its own.
Body makeTowers(int64_t hidden, size_t numTowers);
/// Attention and a feed-forward block that read one norm.
Body makeParallelBlock(int64_t hidden);
/// Norms that follow the sums: what enters a block also passes it.
Body makePostNorm(int64_t hidden);

/// 12 layers of `body`, of hidden size 4096, between the embedding and the head
/// of another model.
CostModel wiredCosts(Body body, const Workload &workload);
CostModel towerCosts(size_t numTowers);

} // namespace shardopt::cost::test

#endif // SHARDOPT_UNITTESTS_SEARCH_DIMS_WIREDMODELS_H
