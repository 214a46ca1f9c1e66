//===- TargetEncoderTest.cpp - Evaluations to targets and back ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/TargetEncoder.h"
#include "../ToySimulator.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::search;

namespace {
/// Gives one evaluation for everything.
class Constant : public Simulator {
public:
  explicit Constant(const Evaluation &evaluation) : evaluation(evaluation) {}
  Evaluation evaluate(const Strategy &) const override { return evaluation; }

private:
  Evaluation evaluation;
};
} // namespace

using Encoder = TargetEncoder;

static const Strategy strategy{{4, 2, 2, 64}, {Dim::Zero}};
static const Evaluation good{true, Reason::None, 120, 20, 40};
static const Evaluation tooLarge{false, Reason::Memory, 120, 20, 160};
static const Objective limits{Goal::Throughput, 50, 80};

/// The score of the true targets.
static Encoder::Opinion roundTrip(const Encoder &encoder,
                                  const Evaluation &evaluation) {
  return encoder.decode(strategy, *encoder.encode(strategy, evaluation));
}

TEST(TargetEncoder, TakesLogarithmsOfWhatIsLimited) {
  Targets targets = *Encoder(limits, nullptr).encode(strategy, good);
  EXPECT_DOUBLE_EQ(targets[Encoder::Latency], std::log(20. / 50));
  EXPECT_DOUBLE_EQ(targets[Encoder::Memory], std::log(40. / 80));
  EXPECT_DOUBLE_EQ(targets[Encoder::Rate], std::log(120. * 20 * 16 / 64));
}

TEST(TargetEncoder, TakesTheLimitOfMemoryThatIsCloser) {
  Objective narrow = limits;
  narrow.activationsGb = 2;
  Evaluation evaluation = good;
  for (double activations : {0.5, 1.5, 3.}) {
    evaluation.activationsGb = activations;
    EXPECT_DOUBLE_EQ((*Encoder(narrow, nullptr)
                           .encode(strategy, evaluation))[Encoder::Memory],
                     std::log(std::max(40. / 80, activations / 2)));
  }
}

TEST(TargetEncoder, ScoresTrueTargetsByTheGoal) {
  EXPECT_NEAR(roundTrip({limits, nullptr}, good).score,
              std::log(120) + std::log(50), 1e-12);
  EXPECT_NEAR(roundTrip({{Goal::Latency, 50, 80}, nullptr}, good).score,
              -std::log(20) + std::log(50), 1e-12);
}

TEST(TargetEncoder, PunishesWhatExceedsALimit) {
  EXPECT_NEAR(roundTrip({limits, nullptr}, tooLarge).score,
              std::log(120) + std::log(50) - 5 * std::log(2), 1e-12);
  EXPECT_NEAR(roundTrip({{Goal::Throughput, 10, 80}, nullptr}, good).score,
              std::log(120) + std::log(10) - 5 * std::log(2), 1e-12);
}

TEST(TargetEncoder, KnowsNoLimitWhereThereIsNone) {
  for (double none : {0., std::numeric_limits<double>::infinity()}) {
    Encoder encoder({Goal::Throughput, none, none}, nullptr);
    Encoder::Opinion opinion = roundTrip(encoder, tooLarge);
    EXPECT_NEAR(opinion.score, std::log(120), 1e-12);
    EXPECT_EQ(opinion.slack.memory, 0);
    EXPECT_EQ(opinion.slack.latency, 0);
  }
}

/// What a black box answers may be any double.
TEST(TargetEncoder, IsFiniteOfAnyMetric) {
  constexpr double extremes[] = {5e-324, 2.3e-308, 1, 1e308, DBL_MAX};
  auto isFinite = [](const Targets &targets) {
    for (double target : targets)
      if (!(std::abs(target) <= 200))
        return false;
    return true;
  };
  for (double limit : {0., 5e-324, 50., 1e308})
    for (double throughput : extremes)
      for (double metric : extremes) {
        Evaluation evaluation{true, Reason::None, throughput, metric, metric};
        Constant model(evaluation);
        for (const Simulator *freeModel :
             {static_cast<const Simulator *>(nullptr),
              static_cast<const Simulator *>(&model)}) {
          Encoder encoder({Goal::Throughput, limit, limit}, freeModel);
          std::optional<Targets> targets = encoder.encode(strategy, evaluation);
          ASSERT_TRUE(targets);
          EXPECT_TRUE(isFinite(*targets));
          EXPECT_TRUE(std::isfinite(encoder.decode(strategy, *targets).score));
        }
        Slack slack = slackOf(evaluation, {Goal::Throughput, limit, limit});
        EXPECT_LE(std::abs(slack.memory), 2);
        EXPECT_LE(std::abs(slack.latency), 2);
      }
}

/// Without an SLO no latency is an outlier, and none is too short to matter.
TEST(TargetEncoder, TellsAllLatenciesApartThatMatter) {
  auto latency = [](double sloMs, double latencyMs) {
    Evaluation evaluation{true, Reason::None, 1, latencyMs, 1};
    return (*Encoder({Goal::Latency, sloMs, 80}, nullptr)
                 .encode(strategy, evaluation))[Encoder::Latency];
  };
  EXPECT_LT(latency(0, 2000), latency(0, 20000));
  EXPECT_LT(latency(2000, 1), latency(2000, 2));
  EXPECT_EQ(latency(1, 2000), latency(1, 20000));
}

TEST(TargetEncoder, GivesSlackWithinTwo) {
  Encoder encoder(limits, nullptr);
  EXPECT_NEAR(roundTrip(encoder, tooLarge).slack.memory, std::log(2), 1e-12);
  EXPECT_NEAR(roundTrip(encoder, tooLarge).slack.latency, std::log(.4), 1e-12);
  Evaluation vast{false, Reason::Memory, 1, 1e-3, 1e6};
  EXPECT_EQ(roundTrip(encoder, vast).slack.memory, 2);
  EXPECT_EQ(roundTrip(encoder, vast).slack.latency, -2);
  EXPECT_EQ(slackOf(vast, limits).memory, 2);
  EXPECT_NEAR(slackOf(tooLarge, limits).memory, std::log(2), 1e-12);
}

TEST(TargetEncoder, AddsTheFreeModelBack) {
  Constant model({true, Reason::None, 60, 30, 20});
  Encoder encoder(limits, &model);
  Targets targets = *encoder.encode(strategy, good);
  EXPECT_NEAR(targets[Encoder::Latency], std::log(20. / 30), 1e-12);
  EXPECT_NEAR(targets[Encoder::Memory], std::log(40. / 20), 1e-12);
  EXPECT_NEAR(targets[Encoder::Rate], std::log(120. * 20 / 60 / 30), 1e-12);
  EXPECT_NEAR(roundTrip(encoder, good).score, std::log(120) + std::log(50),
              1e-12);
  // Nothing predicted: what the model says.
  EXPECT_NEAR(encoder.decode(strategy, {}).score, std::log(60) + std::log(50),
              1e-12);
}

/// A model in other units, or of another machine, is still one.
TEST(TargetEncoder, LearnsAnyFactorToTheFreeModel) {
  Constant model({true, Reason::None, 1.2e6, .002, 40});
  EXPECT_NEAR(roundTrip({limits, &model}, good).score,
              std::log(120) + std::log(50), 1e-9);
}

TEST(TargetEncoder, IsAbsoluteWhereTheFreeModelHasNothingToSay) {
  Constant model((Evaluation()));
  EXPECT_EQ(Encoder(limits, &model).encode(strategy, good),
            Encoder(limits, nullptr).encode(strategy, good));
}

TEST(TargetEncoder, HasNoTargetsWithoutMetrics) {
  Encoder encoder(limits, nullptr);
  EXPECT_FALSE(encoder.encode(strategy, Evaluation()));
  Evaluation failed;
  failed.reason = Reason::Failed;
  EXPECT_FALSE(encoder.encode(strategy, failed));
}
