//===- ServingSpaceTest.cpp - Exact search over degrees of engines --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Planning/Engines.h"
#include "shardopt/Planning/Planner.h"
#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Search/ExactSearch.h"
#include "shardopt/Search/Megatron.h"
#include "shardopt/Support/Rng.h"

#include "TestModels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

using namespace shardopt;
using namespace shardopt::cost::test;
using search::SpaceKind;
using search::StrategySpace;

namespace {

std::shared_ptr<const Scenario> scenarioOf(const ModelConfig &config,
                                           const cost::Workload &workload,
                                           const ScenarioOptions &options) {
  auto scenario =
      Scenario::create("model", makeModel(config, workload), options);
  EXPECT_TRUE(scenario) << scenario.error().message;
  return *scenario;
}

size_t gridsOf(const ModelConfig &config, SpaceKind kind) {
  auto scenario = scenarioOf(config, {cost::Phase::Decode, 8192}, {});
  search::SpaceRequest request;
  request.kind = kind;
  request.maxDevices = 64;
  return StrategySpace::create(scenario->spaceFacts(), request)->numGrids();
}

TEST(ServingSpace, HoldsTheDegreesThatEnginesHave) {
  EXPECT_EQ(gridsOf(qwen3Moe235B(), SpaceKind::Uniform), 108u);
  EXPECT_EQ(gridsOf(qwen3Moe235B(), SpaceKind::Serving), 696u);
  EXPECT_EQ(gridsOf(deepSeekV3(), SpaceKind::Uniform), 108u);
  EXPECT_EQ(gridsOf(deepSeekV3(), SpaceKind::Serving), 1296u);
  EXPECT_EQ(gridsOf(mixtral8x22B(), SpaceKind::Serving), 558u);
  EXPECT_EQ(gridsOf(llama70B(), SpaceKind::Uniform), 104u);
  EXPECT_EQ(gridsOf(llama70B(), SpaceKind::Serving), 120u);
}

TEST(ServingSpace, BatchesFitTheOtherDegrees) {
  auto scenario = scenarioOf(qwen3Moe235B(), {cost::Phase::Decode, 8192}, {});
  search::SpaceRequest request;
  request.kind = SpaceKind::Serving;
  request.maxDevices = 64;
  StrategySpace space = *StrategySpace::create(scenario->spaceFacts(), request);
  ASSERT_TRUE(space.fitsBatch());
  for (size_t grid = 0; grid < space.numGrids(); ++grid) {
    double last = 0;
    for (size_t i = 0; i < space.numBatches(); ++i) {
      Degrees degrees = space.degreesOf(grid, i);
      BatchSplit split = splitBatch(degrees.batch, degrees.dp, degrees.pp);
      // No place in a micro-batch is empty, and no step is larger than 3 %.
      ASSERT_EQ(split.microBatch * split.microBatches * degrees.dp,
                degrees.batch);
      double b = double(split.microBatch);
      ASSERT_LE(b, std::max(last + 1, last * 1.03));
      last = b;
    }
  }
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    search::Point point = space.sample(rng);
    EXPECT_EQ(space.pointOf(space.strategyAt(point)), point);
    EXPECT_TRUE(space.fits(point));
  }
}

TEST(ServingSpace, AListOpensOneDegreeAlone) {
  auto scenario = scenarioOf(qwen3Moe235B(), {cost::Phase::Decode, 8192}, {});
  search::SpaceRequest request;
  request.maxDevices = 64;
  request.lists[Degree::Dp] = {2, 4};
  StrategySpace space = *StrategySpace::create(scenario->spaceFacts(), request);
  EXPECT_FALSE(space.fitsBatch());
  EXPECT_EQ(space.openDegrees(),
            (std::vector<Degree>{Degree::Tp, Degree::Dp, Degree::Ep, Degree::Pp,
                                 Degree::Batch}));
  Degrees degrees(8, 16, 1, 64);
  degrees.dp = 4;
  Strategy strategy{degrees, {}};
  strategy.dims.assign(scenario->opNames().size(), Dim::Zero);
  EXPECT_TRUE(space.contains(strategy));
}

TEST(ServingSpace, SaysWhyNothingGoesTogether) {
  auto scenario = scenarioOf(qwen3Moe235B(), {cost::Phase::Decode, 8192}, {});
  search::SpaceRequest request;
  request.lists[Degree::Tp] = {6};
  request.lists[Degree::Dp] = {2};
  request.lists[Degree::Ep] = {8};
  request.lists[Degree::Pp] = {1};
  auto space = StrategySpace::create(scenario->spaceFacts(), request);
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().message,
            "no degrees of the lists go together: ep 8 does not divide tp * dp "
            "12, the nearest that does is 6: tp 6 (listed), dp 2 (listed), ep "
            "8 (listed), pp 1 (listed)");
}

/// Why `request` opens an empty space.
std::string refusal(const ModelConfig &config,
                    const search::SpaceRequest &request) {
  auto scenario = scenarioOf(config, {cost::Phase::Decode, 8192}, {});
  auto space = StrategySpace::create(scenario->spaceFacts(), request);
  std::string message = space ? "" : space.error().message;
  return message.substr(0, message.rfind(": tp "));
}

TEST(ServingSpace, NamesTheDegreeThatDoesNotDivideAndTheNearest) {
  auto pinned = [](int64_t tp, int64_t dp, int64_t ep, int64_t cp) {
    search::SpaceRequest request;
    request.pinned[Degree::Tp] = tp;
    request.pinned[Degree::Dp] = dp;
    request.pinned[Degree::Ep] = ep;
    request.pinned[Degree::Cp] = cp;
    return request;
  };
  EXPECT_EQ(refusal(qwen3Moe235B(), pinned(8, 1, 1, 3)),
            "no degrees of the lists go together: cp 3 does not divide tp 8, "
            "the nearest that does is 2");
  EXPECT_EQ(refusal(qwen3Moe235B(), pinned(4, 3, 2, 1)),
            "no degrees of the lists go together: ep 2 leaves etp = tp * dp / "
            "ep 6, and of tp 4 and it neither divides the other, the nearest "
            "that does is 1");
  EXPECT_EQ(refusal(llama70B(), pinned(4, 2, 4, 1)),
            "no degrees of the lists go together: ep 4 is not dp 2: without "
            "experts both are the number of replicas");
  search::SpaceRequest gather;
  gather.pinned[Degree::Exchange] = exchangeGather;
  EXPECT_EQ(refusal(llama70B(), gather),
            "no degrees of the lists go together: exchange gather needs "
            "experts, and the model has none");
}

TEST(ServingSpace, SaysWhatIsWrongWhereTheDegreesGoTogether) {
  // tp 1, which cp 2 does not divide, comes first, and is beside the point.
  auto scenario = scenarioOf(qwen3Moe235B(), {cost::Phase::Decode, 8192}, {});
  search::SpaceRequest whole;
  whole.pinned[Degree::Cp] = 2;
  whole.pinnedDims.resize(scenario->opNames().size());
  whole.pinnedDims[scenario->spaceFacts().contextOps.front()] = Dim::None;
  EXPECT_EQ(refusal(qwen3Moe235B(), whole),
            "no degrees of the lists go together: cp 2 needs dim 0 (heads) of "
            "'attention', which is pinned to another");
  search::SpaceRequest many;
  many.kind = SpaceKind::Serving;
  many.lists[Degree::Ep] = {256};
  EXPECT_EQ(refusal(qwen3Moe235B(), many),
            "no degrees of the lists go together: ep 256 exceeds the number of "
            "experts 128");
}

using IsWanted = std::function<bool(const Strategy &)>;

/// The best of all strategies that are wanted, of equals the first.
std::optional<search::Plan> enumerate(const cost::CostModel &costs,
                                      const StrategySpace &space,
                                      search::Goal goal,
                                      const IsWanted &isWanted) {
  search::Objective objective;
  objective.goal = goal;
  std::optional<search::Plan> best;
  const search::DimDomains &domains = space.dimDomains();
  std::vector<cost::DimSet> sets = RooflineSimulator::setsOf(domains);
  for (const Degrees &degrees : space.degreeTuples()) {
    cost::Tables tables(
        costs, cost::TableRequest{degrees, std::nullopt, sets, nullptr});
    std::vector<size_t> at(domains.size(), 0);
    for (bool isDone = false; !isDone;) {
      Strategy strategy{degrees, {}};
      for (size_t op = 0; op < at.size(); ++op)
        strategy.dims.push_back(domains[op][at[op]]);
      Evaluation found = cost::evaluate(tables, strategy.dims);
      if (found.valid && (!best || objective.better(found, best->evaluation)) &&
          isWanted(strategy))
        best = search::Plan{strategy, found};
      size_t op = at.size();
      while (op > 0 && ++at[op - 1] == domains[op - 1].size())
        at[--op] = 0;
      isDone = op == 0;
    }
  }
  return best;
}

/// Small models with every part that costs know.
ModelConfig randomConfig(Rng &rng) {
  ModelConfig config = rng.below(3) == 0   ? deepSeekV3()
                       : rng.below(2) == 0 ? gptOss120B()
                       : rng.below(4) == 0 ? llama70B()
                                           : qwen3Moe235B();
  config.layers = 2 + int64_t(rng.below(3));
  config.denseLayers = std::min<int64_t>(config.denseLayers, 1);
  if (config.experts)
    config.experts = 4 + int64_t(rng.below(13));
  config.topK = std::min(config.topK, config.experts);
  return config;
}

/// SHARDOPT_RANDOM_SPACES of them, or some.
TEST(ServingSpace, ExactSearchIsEnumerationOnRandomSmallSpaces) {
  const char *wanted = std::getenv("SHARDOPT_RANDOM_SPACES");
  int count = wanted ? std::atoi(wanted) : 60;
  Rng rng(11);
  int numFeasible = 0, numWithPositions = 0;
  for (int i = 0; i < count; ++i) {
    bool isPrefill = rng.below(2) == 0;
    cost::Workload workload{
        isPrefill ? cost::Phase::Prefill : cost::Phase::Decode,
        int64_t(1) << (isPrefill ? 9 + rng.below(3) : 12 + rng.below(8))};
    ScenarioOptions options;
    options.timing.machine = rng.below(2) ? "h100_sxm" : "h200_sxm";
    options.maxDevices = 1 + int64_t(rng.below(8));
    options.countIdle = rng.below(2) == 0;
    options.partition = rng.below(3) ? "even" : "balanced";
    (isPrefill ? options.sloTtftMs : options.sloTpotMs) =
        (isPrefill ? 20 : 0.3) * double(1 + rng.below(30));
    ModelConfig config = randomConfig(rng);
    if (rng.below(4) == 0)
      config.vocab *= 8; // the head takes longer than a layer
    auto scenario = scenarioOf(config, workload, options);
    search::SpaceRequest request;
    request.kind = SpaceKind::Serving;
    request.maxDevices = options.maxDevices;
    request.mostSequences = 1 + int64_t(rng.below(12));
    request.lists[Degree::Pp] = {1, 2};
    int64_t layers = scenario->spaceFacts().layers;
    if (rng.below(4) == 0) {
      int64_t first = 1 + int64_t(rng.below(layers - 1));
      request.pinned.stages.layers = {first, layers - first};
    }
    if (rng.below(4) == 0)
      request.lists[Degree::Tp] = {1, 2, 3, 6};
    if (rng.below(4) == 0)
      request.lists[Degree::Cp] = {1, 2, 3, 4};
    if (rng.below(4) == 0)
      request.lists[Degree::Ep] = {1, 2, 3, 4, 8};
    for (size_t op = 0; op < scenario->opNames().size(); ++op)
      request.pinnedDims.push_back(static_cast<Dim>(rng.below(3)));
    for (size_t op : scenario->spaceFacts().contextOps)
      request.pinnedDims[op] = rng.below(3) ? Dim::Zero : Dim::None;
    size_t contextOp = scenario->spaceFacts().contextOps.front();
    for (int free = 0; free < 2; ++free)
      request.pinnedDims[rng.below(request.pinnedDims.size())].reset();
    auto space = StrategySpace::create(scenario->spaceFacts(), request);
    if (!space)
      continue;
    bool isBalanced = options.partition == "balanced";
    search::Goal goal = rng.below(4) || isBalanced ? search::Goal::Throughput
                                                   : search::Goal::Latency;
    // Some are searched for one engine, which may have none of the dims.
    std::unique_ptr<EngineSimulator> engine;
    if (rng.below(4) == 0) {
      engine = std::make_unique<EngineSimulator>(
          scenario->simulator(), allEngines[rng.below(3)],
          EngineFacts(scenario->model()));
      for (size_t op = 0; op < request.pinnedDims.size(); ++op)
        request.pinnedDims[op].reset();
      space = StrategySpace::create(scenario->spaceFacts(), request);
      if (space)
        space = engine->narrowed(*space);
      if (!space)
        continue;
    }
    const search::Simulator &judge =
        engine ? static_cast<const search::Simulator &>(*engine)
               : scenario->simulator();
    search::ExactResult exact =
        search::findOptimum(*space, *judge.decomposition(), goal);
    std::optional<search::Plan> wantedPlan =
        enumerate(scenario->costs(), *space, goal, [&](const Strategy &s) {
          return !engine || judge.evaluate(s).valid;
        });
    ASSERT_TRUE(exact.proved);
    ASSERT_EQ(exact.best.has_value(), wantedPlan.has_value()) << i;
    if (!wantedPlan)
      continue;
    ++numFeasible;
    std::vector<Degrees> tuples = space->degreeTuples();
    numWithPositions +=
        isPrefill && space->dimDomains()[contextOp].back() == Dim::None &&
        std::any_of(tuples.begin(), tuples.end(), [](const Degrees &degrees) {
          return degrees.cp > 1 && degrees.cp == degrees.tp;
        });
    EXPECT_EQ(exact.best->evaluation.throughput,
              wantedPlan->evaluation.throughput)
        << i << " " << spell(exact.best->strategy.degrees) << " "
        << spell(wantedPlan->strategy.degrees);
    EXPECT_EQ(exact.best->evaluation.latencyMs,
              wantedPlan->evaluation.latencyMs);
    EXPECT_EQ(exact.best->strategy, wantedPlan->strategy) << i;
  }
  EXPECT_GT(numFeasible, count / 4);
  EXPECT_GT(numWithPositions, 0);
}

TEST(ServingSpace, IsNeverWorseThanTheUniformOne) {
  for (const ModelConfig &config : {llama70B(), gptOss120B()}) {
    ScenarioOptions options;
    options.maxDevices = 16;
    auto scenario = scenarioOf(config, {cost::Phase::Decode, 8192}, options);
    search::SpaceRequest request;
    request.maxDevices = 16;
    auto best = [&](SpaceKind kind) {
      request.kind = kind;
      return search::findOptimum(
                 *StrategySpace::create(scenario->spaceFacts(), request),
                 *scenario->simulator().decomposition(),
                 search::Goal::Throughput)
          .best->evaluation.throughput;
    };
    EXPECT_GE(best(SpaceKind::Serving), best(SpaceKind::Uniform));
  }
}

/// What a search bounded of all dims says nothing wrong of Megatron's and of
/// those of engines: found from there they are the same plans.
TEST(ServingSpace, PartsAreSearchedFromWhatWasBoundedOfTheWhole) {
  struct Case {
    ModelConfig config;
    cost::Workload workload;
    double sloMs;
    bool countIdle;
  };
  const Case cases[] = {{llama70B(), {cost::Phase::Decode, 8192}, 40, false},
                        {gptOss120B(), {cost::Phase::Decode, 8192}, 20, true},
                        {gptOss120B(), {cost::Phase::Prefill, 4096}, 900, true},
                        {gptOss120B(), {cost::Phase::Decode, 8192}, 1, false}};
  for (const Case &tried : cases) {
    ScenarioOptions options;
    options.maxDevices = 16;
    options.countIdle = tried.countIdle;
    options.sloTpotMs = options.sloTtftMs = tried.sloMs;
    auto scenario = scenarioOf(tried.config, tried.workload, options);
    search::SpaceRequest request;
    request.kind = SpaceKind::Serving;
    request.maxDevices = 16;
    request.mostSequences = 4096;
    auto space = StrategySpace::create(scenario->spaceFacts(), request);
    const search::Decomposition &whole = *scenario->simulator().decomposition();
    for (search::Goal goal :
         {search::Goal::Throughput, search::Goal::Latency}) {
      search::BatchIntervals bounded;
      findOptimum(*space, whole, goal, /*threads=*/2, {}, &bounded);
      auto expectSame = [&](const search::ExactResult &found,
                            const search::ExactResult &wanted) {
        EXPECT_TRUE(found.proved);
        ASSERT_EQ(found.best.has_value(), wanted.best.has_value());
        EXPECT_EQ(found.bound, wanted.bound);
        if (!wanted.best)
          return;
        EXPECT_EQ(found.best->strategy, wanted.best->strategy);
        EXPECT_EQ(found.best->evaluation.throughput,
                  wanted.best->evaluation.throughput);
      };
      for (search::MegatronVariant variant :
           {search::MegatronVariant::Classic, search::MegatronVariant::Slice,
            search::MegatronVariant::SequenceParallel}) {
        StrategySpace part = search::megatronSpace(variant, *space);
        expectSame(findOptimumWithin(bounded, part, whole, goal),
                   findOptimum(part, whole, goal));
      }
      for (Engine runner : allEngines) {
        EngineSimulator only(scenario->simulator(), runner,
                             EngineFacts(scenario->model()));
        auto part = only.narrowed(*space);
        ASSERT_TRUE(bool(part));
        expectSame(findOptimumWithin(bounded, *space, only, goal),
                   findOptimum(*part, only, goal));
      }
    }
  }
}

TEST(CountIdle, ThroughputIsPerDeviceThatThereIs) {
  auto throughput = [](bool countIdle, const Degrees &degrees) {
    ScenarioOptions options;
    options.maxDevices = 8;
    options.countIdle = countIdle;
    auto scenario =
        scenarioOf(llama70B(), {cost::Phase::Decode, 8192}, options);
    Strategy s{degrees, {}};
    s.dims.assign(scenario->opNames().size(), Dim::Zero);
    return scenario->simulator().evaluate(s).throughput;
  };
  // Six of eight devices at work, and eight as four plans of two.
  EXPECT_DOUBLE_EQ(throughput(true, {2, 1, 3, 64}),
                   throughput(false, {2, 1, 3, 64}) * 6 / 8);
  EXPECT_DOUBLE_EQ(throughput(true, {2, 1, 1, 64}),
                   throughput(false, {2, 1, 1, 64}));
  ScenarioOptions options;
  options.countIdle = true;
  auto scenario = Scenario::create(
      "", makeModel(llama70B(), {cost::Phase::Decode, 8192}), options);
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().message,
            "'count-idle' needs to know how many devices there are: expected "
            "'max-devices' or 'devices'");
}

TEST(ServingPlan, TellsBatchesAndEngines) {
  ScenarioOptions options;
  options.maxDevices = 8;
  options.countIdle = true;
  PlanRequest request;
  request.space.kind = SpaceKind::Serving;
  request.space.maxDevices = 8;
  auto summary =
      makePlan(scenarioOf(mixtral8x22B(), {cost::Phase::Decode, 8192}, options),
               request);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->search.proved);
  std::string table = planTable(*summary), report = reportJson(*summary);
  for (const char *text : {"  dp ", "  workers ", "idle devices",
                           "batches   b * pp", "engines   "})
    EXPECT_NE(table.find(text), std::string::npos) << table;
  for (const char *text :
       {"\"workers\": ", "\"idle_devices\": ", "\"batches\": \"b * pp",
        "\"vllm\": ", "\"runs_plan\": "})
    EXPECT_NE(report.find(text), std::string::npos) << report;
}

} // namespace
