//===- EliminationTest.cpp - Elimination and messages against enumeration -===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Elimination.h"
#include "RandomProblem.h"
#include "shardopt/Solvers/Selection/CertifiedBound.h"
#include "shardopt/Solvers/Selection/Descent.h"
#include "shardopt/Solvers/Selection/Reductions.h"
#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using namespace shardopt::solve;

static RandomProblemOptions permissive() {
  RandomProblemOptions options;
  options.forbiddenPercent = 3;
  options.equalityPercent = 0;
  return options;
}

/// The least cost over all assignments that agree with `given` outside of
/// `region`, where nodes choose among `domains`, by node.
static double enumerateRegion(const Network &network,
                              const std::vector<std::vector<int32_t>> &domains,
                              const std::vector<int32_t> &region,
                              Assignment given, size_t next = 0) {
  if (next == region.size())
    return computeCost(network, given);
  double best = std::numeric_limits<double>::infinity();
  for (int32_t s : domains[region[next]]) {
    given[region[next]] = s;
    best = std::min(best,
                    enumerateRegion(network, domains, region, given, next + 1));
  }
  return best;
}

/// About `percent` of the strategies of each node, one at least.
static std::vector<std::vector<int32_t>>
drawDomains(const Network &network, uint64_t percent, Rng &rng) {
  std::vector<std::vector<int32_t>> domains;
  for (int32_t k : network.sizes) {
    std::vector<int32_t> &domain = domains.emplace_back();
    for (int32_t s = 0; s < k; ++s)
      if (rng.below(100) < percent)
        domain.push_back(s);
    if (domain.empty())
      domain.push_back(int32_t(rng.below(k)));
  }
  return domains;
}

TEST(Elimination, FindsTheBestOfARegion) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem problem = makeRandomProblem(seed, permissive());
    Graph graph = makeTidyGraph(problem);
    if (graph.isInfeasible)
      continue;
    Network network(graph);
    Elimination elimination(network);
    std::vector<int32_t> region;
    for (int32_t i = 0; i < int32_t(network.numNodes()); ++i)
      if ((seed >> i) % 2 == 0)
        region.push_back(i);
    Assignment assignment(network.numNodes(), 0);
    Rng rng(seed);
    // Small tables leave nodes as they are, which is then part of the question.
    for (auto [mostEntries, percent] :
         {std::pair(size_t(1) << 20, 100), std::pair(size_t(20), 100),
          std::pair(size_t(1) << 20, 60), std::pair(size_t(20), 40)}) {
      auto choices = drawDomains(network, percent, rng);
      Elimination::Domains domains{{}, {0}};
      for (int32_t i : region) {
        domains.strategies.insert(domains.strategies.end(), choices[i].begin(),
                                  choices[i].end());
        domains.first.push_back(domains.strategies.size());
      }
      elimination.plan(region, mostEntries, percent < 100 ? &domains : nullptr);
      Assignment found = assignment;
      bool exists = elimination.minimize(network.unary, found);
      double expected = enumerateRegion(network, choices,
                                        elimination.eliminated(), assignment);
      if (exists) {
        EXPECT_EQ(computeCost(network, found), expected) << "seed " << seed;
      } else {
        EXPECT_TRUE(std::isinf(expected)) << "seed " << seed;
      }
    }
  }
}

TEST(CertifiedBound, HoldsAndKeepsTheBest) {
  size_t dropped = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem problem = makeRandomProblem(seed, permissive());
    std::optional<Int128> optimum = findOptimum(problem);
    ASSERT_TRUE(optimum.has_value());
    Graph graph = makeTidyGraph(problem);
    if (graph.isInfeasible || *optimum >= infiniteCost)
      continue;
    Network network(graph);
    Descent descent(network);
    descent.setSchedule(100);
    Incumbent incumbent;
    for (int step = 0; step < 100; ++step)
      descent.step(incumbent);
    std::optional<Certificate> certificate = certify(
        network, descent.messages(), descent.multipliers(), graph.constant);
    ASSERT_TRUE(certificate.has_value());
    EXPECT_TRUE(certificate->bound <= *optimum) << "seed " << seed;

    dropped += dropTooDear(graph, network, *certificate, *optimum);
    std::optional<Int128> left = findOptimum(problem, graph);
    ASSERT_TRUE(left.has_value()) << "seed " << seed;
    EXPECT_EQ(toString(*left), toString(*optimum)) << "seed " << seed;
  }
  EXPECT_GT(dropped, 20u);
}
