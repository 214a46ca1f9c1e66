//===- OrderSearch.cpp - Better orders by moves on a longest path ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only an order on a longest path can be what keeps the makespan from being
// less: a step takes an operator there to another position of its machine,
// among those that run without a pause around it. Annealing takes steps that
// cost little. Cycles of cooling follow each other, each from the best orders.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Backends.h"
#include "shardopt/Solvers/Schedule/OrderState.h"
#include "shardopt/Support/Rng.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class OrderSearch : public Backend {
public:
  OrderSearch(uint64_t seed, int64_t standardRounds)
      : seed(seed), standardRounds(standardRounds) {}
  const char *name() const override { return "local"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;

private:
  uint64_t seed;
  int64_t standardRounds;
};

} // namespace

/// A move of an operator of `path` along its machine, by one place mostly and
/// seldom past more; nothing where it would pass its own repetition.
static std::optional<OrderState::Move>
chooseMove(const OrderState &state, const std::vector<int32_t> &path,
           Rng &rng) {
  int32_t op = path[rng.below(path.size())];
  int32_t machine = state.machineOf(op), from = state.positionOf(op);
  const std::vector<int32_t> &order = state.orders()[machine];
  bool isBack = rng.below(2);
  int32_t distance = 1;
  while (distance < 64 && rng.below(2))
    distance *= 2;
  distance = 1 + int32_t(rng.below(distance));
  int32_t to = from, period = state.period();
  while (distance-- > 0) {
    int32_t next = isBack ? to - 1 : to + 1;
    if (next < 0 || next >= int32_t(order.size()) ||
        order[next] % period == op % period)
      break;
    to = next;
  }
  if (to == from)
    return std::nullopt;
  return OrderState::Move{machine, from, to};
}

void OrderSearch::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  if (!incumbent.exists() || incumbent.objective() == Criterion::Memory)
    return;
  Rng rng(seed);
  int64_t rounds = budget.rounds() ? budget.rounds() : standardRounds;
  // A cycle cools from `hot` to a tenth of it.
  int64_t cycle = 30'000;
  std::optional<OrderState> state;
  std::vector<int32_t> path;
  double hot = 0;
  for (int64_t round = 0; round < rounds; ++round) {
    if (incumbent.isProved() || budget.isOver())
      return;
    if (round % cycle == 0) {
      if (!state || incumbent.objective() == Criterion::Makespan) {
        state.emplace(instance, incumbent.schedule());
        path = state->criticalPath();
      }
      hot = double(state->makespan()) * (0.0005 + 0.004 * rng.real());
    }
    double part = double(round % cycle) / double(cycle);
    double heat = hot * (1 - 0.9 * part);
    std::optional<OrderState::Move> move = chooseMove(*state, path, rng);
    if (!move)
      continue;
    int64_t limit =
        state->makespan() + int64_t(-heat * std::log(1 - rng.real()));
    if (!state->tryMove(*move, limit))
      continue;
    state->commit();
    path = state->criticalPath();
    if (state->makespan() < incumbent.verdict().makespan ||
        (incumbent.objective() == Criterion::OwnSpan && round % 16 == 0))
      incumbent.offer(state->schedule(), name());
  }
}

std::unique_ptr<Backend> schedule::makeOrderSearch(uint64_t seed,
                                                   int64_t standardRounds) {
  return std::make_unique<OrderSearch>(seed, standardRounds);
}
