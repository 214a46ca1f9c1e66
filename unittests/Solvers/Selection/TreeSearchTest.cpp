//===- TreeSearchTest.cpp - Branch and bound against enumeration ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/TreeSearch.h"
#include "RandomProblem.h"
#include "shardopt/Solvers/Selection/Reductions.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::solve;

/// Problems that messages alone rarely settle.
static RandomProblemOptions tangled(double tightness) {
  RandomProblemOptions options;
  options.nodes = 10;
  options.mostStrategies = 3;
  options.edges = 30;
  options.forbiddenPercent = 1;
  options.equalityPercent = 0;
  options.freePercent = 10;
  options.tightness = tightness;
  return options;
}

/// Searches the whole tree, from messages of a few steps.
static void expectOptimum(const Problem &problem, int steps, uint64_t patience,
                          int64_t &parts) {
  std::optional<Int128> optimum = findOptimum(problem);
  Graph graph = makeTidyGraph(problem);
  if (graph.isInfeasible || graph.countNodes() == 0)
    return;
  Network network(graph);
  Descent descent(network);
  descent.setSchedule(steps);
  Incumbent best;
  for (int step = 0; step < steps; ++step)
    descent.step(best);
  TreeSearch tree(graph, network, descent, patience);
  Rng rng(1);
  while (!tree.isDone()) {
    if (optimum && *optimum < infiniteCost)
      ASSERT_TRUE(tree.bound(best) <= *optimum);
    // Parts that are interrupted are not lost.
    bool isOver = tree.numParts() % 3 == 1 && rng.below(2);
    tree.step(best, [isOver] { return isOver; });
    ASSERT_LT(tree.numParts(), 100000);
  }
  parts += tree.numParts();
  if (!optimum || *optimum >= infiniteCost) {
    EXPECT_FALSE(best.exists());
    return;
  }
  ASSERT_TRUE(best.exists());
  EXPECT_EQ(toString(Int128(best.cost)), toString(*optimum));
  EXPECT_EQ(toString(tree.bound(best)), toString(*optimum));
}

TEST(TreeSearch, FindsAndProvesWhatEnumerationFinds) {
  int64_t parts = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeRandomProblem(seed, tangled(0.05 * (seed % 9)));
    // Prices that are hardly any, and good ones.
    expectOptimum(problem, seed % 2 ? 1 : 60, TreeSearch::endless, parts);
  }
  EXPECT_GT(parts, 500);
}

TEST(TreeSearch, FindsAndProvesTheSameOnATightenedRoot) {
  int64_t parts = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeRandomProblem(seed, tangled(0.05 * (seed % 9)));
    // At once, or after some parts.
    expectOptimum(problem, seed % 2 ? 1 : 60, seed % 3 ? 0 : 100000, parts);
  }
  EXPECT_GT(parts, 100);
}

TEST(Network, CarriesAssignmentsOver) {
  size_t carried = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem problem = makeRandomProblem(seed, tangled(0.3));
    Graph graph = makeTidyGraph(problem);
    if (graph.isInfeasible)
      continue;
    Network before(graph);
    Descent descent(before);
    Incumbent incumbent;
    for (int step = 0; step < 60; ++step)
      descent.step(incumbent);
    if (!incumbent.exists())
      continue;
    reduce(graph);
    ASSERT_FALSE(graph.isInfeasible);
    Network network(graph);
    std::optional<Assignment> assignment =
        carryOver(before, incumbent.assignment, graph, network);
    ASSERT_TRUE(assignment.has_value()) << "seed " << seed;
    EXPECT_LE(computeCost(network, *assignment), incumbent.cost);
    EXPECT_TRUE(fits(network, computeUsage(network, *assignment)));
    carried += network.numNodes() > 0;
  }
  EXPECT_GT(carried, 20u);
}
