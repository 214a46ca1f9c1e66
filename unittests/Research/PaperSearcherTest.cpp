//===- PaperSearcherTest.cpp - Chunks, exits, inheritance -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Research/PaperSearcher.h"
#include "ToySimulator.h"
#include "shardopt/Search/Agent/Encoding.h"
#include "shardopt/Search/Driver.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::agent;
using namespace shardopt::search;

namespace {

/// What happened to a network.
struct NetworkLog {
  std::vector<uint64_t> resets; ///< seeds
  std::vector<double> learningRates;
  std::vector<std::vector<double>> observations;
  std::vector<HistoryRollout> rollouts;
  std::vector<double> advantages, returns; ///< of all rollouts
};

/// Stands in for the network: uniform, and after `confidentAfter` steps of the
/// optimiser sure of the last value of every variable.
class ScriptedNetwork final : public HistoryNetwork {
public:
  ScriptedNetwork(NetworkLog &log, std::vector<uint32_t> choices,
                  int confidentAfter)
      : log(log), choices(std::move(choices)), confidentAfter(confidentAfter) {}

  Failure reset(uint64_t seed) override {
    log.resets.push_back(seed);
    steps = 0;
    return nullptr;
  }
  size_t numBlocks() const override { return 0; }
  ParameterBlock block(size_t) const override { return {"", 0}; }
  Failure readParameters(size_t, Span<double>) const override {
    return nullptr;
  }
  Failure writeParameters(size_t, Span<const double>) override {
    return nullptr;
  }
  Failure readGradients(size_t, Span<double>) const override { return nullptr; }
  Failure step(double learningRate, double) override {
    log.learningRates.push_back(learningRate);
    ++steps;
    return failure;
  }
  Failure evaluate(Span<const double> observation, Span<double> logits,
                   double &value) override {
    log.observations.emplace_back(observation.begin(), observation.end());
    size_t next = 0;
    for (uint32_t count : choices)
      for (uint32_t i = 0; i < count; ++i)
        logits[next++] = steps >= confidentAfter && i + 1 == count ? 20 : 0;
    value = 0.5;
    return nullptr;
  }
  Failure computeLoss(const HistoryRollout &rollout, const PpoWeights &,
                      PpoLoss &) override {
    log.advantages.insert(log.advantages.end(), rollout.advantages.begin(),
                          rollout.advantages.end());
    log.returns.insert(log.returns.end(), rollout.returns.begin(),
                       rollout.returns.end());
    return nullptr;
  }

  Failure failure = nullptr; ///< of every step

private:
  NetworkLog &log;
  std::vector<uint32_t> choices;
  int confidentAfter;
  int steps = 0;
};

class PaperSearcherTest : public testing::Test {
protected:
  static constexpr int never = 1 << 30;

  std::unique_ptr<PaperSearcher> make(int confidentAfter, uint64_t budget) {
    ToyContext context{space, simulator, simulator.objective(), 3, budget};
    auto owned = std::make_unique<ScriptedNetwork>(log, choicesOf(space),
                                                   confidentAfter);
    network = owned.get();
    return std::make_unique<PaperSearcher>(context, constants,
                                           std::move(owned));
  }

  SearchResult run(PaperSearcher &searcher, uint64_t budget) {
    DriverOptions options;
    options.budget = budget;
    return runSearch(searcher, simulator, simulator.objective(), options);
  }

  ToySimulator simulator{3, 5};
  StrategySpace space = makeSpace(3, {});
  PaperConstants constants;
  NetworkLog log;
  ScriptedNetwork *network = nullptr;
};

} // namespace

TEST_F(PaperSearcherTest, DividesTheBudgetIntoEqualChunks) {
  auto searcher = make(never, 100);
  run(*searcher, 100);
  EXPECT_EQ(searcher->agents(), 5u);
  EXPECT_EQ(searcher->earlyExits(), 0u);
  // One network an agent, each with a seed of its own.
  ASSERT_EQ(log.resets.size(), 5u);
  EXPECT_NE(log.resets[0], log.resets[1]);
}

TEST_F(PaperSearcherTest, MakesTwoGradientStepsEveryTwoEvaluations) {
  auto searcher = make(never, 100);
  run(*searcher, 100);
  EXPECT_EQ(log.learningRates.size(), 100u);
}

TEST_F(PaperSearcherTest, AnnealsTheLearningRateOverEachChunk) {
  auto searcher = make(never, 100);
  run(*searcher, 100);
  // 20 evaluations a chunk, an update every two of them.
  EXPECT_DOUBLE_EQ(log.learningRates[0], cosineAnnealed(1e-3, 0.1));
  EXPECT_DOUBLE_EQ(log.learningRates[10], cosineAnnealed(1e-3, 0.6));
  EXPECT_NEAR(log.learningRates[19], 0, 1e-12);
  EXPECT_DOUBLE_EQ(log.learningRates[20], cosineAnnealed(1e-3, 0.1));
}

TEST_F(PaperSearcherTest, EndsAnAgentThatIsConfident) {
  auto searcher = make(/*confidentAfter=*/8, 100);
  run(*searcher, 100);
  // Eight gradient steps take eight evaluations; what is saved is spent too.
  EXPECT_EQ(searcher->agents(), 13u);
  EXPECT_EQ(searcher->earlyExits(), 12u);
  std::vector<Count> counts = searcher->counts();
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[1].name, "early_exits");
  EXPECT_EQ(counts[1].number, 12u);
}

TEST_F(PaperSearcherTest, KeepsAnAgentThatIsNotConfidentEnough) {
  constants.confidence = 1;
  auto searcher = make(/*confidentAfter=*/8, 100);
  run(*searcher, 100);
  EXPECT_EQ(searcher->earlyExits(), 0u);
}

TEST_F(PaperSearcherTest, InheritsTheBestAndTheElites) {
  auto searcher = make(never, 100);
  SearchResult result = run(*searcher, 100);
  ASSERT_TRUE(result.best);
  // Over all agents, not since the last restart.
  EXPECT_EQ(searcher->best(), result.best->evaluation.throughput);
  EXPECT_EQ(searcher->elites().records().front().raw, searcher->best());
  EXPECT_EQ(searcher->elites().records().size(), 3u);
  // The first look of the second agent is at the elites of the first.
  EXPECT_NE(log.observations[20], std::vector<double>(3 * 7, -1));
  EXPECT_EQ(log.observations[0], std::vector<double>(3 * 7, -1));
}

TEST_F(PaperSearcherTest, PaysTheRewardAsTheReturnOfAnEpisode) {
  auto searcher = make(never, 4);
  std::vector<Evaluation> told;
  DriverOptions options;
  options.budget = 4;
  options.trace = [&](const TraceEntry &entry) {
    told.push_back(entry.evaluation);
  };
  runSearch(*searcher, simulator, simulator.objective(), options);
  double best = 0;
  std::vector<double> rewards;
  for (const Evaluation &evaluation : told) {
    rewards.push_back(PaperReward()(simulator.objective(), evaluation, best));
    if (evaluation.valid)
      best = std::max(best, evaluation.throughput);
  }
  // Each rollout twice, once a gradient step.
  ASSERT_EQ(log.returns.size(), 8u);
  EXPECT_EQ(log.returns[0], rewards[0]);
  EXPECT_EQ(log.returns[1], rewards[1]);
  EXPECT_EQ(log.returns[4], rewards[2]);
  EXPECT_EQ(log.returns[5], rewards[3]);
}

TEST_F(PaperSearcherTest, StopsWhenItsNetworkFails) {
  auto searcher = make(never, 100);
  network->failure = "out of memory";
  SearchResult result = run(*searcher, 100);
  EXPECT_EQ(result.evaluations, 2u);
  std::optional<Error> error = searcher->finish();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "searcher 'ppo-paper': out of memory");
}
