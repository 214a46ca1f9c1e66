//===- EditPolicyTest.cpp - Edits that know nothing -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/EditPolicy.h"
#include "../ToySimulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

using namespace shardopt;
using namespace shardopt::search;

namespace {
class UniformEditsTest : public testing::Test {
protected:
  static StrategySpace pinnedSpace() {
    SpaceRequest request;
    request.lists[Degree::Tp] = {1, 2, 4};
    request.lists[Degree::Pp] = {2};
    request.lists[Degree::Batch] = {1, 4, 16, 64};
    request.pinnedDims = {std::nullopt, Dim::One, std::nullopt};
    return makeSpace(3, request);
  }

  /// `n` sequences from one start.
  std::vector<EditSequence> draw(const StrategySpace &space, size_t n) {
    Point start = space.sample(rng);
    UniformEdits policy(space);
    NichedArchive archive(1, 4, Objective());
    return policy.draw(std::vector<EditStart>(n, {start, {}}), archive, rng);
  }

  Rng rng{7};
};
} // namespace

TEST_F(UniformEditsTest, GivesOneToThreeVariablesOtherValues) {
  StrategySpace space = pinnedSpace();
  for (const EditSequence &sequence : draw(space, 1000)) {
    ASSERT_GE(sequence.edits.size(), 1u);
    ASSERT_LE(sequence.edits.size(), EditPolicy::maxEdits);
    std::set<uint32_t> edited;
    for (const Edit &edit : sequence.edits) {
      EXPECT_TRUE(edited.insert(edit.variable).second);
      ASSERT_LT(edit.value, space.domainSize(edit.variable));
      EXPECT_NE(edit.value, sequence.start.point[edit.variable]);
      EXPECT_EQ(sequence.result()[edit.variable], edit.value);
    }
    for (uint32_t i = 0; i < space.numVariables(); ++i)
      if (!edited.count(i)) {
        EXPECT_EQ(sequence.result()[i], sequence.start.point[i]);
      }
  }
}

TEST_F(UniformEditsTest, LeavesPinnedVariablesAlone) {
  StrategySpace space = pinnedSpace();
  for (const EditSequence &sequence : draw(space, 1000))
    for (const Edit &edit : sequence.edits)
      EXPECT_GT(space.domainSize(edit.variable), 1u);
}

/// Within five standard deviations of a binomial count.
static void expectShare(size_t count, size_t draws, double share) {
  double deviation = std::sqrt(draws * share * (1 - share));
  EXPECT_NEAR(double(count), draws * share, 5 * deviation);
}

TEST_F(UniformEditsTest, DrawsEveryEditAndTheEndEquallyOften) {
  constexpr size_t draws = 20000;
  StrategySpace space = pinnedSpace();
  size_t choices = 0;
  for (size_t i = 0; i < space.numVariables(); ++i)
    choices += space.domainSize(i) - 1;
  std::map<std::pair<uint32_t, uint32_t>, size_t> first;
  constexpr size_t tp = 0;
  size_t afterTp = 0, endsAfterTp = 0;
  for (const EditSequence &sequence : draw(space, draws)) {
    const Edit &edit = sequence.edits.front();
    ++first[{edit.variable, edit.value}];
    afterTp += edit.variable == tp;
    endsAfterTp += edit.variable == tp && sequence.edits.size() == 1;
  }
  EXPECT_EQ(first.size(), choices);
  for (const auto &[edit, count] : first)
    expectShare(count, draws, 1.0 / choices);
  // Both other values of tp are gone, the end has come.
  expectShare(endsAfterTp, afterTp, 1.0 / (choices - 2 + 1));
}

TEST_F(UniformEditsTest, HasNoEditsWhereThereIsNoChoice) {
  SpaceRequest request;
  request.lists[Degree::Tp] = request.lists[Degree::Ep] =
      request.lists[Degree::Pp] = request.lists[Degree::Batch] = {1};
  request.pinnedDims = {Dim::Zero};
  for (const EditSequence &sequence : draw(makeSpace(1, request), 3))
    EXPECT_TRUE(sequence.edits.empty());
}
