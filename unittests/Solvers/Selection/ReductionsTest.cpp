//===- ReductionsTest.cpp - Reductions keep a best solution ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"
#include "RandomProblem.h"
#include "shardopt/Solvers/Selection/JoinedPairs.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::solve;

/// A reduction, and problems to which it applies.
struct ReductionCase {
  const char *name;
  size_t (*apply)(Graph &);
  RandomProblemOptions options;
};

static RandomProblemOptions withTightness(double tightness) {
  RandomProblemOptions options;
  options.tightness = tightness;
  return options;
}

static RandomProblemOptions sparse() {
  RandomProblemOptions options;
  options.edges = 5;
  options.forbiddenPercent = 10;
  options.freePercent = 70;
  return options;
}

static RandomProblemOptions manyForbidden() {
  RandomProblemOptions options;
  options.edges = 6;
  options.forbiddenPercent = 45;
  return options;
}

static size_t applyAll(Graph &graph) {
  size_t sum = 0;
  for (const ReductionCount &reduction : reduce(graph))
    sum += reduction.count;
  return sum;
}

/// Pairs of nodes that share memory, whatever it costs.
static size_t joinAll(Graph &graph) {
  mergeParallelEdges(graph);
  size_t count = joinPairs(graph, std::vector<double>(graph.slack.size(), 1.0));
  mergeImpliedNodes(graph);
  return count;
}

class Reduction : public testing::TestWithParam<ReductionCase> {};

INSTANTIATE_TEST_SUITE_P(
    All, Reduction,
    testing::Values(
        ReductionCase{"ParallelEdges", mergeParallelEdges, withTightness(0.4)},
        ReductionCase{"SeparableParts", moveSeparableParts, withTightness(0.4)},
        ReductionCase{"Unsupported", dropUnsupported, manyForbidden()},
        ReductionCase{"Oversized", dropOversized, withTightness(0.1)},
        ReductionCase{"IdleTimes", dropIdleTimes, withTightness(0.8)},
        ReductionCase{"CoveredTimes", dropCoveredTimes, withTightness(0.4)},
        ReductionCase{"FixedNodes", removeFixedNodes, withTightness(0.4)},
        ReductionCase{"ImpliedNodes", mergeImpliedNodes, withTightness(0.4)},
        ReductionCase{"Dominated", dropDominated, sparse()},
        ReductionCase{"FreeNodes", removeFreeNodes, sparse()},
        ReductionCase{"JoinedPairs", joinAll, withTightness(0.4)},
        ReductionCase{"JoinedPairsWhereMemoryIsShort", joinAll,
                      withTightness(0.1)},
        ReductionCase{"AllTogether", applyAll, withTightness(0.4)},
        ReductionCase{"AllTogetherWhereMemoryIsShort", applyAll,
                      withTightness(0.1)}),
    [](const auto &info) { return info.param.name; });

/// The optimum among solutions that avoid what is forbidden.
static std::optional<Int128> findPermitted(const Problem &problem) {
  std::optional<Int128> best = findOptimum(problem);
  if (best && *best >= infiniteCost)
    best.reset();
  return best;
}

TEST_P(Reduction, KeepsABestSolution) {
  const ReductionCase &test = GetParam();
  size_t applied = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    Problem problem = makeRandomProblem(seed, test.options);
    ASSERT_FALSE(problem.check().has_value());
    Graph graph(problem, chooseScaling(problem, /*pays=*/false));
    applied += test.apply(graph);
    std::optional<Int128> expected = findPermitted(problem);
    if (graph.isInfeasible) {
      EXPECT_FALSE(expected.has_value()) << "seed " << seed;
      continue;
    }
    std::optional<Int128> found = findOptimum(problem, graph);
    ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << seed;
    if (expected) {
      EXPECT_EQ(toString(*found), toString(*expected)) << "seed " << seed;
    }
  }
  EXPECT_GT(applied, 20u);
}

/// A chain whose nodes all neighbour node 0.
static Problem makeFan(int32_t length, bool isReversed) {
  Problem problem;
  for (int32_t i = 0; i <= length; ++i) {
    problem.intervals.push_back({0, 0});
    problem.costs.add({3, int64_t(i) % 5, 1});
    problem.usages.add({0, 0, 0});
  }
  auto add = [&](int32_t u, int32_t v) {
    problem.edgeNodes.add({u, v});
    problem.edgeCosts.add({0, 2, 4, 1, 0, 7, int64_t(u) % 3, 5, 0});
  };
  // The end with no third neighbour has the highest number or the lowest.
  auto nodeAt = [&](int32_t i) { return isReversed ? length + 1 - i : i; };
  for (int32_t i = 1; i <= length; ++i) {
    add(0, nodeAt(i));
    if (i < length)
      add(nodeAt(i), nodeAt(i + 1));
  }
  return problem;
}

TEST(Reductions, RemoveALongFanInOnePass) {
  for (bool isReversed : {false, true}) {
    Problem small = makeFan(6, isReversed);
    Graph reduced(small, chooseScaling(small, /*pays=*/false));
    EXPECT_EQ(removeFreeNodes(reduced), 6u + 1);
    EXPECT_EQ(toString(*findOptimum(small, reduced)),
              toString(*findOptimum(small)));
    // The pass looks at node 0, of too many edges, once.
    Problem large = makeFan(1000, isReversed);
    Graph graph(large, chooseScaling(large, /*pays=*/false));
    EXPECT_EQ(removeFreeNodes(graph), 1000u);
  }
}

TEST(Reductions, EndInTheMiddle) {
  size_t applied = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Problem problem = makeRandomProblem(seed, withTightness(0.4));
    Graph graph(problem, chooseScaling(problem, /*pays=*/false));
    uint64_t most = seed % 12, asked = 0;
    auto isOver = [&] { return asked++ >= most; };
    for (const ReductionCount &reduction : reduce(graph, isOver))
      applied += reduction.count;
    EXPECT_GE(asked, 1u) << "seed " << seed;
    EXPECT_LE(asked, most + 1) << "seed " << seed;
    std::optional<Int128> expected = findPermitted(problem);
    std::optional<Int128> found =
        graph.isInfeasible ? std::nullopt : findOptimum(problem, graph);
    ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << seed;
    if (expected) {
      EXPECT_EQ(toString(*found), toString(*expected)) << "seed " << seed;
    }
  }
  EXPECT_GT(applied, 20u);
}

TEST(Reductions, OfEdgesOfManyNodesKeepABestSolution) {
  RandomProblemOptions options;
  options.nodes = 5;
  options.mostStrategies = 3;
  options.edges = 4;
  options.widestEdge = 4;
  options.forbiddenPercent = 5;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem problem = makeRandomProblem(seed, options);
    Graph graph(problem, chooseScaling(problem, /*pays=*/false));
    reduce(graph);
    std::optional<Int128> expected = findPermitted(problem);
    if (graph.isInfeasible) {
      EXPECT_FALSE(expected.has_value()) << "seed " << seed;
      continue;
    }
    std::optional<Int128> found = findOptimum(problem, graph);
    ASSERT_EQ(found.has_value(), expected.has_value()) << "seed " << seed;
    if (expected) {
      EXPECT_EQ(toString(*found), toString(*expected)) << "seed " << seed;
    }
  }
}

TEST(Scaling, RoundsDownWhatWouldNotFit) {
  Problem problem;
  int64_t most = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 40; ++i) {
    problem.intervals.push_back({0, 1});
    problem.costs.add({most, most - 5});
    problem.usages.add({0, 0});
  }
  Scaling scaling = chooseScaling(problem, /*pays=*/true);
  EXPECT_GT(scaling.shift, 0);
  Graph graph(problem, scaling);
  Cost sum = 0;
  for (const GraphNode &node : graph.nodes)
    sum += node.costs[0];
  EXPECT_LT(sum, forbidden);
  EXPECT_LE(Int128(sum) << scaling.shift, Int128(40) * most);
}
