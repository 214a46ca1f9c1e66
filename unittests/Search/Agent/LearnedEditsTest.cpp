//===- LearnedEditsTest.cpp - When and from what a policy learns ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/LearnedEdits.h"
#include "ScriptedEditNetwork.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

using namespace shardopt;
using namespace shardopt::agent;
using namespace shardopt::search;

static SpaceRequest smallRequest() {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4};
  request.lists[Degree::Ep] = {1, 2};
  request.lists[Degree::Pp] = {1};
  request.lists[Degree::Batch] = {1, 8};
  return request;
}

class LearnedEditsTest : public testing::Test {
protected:
  LearnedEditsTest() {
    constants.attention = false;
    constants.group = 4;
    archive.tell({0, 0, 0, 0, 0, 0}, {true, Reason::None, 5, 1, 1});
  }

  std::unique_ptr<LearnedEdits> make() {
    auto owned = std::make_unique<ScriptedEditNetwork>(
        constants.shape(choicesOf(space), space.firstDim(), 3));
    network = owned.get();
    return std::make_unique<LearnedEdits>(space, Objective(), constants, 3, 1,
                                          std::move(owned));
  }

  EditOutcome outcome(double reward) const {
    return {{{start, {{0, 1}}}}, reward, reward > 0};
  }

  StrategySpace space = makeSpace(2, smallRequest());
  NichedArchive archive{3, 4, Objective()};
  EditConstants constants;
  ScriptedEditNetwork *network = nullptr;
  EditStart start{{0, 0, 0, 0, 0, 0}, {}};
};

TEST_F(LearnedEditsTest, LearnsFromWholeGroups) {
  auto policy = make();
  for (int i = 0; i < 3; ++i)
    policy->learn(outcome(0), archive);
  EXPECT_EQ(network->learningRates.size(), 0u);
  policy->learn(outcome(0), archive);
  EXPECT_EQ(network->learningRates, std::vector<double>(4, 3e-3));
  EXPECT_EQ(policy->updates(), 1u);
  // The probabilities before the first of the four steps, and no others.
  EXPECT_EQ(network->numEvaluations, 1);
  EXPECT_EQ(network->logProbs, std::vector<double>(4, -1));
}

TEST_F(LearnedEditsTest, ComparesRewardsWithinTheGroup) {
  auto policy = make();
  for (double reward : {1.0, 0.0, 0.0, 0.0})
    policy->learn(outcome(reward), archive);
  double deviation = std::sqrt(3.0) / 4;
  ASSERT_EQ(network->advantages.size(), 4u);
  EXPECT_NEAR(network->advantages[0], 0.75 / deviation, 1e-12);
  EXPECT_NEAR(network->advantages[3], -0.25 / deviation, 1e-12);
}

TEST(GroupAdvantages, AreSmallWhereRewardsHardlyDiffer) {
  std::vector<double> advantages =
      groupAdvantages(std::vector<double>{0.001, 0}, 0.05);
  EXPECT_NEAR(advantages[0], 0.01, 1e-12);
}

TEST_F(LearnedEditsTest, ImitatesOnceThereWasASuccess) {
  auto policy = make();
  for (int i = 0; i < 4; ++i)
    policy->learn(outcome(0), archive);
  EXPECT_EQ(network->imitated.back(), 0u);
  for (int i = 0; i < 4; ++i)
    policy->learn(outcome(i == 0 ? 0.5 : 0), archive);
  EXPECT_EQ(network->imitated.back(), 16u);
  // The success is remembered beyond its group.
  for (int i = 0; i < 4; ++i)
    policy->learn(outcome(0), archive);
  EXPECT_EQ(network->imitated.back(), 16u);
  policy->forgetTrajectories();
  for (int i = 0; i < 4; ++i)
    policy->learn(outcome(0), archive);
  EXPECT_EQ(network->imitated.back(), 0u);
}

TEST_F(LearnedEditsTest, StaysUntrainedWithoutALearningRate) {
  constants.learningRate = 0;
  auto policy = make();
  for (int i = 0; i < 40; ++i)
    policy->learn(outcome(1), archive);
  EXPECT_EQ(policy->updates(), 0u);
  EXPECT_EQ(network->learningRates.size(), 0u);
}

/// All parameters are 0: every edit is as likely as any other.
TEST_F(LearnedEditsTest, DrawsWithTheProbabilitiesOfItsNetwork) {
  auto policy = make();
  Rng rng(3);
  std::map<std::pair<uint32_t, uint32_t>, int> first;
  constexpr int draws = 8000;
  for (const EditSequence &sequence :
       policy->draw(std::vector<EditStart>(draws, start), archive, rng)) {
    ASSERT_GE(sequence.edits.size(), 1u);
    ASSERT_LE(sequence.edits.size(), EditPolicy::maxEdits);
    ASSERT_NE(sequence.result(), start.point);
    ++first[{sequence.edits[0].variable, sequence.edits[0].value}];
  }
  // 2 other values of tp, 1 of ep, 1 of batch, 2 of each of two ops.
  EXPECT_EQ(first.size(), 8u);
  for (const auto &[edit, count] : first)
    EXPECT_NEAR(count, draws / 8.0, 150);
}

TEST_F(LearnedEditsTest, DrawsFromWhatTheNetworkHasLearned) {
  auto policy = make();
  // The output bias of tp's third value, the position 2.
  std::vector<double> &bias = network->parameters.back();
  bias[2] = 20;
  policy->reload();
  Rng rng(3);
  for (const EditSequence &sequence :
       policy->draw(std::vector<EditStart>(100, start), archive, rng))
    EXPECT_EQ(sequence.result()[0], 2u);
}

/// A step from value 0 to value 1 of tp, wherever tp stands.
TEST_F(LearnedEditsTest, KnowsTheStepsOfDegrees) {
  auto policy = make();
  std::vector<double> &bias = network->parameters.back();
  // Behind the 3 + 2 + 1 + 2 + 3 + 3 values and the end come the steps of tp,
  // from -2 to 2.
  bias[15 + 3] = 20;
  policy->reload();
  Rng rng(3);
  for (uint32_t tp : {0u, 1u}) {
    start.point[0] = tp;
    for (const EditSequence &sequence :
         policy->draw(std::vector<EditStart>(100, start), archive, rng))
      EXPECT_EQ(sequence.edits[0].variable, 0u);
    EXPECT_EQ(policy->draw({start}, archive, rng).front().edits[0].value,
              tp + 1);
  }
}

TEST_F(LearnedEditsTest, StopsLearningWhenItsNetworkFails) {
  auto policy = make();
  network->failure = "out of memory";
  for (int i = 0; i < 12; ++i)
    policy->learn(outcome(0), archive);
  ASSERT_TRUE(policy->failure());
  EXPECT_EQ(policy->failure()->message, "searcher 'ppo': out of memory");
  EXPECT_EQ(network->learningRates.size(), 1u);
}
