//===- TighteningTest.cpp - Bounds from joined nodes ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Tightening.h"
#include "RandomProblem.h"
#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::solve;

namespace {
/// What a problem costs at least, before and after.
struct Bounds {
  Int128 root = 0, tightened = 0;
  bool isProved = false;
  Incumbent best;
};
} // namespace

/// Nothing where the graph is decided from the start.
static std::optional<Bounds> tighten(const Problem &problem, int steps) {
  Graph graph = makeTidyGraph(problem);
  if (graph.isInfeasible || graph.countNodes() == 0)
    return std::nullopt;
  Network network(graph);
  Descent descent(network);
  descent.setSchedule(steps);
  descent.aimAtBound(true);
  Bounds bounds;
  while (!descent.isDone())
    descent.step(bounds.best);
  if (std::optional<Certificate> certificate = certify(
          network, descent.messages(), descent.multipliers(), graph.constant))
    bounds.root = certificate->bound;
  Tightening tightening(
      std::make_shared<PricedGraph>(graph.compact(), descent));
  while (!tightening.isDone())
    tightening.step(network, bounds.best);
  bounds.isProved = !tightening.result();
  bounds.tightened = tightening.bound();
  return bounds;
}

TEST(Tightening, BoundsWhatEnumerationFinds) {
  int proofs = 0, raised = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProblemOptions options;
    options.nodes = 8;
    options.edges = 14;
    options.forbiddenPercent = 5;
    options.equalityPercent = int(seed % 3) * 20;
    options.tightness = 0.05 * double(seed % 8);
    Problem problem = makeRandomProblem(seed, options);
    std::optional<Bounds> bounds = tighten(problem, seed % 2 ? 10 : 100);
    if (!bounds)
      continue;
    std::optional<Int128> optimum = findOptimum(problem);
    bool exists = optimum && *optimum < infiniteCost;
    EXPECT_LE(bounds->best.exists(), exists);
    if (exists && bounds->best.exists()) {
      EXPECT_TRUE(Int128(bounds->best.cost) >= *optimum);
    }
    if (bounds->isProved) {
      ASSERT_EQ(bounds->best.exists(), exists);
      if (exists) {
        EXPECT_EQ(toString(Int128(bounds->best.cost)), toString(*optimum));
      }
      ++proofs;
    } else if (exists) { // also where nothing cheaper than the best is left
      EXPECT_TRUE(std::min(bounds->tightened, Int128(bounds->best.cost)) <=
                  *optimum);
    }
    raised += bounds->isProved || bounds->tightened > bounds->root;
  }
  EXPECT_GT(proofs, 100);
  EXPECT_GT(raised, 100);
}

/// Layers of nodes that are live together, and cheap together alone if they all
/// take much memory, for which there is room in all but one of them.
static Problem makeLayers(uint64_t seed) {
  constexpr int layers = 3, width = 3, strategies = 2;
  Rng rng(seed);
  Problem problem;
  for (int node = 0; node < layers * width; ++node) {
    int64_t layer = node / width;
    problem.intervals.push_back({layer, layer + 1});
    for (int s = 0; s < strategies; ++s) {
      problem.costs.values.push_back(s ? 0 : 50 + int64_t(rng.below(20)));
      problem.usages.values.push_back(s ? 10 : 1);
    }
    problem.costs.endRow();
    problem.usages.endRow();
  }
  for (int node = 0; node + 1 < layers * width; ++node) {
    problem.edgeNodes.values.push_back(node);
    problem.edgeNodes.values.push_back(node + 1);
    problem.edgeNodes.endRow();
    int64_t change = (node + 1) % width ? 200 : 5;
    for (int64_t cost : {int64_t(0), change, change, int64_t(0)})
      problem.edgeCosts.values.push_back(cost);
    problem.edgeCosts.endRow();
  }
  problem.usageLimit = 10 * width - 2 + int64_t(rng.below(2));
  return problem;
}

TEST(Tightening, ClosesTheGapThatPricesOfMemoryLeave) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeLayers(seed);
    std::optional<Bounds> bounds = tighten(problem, 300);
    ASSERT_TRUE(bounds);
    Int128 optimum = *findOptimum(problem);
    EXPECT_LT(double(bounds->root), 0.5 * double(optimum));
    EXPECT_TRUE(bounds->isProved || bounds->tightened == optimum);
  }
}
