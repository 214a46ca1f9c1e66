//===- ServingSearchersTest.cpp - Every searcher over degrees of engines --===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StageGrid.h"
#include "shardopt/Planning/Scenario.h"
#include "shardopt/Planning/Searchers.h"
#include "shardopt/Search/Driver.h"
#include "shardopt/Search/ExactSearch.h"

#include "TestModels.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost::test;

namespace {

struct SearcherCase {
  ModelConfig config;
  cost::Workload workload;
  search::Goal goal;
};

/// Latent attention, windows and a dense model; decode and prefill.
std::vector<SearcherCase> searcherCases() {
  auto smaller = [](ModelConfig config) {
    config.layers = 6;
    config.denseLayers = std::min<int64_t>(config.denseLayers, 1);
    return config;
  };
  return {{smaller(deepSeekV3()),
           {cost::Phase::Decode, 8192},
           search::Goal::Throughput},
          {smaller(gptOss120B()),
           {cost::Phase::Prefill, 4096},
           search::Goal::Throughput},
          {smaller(llama70B()),
           {cost::Phase::Decode, 65536},
           search::Goal::Latency}};
}

/// Searchers that evaluate what they choose, and need no network.
std::vector<std::string> searchers() {
  std::vector<std::string> names = allSearchers().names();
  names.erase(std::remove_if(names.begin(), names.end(),
                             [](const std::string &name) {
                               return name == "exact" ||
                                      name.rfind("ppo", 0) == 0;
                             }),
              names.end());
  return names;
}

/// Runs `name` over `space` as a black box would be searched, or with the cost
/// model open to it.
void run(const std::string &name, const Scenario &scenario,
         const search::StrategySpace &space, search::Goal goal,
         const search::Plan &optimum, bool isOpen) {
  SCOPED_TRACE(name + (isOpen ? " (open)" : " (black box)"));
  const search::Simulator &simulator = scenario.simulator();
  search::SearcherContext context{
      search::unowned(&space),
      search::unowned(isOpen ? simulator.decomposition() : nullptr),
      scenario.objective(goal)};
  context.seed = 3;
  context.budget = 100;
  auto searcher = allSearchers().create(name, context);
  if (!searcher)
    return; // for simulators that can be opened
  search::DriverOptions options;
  options.budget = context.budget;
  size_t asked = 0;
  options.trace = [&](const search::TraceEntry &entry) {
    ++asked;
    const Degrees &degrees = entry.strategy.degrees;
    ASSERT_TRUE(space.contains(entry.strategy)) << spell(degrees);
    ASSERT_TRUE(hasGrid(degrees, scenario.hasExperts())) << spell(degrees);
    ASSERT_LE(degrees.devices(), scenario.maxDevices()) << spell(degrees);
  };
  search::Objective objective = scenario.objective(goal);
  search::SearchResult found =
      search::runSearch(**searcher, simulator, objective, options);
  EXPECT_GT(asked, 0u);
  if (found.best)
    EXPECT_FALSE(objective.better(found.best->evaluation, optimum.evaluation));
}

TEST(ServingSearchers, AskForWhatIsLegalAndNeverBeatTheOptimum) {
  for (const SearcherCase &c : searcherCases()) {
    ScenarioOptions options;
    options.maxDevices = 8;
    auto scenario =
        Scenario::create("model", makeModel(c.config, c.workload), options);
    ASSERT_TRUE(scenario) << scenario.error().message;
    search::SpaceRequest request;
    request.kind = search::SpaceKind::Serving;
    request.maxDevices = options.maxDevices;
    request.mostSequences = 32;
    auto space =
        search::StrategySpace::create((*scenario)->spaceFacts(), request);
    ASSERT_TRUE(space) << space.error().message;
    search::ExactResult exact = search::findOptimum(
        *space, *(*scenario)->simulator().decomposition(), c.goal);
    ASSERT_TRUE(exact.proved && exact.best);
    for (const std::string &name : searchers())
      for (bool isOpen : {false, true})
        run(name, **scenario, *space, c.goal, *exact.best, isOpen);
  }
}

} // namespace
