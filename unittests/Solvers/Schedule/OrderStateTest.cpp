//===- OrderStateTest.cpp - Moves against their naive twin ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/OrderState.h"
#include "RandomGraph.h"
#include "shardopt/Solvers/Schedule/ListScheduler.h"
#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::schedule;

/// What `retime` and `validate` make of the orders after a move.
static std::optional<int64_t> tryNaively(const Instance &instance,
                                         const OrderState &state,
                                         OrderState::Move move) {
  MachineOrders orders = state.orders();
  std::vector<int32_t> &order = orders[move.machine];
  int32_t op = order[move.from];
  order.erase(order.begin() + move.from);
  order.insert(order.begin() + move.to, op);
  std::optional<Schedule> schedule =
      retime(instance, instance.placement(), orders);
  if (!schedule)
    return std::nullopt;
  ErrorOr<Verdict> verdict = validate(instance, *schedule);
  if (!verdict)
    return std::nullopt;
  return verdict->makespan;
}

TEST(OrderState, MovesAreWorthWhatTimingAllSays) {
  int good = 0, bad = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomGraphOptions options;
    options.ops = 12;
    options.copies = 2;
    options.edgePercent = 12;
    options.memory = 9;
    Instance instance = makeRandomInstance(seed, options);
    DispatchRule rule;
    rule.keys.assign(instance.numOps(), 0);
    std::optional<Schedule> schedule =
        dispatch(instance, instance.placement(), rule);
    if (!schedule)
      continue;
    OrderState state(instance, *schedule);
    EXPECT_EQ(state.makespan(), makespanOf(instance, state.schedule()));
    Rng rng(seed);
    constexpr int64_t endless = int64_t(1) << 60;
    for (int round = 0; round < 200; ++round) {
      int32_t op = int32_t(rng.below(instance.numOps()));
      int32_t machine = state.machineOf(op);
      OrderState::Move move = {
          machine, state.positionOf(op),
          int32_t(rng.below(state.orders()[machine].size()))};
      std::optional<int64_t> naive = tryNaively(instance, state, move);
      std::optional<int64_t> makespan = state.tryMove(move, endless);
      ASSERT_EQ(makespan, naive) << "seed " << seed << ", round " << round;
      ++(naive ? good : bad);
      if (!makespan || rng.below(2))
        continue;
      state.commit();
      ASSERT_EQ(state.makespan(), *makespan);
      ASSERT_EQ(makespanOf(instance, state.schedule()), *makespan);
    }
  }
  EXPECT_GE(good, 500);
  EXPECT_GE(bad, 500);
}
