//===- EncodingTest.cpp - Strategies and edits as numbers -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/Encoding.h"
#include "ToySimulator.h"
#include "shardopt/Search/Agent/EditRows.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using namespace shardopt::agent;
using search::EditSequence;
using search::EditStart;
using search::Point;

TEST(ActionLayout, CountsPositionsVariableByVariable) {
  ActionLayout layout({2, 3, 1});
  EXPECT_EQ(layout.numPositions(), 6u);
  EXPECT_EQ(layout.end(), 6u);
  EXPECT_EQ(layout.numActions(), 7u);
  EXPECT_EQ(layout.position({1, 1}), 3u);
  EXPECT_EQ(layout.edit(3).variable, 1u);
  EXPECT_EQ(layout.edit(3).value, 1u);
  EXPECT_EQ(layout.positions({1, 2, 0}), (std::vector<uint32_t>{1, 4, 5}));
}

static std::vector<uint32_t> allowedActions(const EditState &state,
                                            const ActionLayout &layout) {
  std::vector<uint32_t> actions;
  for (uint32_t action = 0; action < layout.numActions(); ++action)
    if (state.allows(action, layout))
      actions.push_back(action);
  return actions;
}

TEST(EditState, AllowsOtherValuesAndNoEndAtFirst) {
  ActionLayout layout({2, 3, 1});
  EditState state({{1, 2, 0}, {}});
  EXPECT_EQ(allowedActions(state, layout), (std::vector<uint32_t>{0, 2, 3}));
}

TEST(EditState, EditsAVariableOnceAndMayThenEnd) {
  ActionLayout layout({2, 3, 1});
  EditState state({{1, 2, 0}, {}});
  state.apply({1, 0});
  EXPECT_EQ(state.point, (Point{1, 0, 0}));
  EXPECT_EQ(allowedActions(state, layout), (std::vector<uint32_t>{0, 6}));
}

TEST(EliteView, TellsHowFarAnEliteIsBehind) {
  search::Objective objective;
  objective.sloMs = 10;
  objective.memoryCapacityGb = 4;
  search::NichedArchive archive(5, 4, objective);
  archive.tell({0, 0, 0, 0, 1}, {true, Reason::None, 100, 10, 4});
  archive.tell({1, 0, 0, 0, 1}, {true, Reason::None, 50, 10, 4});
  archive.tell({2, 0, 0, 0, 1}, {false, Reason::Slo, 900, 20, 2});
  ActionLayout layout({3, 1, 1, 1, 2});
  EliteView view = EliteView::of(archive, 5, layout, objective);
  ASSERT_EQ(view.positions.size(), 3u);
  EXPECT_EQ(view.positions[1], (std::vector<uint32_t>{1, 3, 4, 5, 7}));
  EXPECT_NEAR(view.features[0][2], 0, 1e-12);
  EXPECT_NEAR(view.features[1][2], std::log(2.0), 1e-12);
  EXPECT_NEAR(view.features[2][0], std::log(0.5), 1e-12);
  EXPECT_NEAR(view.features[2][1], std::log(2.0), 1e-12);
  EXPECT_EQ(view.features[2][2], 2);
  EXPECT_NEAR(view.features[2][3], 0.4, 1e-12);
}

TEST(EliteView, HoldsTheBestOnly) {
  search::Objective objective;
  search::NichedArchive archive(5, 4, objective);
  for (uint32_t tp = 0; tp < 4; ++tp)
    archive.tell({tp, 0, 0, 0}, {true, Reason::None, 10.0 + tp, 1, 1});
  EliteView view =
      EliteView::of(archive, 2, ActionLayout({4, 1, 1, 1}), objective);
  ASSERT_EQ(view.positions.size(), 2u);
  EXPECT_EQ(view.positions[0][0], 3u);
}

class EditRowsTest : public testing::Test {
protected:
  EditRowsTest() {
    auto first = std::make_shared<EliteView>();
    first->positions = {{0, 2, 5}, {1, 3, 5}};
    first->features.resize(2);
    auto second = std::make_shared<EliteView>(*first);
    second->positions = {{1, 4, 5}, {0, 2, 5}, {1, 3, 5}};
    second->features.resize(3);
    views = {first, second};
  }

  ActionLayout layout{{2, 3, 1}};
  std::vector<std::shared_ptr<const EliteView>> views;
  EditRows rows{layout, 3};
  EditStart start{{1, 2, 0}, {0.5, -0.5}};
};

TEST_F(EditRowsTest, HasARowForEveryEditAndForTheEnd) {
  rows.add({{start, {{1, 0}}}}, views[0]);
  EditBatch batch = rows.batch();
  EXPECT_EQ(std::vector<uint32_t>(batch.actions.begin(), batch.actions.end()),
            (std::vector<uint32_t>{layout.position({1, 0}), layout.end()}));
  // The second row is of the strategy that the first edit made.
  EXPECT_EQ(
      std::vector<uint32_t>(batch.positions.begin(), batch.positions.end()),
      (std::vector<uint32_t>{1, 4, 5, 1, 2, 5}));
  EXPECT_EQ(std::vector<double>(batch.edited.begin(), batch.edited.end()),
            (std::vector<double>{0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(batch.slacks[2], 0.5);
  EXPECT_EQ(batch.allowed.size(), 2 * layout.numActions());
  EXPECT_EQ(batch.allowed[layout.end()], 0);
  EXPECT_EQ(batch.allowed[layout.numActions() + layout.end()], 1);
}

TEST_F(EditRowsTest, HasNoEndAfterAsManyEditsAsThereMayBe) {
  ActionLayout four({2, 2, 2, 2});
  EditRows rows(four, 3);
  EditStart start{{0, 0, 0, 0}, {}};
  rows.add({{start, {{0, 1}, {1, 1}, {2, 1}}}}, std::make_shared<EliteView>());
  EXPECT_EQ(rows.batch().actions.size(), 3u);
}

TEST_F(EditRowsTest, NumbersTrajectoriesAndHistories) {
  rows.add({{start, {{1, 0}}}, {start, {{0, 0}}}}, views[0]);
  rows.add({{start, {{1, 1}}}}, views[1]);
  rows.add({{start, {{1, 1}}}}, views[0]);
  EditBatch batch = rows.batch();
  EXPECT_EQ(
      std::vector<uint32_t>(batch.trajectory.begin(), batch.trajectory.end()),
      (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(
      std::vector<uint32_t>(batch.histories.begin(), batch.histories.end()),
      (std::vector<uint32_t>{0, 0, 0, 0, 1, 1, 0, 0}));
}

TEST_F(EditRowsTest, StoresAnEliteOfSeveralHistoriesOnce) {
  rows.add({{start, {{1, 0}}}}, views[0]);
  rows.add({{start, {{1, 0}}}}, views[1]);
  EditBatch batch = rows.batch();
  EXPECT_EQ(batch.elites.size(), 3 * 3u); // three different ones
  EXPECT_EQ(std::vector<uint32_t>(batch.members.begin(), batch.members.end()),
            (std::vector<uint32_t>{0, 1, 0, 2, 0, 1}));
  EXPECT_EQ(std::vector<double>(batch.present.begin(), batch.present.end()),
            (std::vector<double>{1, 1, 0, 1, 1, 1}));
}
