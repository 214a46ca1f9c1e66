//===- ScreenedSearchTest.cpp - Edits of elites under a critic ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/ScreenedSearch.h"
#include "../ToySimulator.h"
#include "shardopt/Search/DegreeMask.h"
#include "shardopt/Search/Driver.h"
#include "shardopt/Search/EvaluationCache.h"
#include "shardopt/Search/ExactSearch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

using namespace shardopt;
using namespace shardopt::search;

static std::unique_ptr<Searcher> make(const ToyContext &context) {
  auto searcher = SearcherRegistry::builtin().create("surrogate", context);
  EXPECT_TRUE(searcher) << searcher.error().message;
  return std::move(*searcher);
}

/// Asks for `size` strategies at a time until `budget` are evaluated or there
/// are no more. Without a simulator's help: for what follows from the calls.
static std::vector<Strategy> run(Searcher &searcher, const ToyContext &context,
                                 size_t budget, size_t size = 1) {
  std::vector<Strategy> asked;
  while (!searcher.done() && asked.size() < budget) {
    std::vector<Strategy> strategies =
        searcher.ask(std::min(size, budget - asked.size()));
    std::vector<Evaluation> evaluations;
    for (const Strategy &strategy : strategies)
      evaluations.push_back(context.simulator.evaluate(strategy));
    searcher.tell(strategies, evaluations);
    asked.insert(asked.end(), strategies.begin(), strategies.end());
  }
  return asked;
}

/// The best throughput among the first `budget` evaluations.
static double bestAfter(const ToyContext &context, uint64_t budget) {
  DriverOptions options;
  options.budget = budget;
  SearchResult result =
      runSearch(*make(context), context.simulator, context.objective, options);
  return result.best ? result.best->evaluation.throughput : 0;
}

using StrategySet = std::unordered_set<Strategy, StrategyHash>;

static SpaceRequest tinyRequest() {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4};
  request.lists[Degree::Ep] = {1, 2};
  request.lists[Degree::Pp] = {1, 2};
  request.lists[Degree::Batch] = {1, 16, 64};
  return request;
}

namespace {
class Surrogate : public testing::Test {
protected:
  ToySimulator simulator{6, 5};
  BlackBox box{simulator};
  StrategySpace space = makeSpace(6, {});
  DegreeMask mask{simulator, space.dimDomains(), Goal::Throughput};
  ToyContext context{space, simulator, simulator.objective(), 11, 700};
  ToyContext boxed{space, box, simulator.objective(), 11, 700};
};
} // namespace

//===----------------------------------------------------------------------===//
// What is asked
//===----------------------------------------------------------------------===//

TEST_F(Surrogate, AsksForNothingTwice) {
  for (const char *critic : {"joint", "ridge", "random", "none"}) {
    context.options.critic = critic;
    std::vector<Strategy> asked = run(*make(context), context, 300);
    ASSERT_EQ(asked.size(), 300u);
    EXPECT_EQ(StrategySet(asked.begin(), asked.end()).size(), 300u) << critic;
  }
}

TEST_F(Surrogate, AsksForNothingHopeless) {
  simulator.capacityGb = 20;
  context.isHopeless = [&](const Degrees &degrees) {
    return mask.isHopeless(degrees);
  };
  size_t hopeless = 0;
  for (const Degrees &degrees : space.degreeTuples())
    hopeless += mask.isHopeless(degrees);
  ASSERT_GT(hopeless, 0u);
  for (const Strategy &strategy : run(*make(context), context, 300))
    EXPECT_FALSE(mask.isHopeless(strategy.degrees));
}

/// One tuple in thousands is left: uniform draws do not find it.
TEST_F(Surrogate, FindsTheOnlyHopefulDegrees) {
  Degrees only{64, 16, 8, 8192};
  context.isHopeless = [&](const Degrees &degrees) {
    return !(degrees == only);
  };
  std::vector<Strategy> asked = run(*make(context), context, 10000);
  EXPECT_EQ(asked.size(), 729u);
  for (const Strategy &strategy : asked)
    EXPECT_EQ(strategy.degrees, only);
}

TEST_F(Surrogate, HasNothingToAskWhereAllIsHopeless) {
  context.isHopeless = [](const Degrees &) { return true; };
  auto searcher = make(context);
  EXPECT_TRUE(searcher->done());
  EXPECT_TRUE(searcher->ask(4).empty());
  EXPECT_GT(searcher->rejected(), 0u);
}

TEST_F(Surrogate, ExhaustsATinySpace) {
  StrategySpace tiny = makeSpace(2, tinyRequest());
  ToySimulator toy(2, 0);
  for (const char *constants : {"initial=1", "initial=9"}) {
    ToyContext on{tiny, toy, toy.objective(), 0, 1000};
    on.options.constants = constants;
    auto searcher = make(on);
    std::vector<Strategy> asked = run(*searcher, on, 1000, 5);
    EXPECT_EQ(double(asked.size()), tiny.size());
    EXPECT_EQ(double(StrategySet(asked.begin(), asked.end()).size()),
              tiny.size());
    EXPECT_TRUE(searcher->done());
    EXPECT_TRUE(searcher->ask(1).empty());
    EXPECT_GT(searcher->rejected(), 0u);
  }
}

TEST_F(Surrogate, CountsNoDrawThatItDidNotReject) {
  context.options.constants = "initial=64";
  auto searcher = make(context);
  EXPECT_EQ(searcher->ask(64).size(), 64u);
  EXPECT_EQ(searcher->rejected(), 0u);
}

TEST_F(Surrogate, IsTheSameHoweverManyAreAskedFor) {
  std::vector<Strategy> expected = run(*make(context), context, 200, 1);
  for (size_t size : {3, 5, 64})
    EXPECT_EQ(run(*make(context), context, 200, size), expected) << size;
}

/// A run that starts anew meets strategies that are known, and asks for others.
TEST_F(Surrogate, StartsAnewWhereNothingIsGained) {
  for (const char *critic : {"joint", "ridge"}) {
    context.options.critic = critic;
    context.options.constants = "";
    std::vector<Strategy> without = run(*make(context), context, 600);
    context.options.constants = "patience=40";
    std::vector<Strategy> asked = run(*make(context), context, 600);
    ASSERT_EQ(asked.size(), 600u) << critic;
    EXPECT_EQ(StrategySet(asked.begin(), asked.end()).size(), 600u) << critic;
    EXPECT_NE(asked, without) << critic;
    EXPECT_EQ(run(*make(context), context, 600, 1), asked) << critic;
    EXPECT_EQ(run(*make(context), context, 600, 7), asked) << critic;
  }
}

/// Every restart meets what is known, and the last one all there is.
TEST_F(Surrogate, ExhaustsATinySpaceInSeveralRuns) {
  StrategySpace tiny = makeSpace(2, tinyRequest());
  ToySimulator toy(2, 0);
  ToyContext on{tiny, toy, toy.objective(), 0, 1000};
  on.options.constants = "patience=5";
  for (const char *critic : {"joint", "ridge"}) {
    on.options.critic = critic;
    EXPECT_EQ(double(run(*make(on), on, 1000).size()), tiny.size()) << critic;
  }
}

TEST_F(Surrogate, ProposesSeveralBeforeItIsTold) {
  for (const char *critic : {"joint", "ridge"}) {
    context.options.critic = critic;
    context.options.constants = "initial=8,round=1";
    auto searcher = make(context);
    EXPECT_EQ(run(*searcher, context, 8, 8).size(), 8u);
    StrategySet pending;
    for (int i = 0; i < 5; ++i)
      for (const Strategy &strategy : searcher->ask(64))
        EXPECT_TRUE(pending.insert(strategy).second);
    EXPECT_EQ(pending.size(), 5u);
  }
}

/// The parts of a round may be told in any order, and some of them later.
TEST_F(Surrogate, IsTheSameInWhateverOrderItIsTold) {
  auto search = [&](bool isReversed) {
    auto searcher = make(context);
    std::vector<Strategy> asked;
    while (asked.size() < 200) {
      std::vector<Strategy> strategies = searcher->ask(6);
      for (const Strategy &more : searcher->ask(6))
        strategies.push_back(more);
      asked.insert(asked.end(), strategies.begin(), strategies.end());
      if (isReversed)
        std::reverse(strategies.begin(), strategies.end());
      std::vector<Evaluation> evaluations;
      for (const Strategy &strategy : strategies)
        evaluations.push_back(simulator.evaluate(strategy));
      searcher->tell(strategies, evaluations);
    }
    return asked;
  };
  EXPECT_EQ(search(false), search(true));
}

//===----------------------------------------------------------------------===//
// How well it searches
//===----------------------------------------------------------------------===//

/// 5832 strategies, of which it sees one in fifteen.
TEST_F(Surrogate, FindsTheOptimumOfASmallSpace) {
  SpaceRequest request = tinyRequest();
  request.lists[Degree::Pp] = {1, 2, 4};
  request.lists[Degree::Batch] = {1, 4, 16, 64};
  StrategySpace small = makeSpace(4, request);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ToySimulator toy(4, seed);
    auto optimum = bruteForce(small, toy, toy.objective());
    ASSERT_TRUE(optimum);
    ToyContext on{small, toy, toy.objective(), seed, 400};
    EXPECT_EQ(bestAfter(on, 400), optimum->evaluation.throughput)
        << "seed " << seed;
  }
}

/// The mean over seeds of what a critic finds with few calls.
static double meanAfter(const std::string &critic,
                        const std::string &constants = "") {
  StrategySpace space = makeSpace(10, {});
  double sum = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    ToySimulator toy(10, seed);
    ToyContext on{space, toy, toy.objective(), seed, 250};
    on.options.critic = critic;
    on.options.constants = constants;
    sum += bestAfter(on, 250);
  }
  return sum / 5;
}

TEST_F(Surrogate, ScreeningSavesCalls) {
  double blind = meanAfter("none", "explore=0");
  double screened = meanAfter("ridge", "explore=0");
  EXPECT_GT(screened, 1.05 * blind);
  EXPECT_LT(1.05 * meanAfter("random", "explore=0"), screened);
  EXPECT_LT(meanAfter("ridge", "explore=0,unscreened=1"), 1.05 * blind);
}

/// How many of 60 proposals are of degrees that no strategy before had.
static size_t unseenDegrees(ToyContext context, const char *constants) {
  context.options.critic = "ridge";
  context.options.constants = constants;
  std::vector<Strategy> asked = run(*make(context), context, 76);
  std::set<Degrees> seen;
  size_t unseen = 0;
  for (size_t i = 0; i < asked.size(); ++i)
    if (seen.insert(asked[i].degrees).second)
      unseen += i >= 16;
  return unseen;
}

TEST_F(Surrogate, ExploresUnseenDegrees) {
  EXPECT_EQ(unseenDegrees(context, "initial=16,explore=1"), 60u);
  EXPECT_LT(unseenDegrees(context, "initial=16,explore=0"), 60u);
}

namespace {
/// Gives no answer for tp = 4.
class Fragile : public BlackBox {
public:
  using BlackBox::BlackBox;
  Evaluation evaluate(const Strategy &strategy) const override {
    if (strategy.degrees.tp != 4)
      return BlackBox::evaluate(strategy);
    Evaluation failed;
    failed.reason = Reason::Failed;
    return failed;
  }
};
} // namespace

TEST_F(Surrogate, LearnsToAvoidWhatFails) {
  Fragile fragile(simulator);
  ToyContext on{space, fragile, simulator.objective(), 0, 400};
  std::vector<Strategy> asked = run(*make(on), on, 400);
  size_t late = 0;
  for (size_t i = 200; i < 400; ++i)
    late += asked[i].degrees.tp == 4;
  EXPECT_LT(late, 10u);
}

//===----------------------------------------------------------------------===//
// Warm start and prior
//===----------------------------------------------------------------------===//

static std::vector<Strategy> strategiesOf(const std::vector<Plan> &plans) {
  std::vector<Strategy> strategies;
  for (const Plan &plan : plans)
    strategies.push_back(plan.strategy);
  return strategies;
}

TEST_F(Surrogate, BeginsABlackBoxWithTheBestPlansOfTheFreeModel) {
  boxed.freeModel = unowned(&simulator);
  std::vector<Strategy> best =
      strategiesOf(findBestPlans(space, simulator, Goal::Throughput, 16));
  auto searcher = make(boxed);
  std::vector<Strategy> first = searcher->ask(100);
  ASSERT_EQ(first.size(), 24u) << "and half as many uniform ones";
  first.resize(16);
  EXPECT_EQ(first, best);

  boxed.options.constants = "warm-plans=3,warm-initial=0";
  EXPECT_EQ(make(boxed)->ask(100),
            std::vector<Strategy>(best.begin(), best.begin() + 3));
}

/// The best plan comes first, so that nothing is gained after it.
TEST_F(Surrogate, StartsAnewWithoutThePlans) {
  boxed.freeModel = unowned(&simulator);
  boxed.options.constants = "warm-plans=3,warm-initial=0,initial=20,patience=2";
  auto searcher = make(boxed);
  std::vector<Strategy> plans = searcher->ask(100);
  ASSERT_EQ(plans.size(), 3u);
  std::vector<Evaluation> evaluations;
  for (const Strategy &plan : plans)
    evaluations.push_back(box.evaluate(plan));
  searcher->tell(plans, evaluations);
  EXPECT_EQ(searcher->ask(100).size(), 20u);
}

TEST_F(Surrogate, BeginsUniformlyWithoutAWarmStart) {
  context.options.critic = boxed.options.critic = "ridge";
  std::vector<Strategy> uniform = make(boxed)->ask(100);
  EXPECT_EQ(uniform.size(), 64u);
  EXPECT_EQ(make(context)->ask(100), uniform);
  boxed.freeModel = unowned(&simulator);
  boxed.options.warmStart = "none";
  EXPECT_EQ(make(boxed)->ask(100), uniform);
}

/// With the box itself as the prior the critic knows all from the start.
TEST_F(Surrogate, SearchesFasterFromAPrior) {
  boxed.freeModel = unowned(&simulator);
  boxed.options.warmStart = "none";
  boxed.options.criticPrior = "none";
  double without = bestAfter(boxed, 90);
  boxed.options.criticPrior = "roofline";
  EXPECT_GT(bestAfter(boxed, 90), without);
}

TEST_F(Surrogate, BeginsUniformlyWhereTheFreeModelHasNoPlan) {
  simulator.sloMs = 1;
  boxed.freeModel = unowned(&simulator);
  EXPECT_EQ(make(boxed)->ask(100).size(), 64u);
}

TEST_F(Surrogate, RefusesWhatItDoesNotKnow) {
  auto problem = [&](const SearcherOptions &options) {
    boxed.options = options;
    auto searcher = SearcherRegistry::builtin().create("surrogate", boxed);
    return searcher ? "" : searcher.error().message;
  };
  SearcherOptions critic, prior, warm, priorOfNothing, warmOfNothing;
  critic.critic = "rigde";
  EXPECT_EQ(problem(critic), "unknown agent-critic 'rigde', known: ridge, "
                             "random, none, joint");
  SearcherOptions joint;
  joint.critic = "joint";
  boxed.freeModel = unowned(&simulator);
  EXPECT_NE(problem(joint).find("which starts from no model"),
            std::string::npos);
  boxed.freeModel = nullptr;
  prior.criticPrior = "model";
  EXPECT_NE(problem(prior).find("unknown agent-critic-prior 'model'"),
            std::string::npos);
  warm.warmStart = "exakt";
  EXPECT_NE(problem(warm).find("unknown warm-start 'exakt'"),
            std::string::npos);
  priorOfNothing.criticPrior = "roofline";
  EXPECT_NE(problem(priorOfNothing).find("there is none"), std::string::npos);
  warmOfNothing.warmStart = "exact";
  EXPECT_NE(problem(warmOfNothing).find("there is none"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// What a policy is told
//===----------------------------------------------------------------------===//

namespace {
/// Draws uniformly and notes what it is told.
class Spy final : public EditPolicy {
public:
  Spy(const StrategySpace &space, std::vector<EditOutcome> &outcomes,
      bool hasEliteParents = true)
      : uniform(space), outcomes(outcomes), hasEliteParents(hasEliteParents) {}

  std::vector<EditSequence> draw(const std::vector<EditStart> &starts,
                                 const NichedArchive &archive,
                                 Rng &rng) override {
    return uniform.draw(starts, archive, rng);
  }
  void learn(const EditOutcome &outcome,
             const NichedArchive &archive) override {
    const Point &parent = outcome.trajectory.front().start.point;
    bool isElite = false;
    for (const NichedArchive::Elite &elite : archive.elites())
      isElite |= elite.point == parent;
    EXPECT_TRUE(isElite || !hasEliteParents);
    outcomes.push_back(outcome);
  }

private:
  UniformEdits uniform;
  std::vector<EditOutcome> &outcomes;
  const bool hasEliteParents;
};
} // namespace

TEST_F(Surrogate, TellsItsPolicyWhatCameOfEveryProposal) {
  std::vector<EditOutcome> outcomes;
  ScreenedConstants constants;
  constants.initial = 8;
  context.options.critic = "ridge";
  auto searcher = makeScreenedSearch(context, constants,
                                     std::make_unique<Spy>(space, outcomes));
  ASSERT_TRUE(searcher);
  std::vector<Strategy> asked = run(**searcher, context, 108);
  ASSERT_EQ(outcomes.size(), 100u);
  bool wasImagined = false, wasImproved = false;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const EditOutcome &outcome = outcomes[i];
    const Strategy &child = asked[8 + i];
    EXPECT_EQ(space.strategyAt(outcome.trajectory.back().result()), child);
    for (size_t s = 1; s < outcome.trajectory.size(); ++s)
      EXPECT_EQ(outcome.trajectory[s].start.point,
                outcome.trajectory[s - 1].result());
    wasImagined |= outcome.trajectory.size() == 2;
    wasImproved |= outcome.improved;
    Strategy parent = space.strategyAt(outcome.trajectory[0].start.point);
    EXPECT_EQ(outcome.reward,
              editReward(simulator.evaluate(parent), simulator.evaluate(child),
                         context.objective));
    EXPECT_EQ(outcome.improved, outcome.reward > 1e-3);
  }
  EXPECT_TRUE(wasImagined);
  EXPECT_TRUE(wasImproved);
}

/// The critic adapts the dims that were not edited, so that the child is not
/// what the edits lead to.
TEST_F(Surrogate, TellsItsPolicyWhatCameOfEveryKick) {
  std::vector<EditOutcome> outcomes;
  ScreenedConstants constants;
  constants.kicks = 1;
  constants.policyShare = 1;
  constants.screened = 0;
  auto searcher = makeScreenedSearch(
      context, constants, std::make_unique<Spy>(space, outcomes, false));
  ASSERT_TRUE(searcher);
  std::vector<Strategy> asked = run(**searcher, context, 64 + 96);
  EXPECT_GT(outcomes.size(), 80u);
  for (const EditOutcome &outcome : outcomes) {
    ASSERT_EQ(outcome.trajectory.size(), 1u);
    EXPECT_TRUE(space.fits(outcome.trajectory[0].result()));
    EXPECT_FALSE(outcome.trajectory[0].edits.empty());
  }
}

TEST(EditReward, IsTheGainWithinOne) {
  Objective objective{Goal::Throughput, 50, 80};
  auto valid = [](double throughput) {
    return Evaluation{true, Reason::None, throughput, 10, 10};
  };
  auto over = [](double memory) {
    return Evaluation{false, Reason::Memory, 1, 10, memory};
  };
  EXPECT_NEAR(editReward(valid(10), valid(11), objective), std::log(1.1),
              1e-12);
  EXPECT_EQ(editReward(valid(10), valid(100), objective), 1);
  EXPECT_EQ(editReward(valid(10), valid(9), objective), 0);
  EXPECT_EQ(editReward(valid(10), over(100), objective), 0);
  EXPECT_EQ(editReward(over(100), valid(1), objective), 1);
  EXPECT_NEAR(editReward(over(320), over(160), objective), .3 * std::log(2),
              1e-12);
  EXPECT_EQ(editReward(over(160), over(320), objective), 0);
  EXPECT_EQ(editReward(Evaluation(), over(320), objective), 1);
}
