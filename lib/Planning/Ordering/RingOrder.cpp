//===- RingOrder.cpp - Decoding without an end ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/RingOrder.h"

#include "shardopt/Planning/Ordering/Replay.h"
#include "shardopt/Solvers/Schedule/Bounds.h"
#include "shardopt/Solvers/Schedule/ListScheduler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace shardopt;
using namespace shardopt::ordering;
using namespace shardopt::schedule;

namespace {

/// What is tried, before it is ordered.
struct Candidate {
  int64_t inFlight = 1;
  StepGraph step;
  int64_t bound = 0;
};

} // namespace

static ErrorOr<std::vector<Candidate>>
makeCandidates(const cost::CostModel &costs, const Strategy &strategy,
               const RingOptions &options) {
  std::vector<Candidate> candidates;
  std::optional<Error> error;
  for (int64_t inFlight : options.inFlight)
    for (int64_t chunks : options.chunks) {
      StepOptions own{chunks, options.reorders};
      own.microBatches = inFlight;
      ErrorOr<StepGraph> step = makeStepGraph(costs, strategy, own);
      if (!step) {
        if (!error)
          error = step.error();
        continue;
      }
      int64_t bound = leastTurn(step->graph, step->copies);
      candidates.push_back({inFlight, std::move(*step), bound});
    }
  if (candidates.empty())
    return error ? *error : Error{"no number of micro-batches is given"};
  return candidates;
}

/// Groups one after the other on each machine.
static MachineOrders ordersAsWritten(const Instance &instance) {
  MachineOrders orders(size_t(instance.numMachines()));
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    const PlanOp &plan = instance.at(op);
    orders[plan.group * numMachineKinds + int32_t(plan.machine)].push_back(op);
  }
  return orders;
}

/// What ready operators come first: those that lone groups would come to first,
/// each group so much later than the one before. In lockstep all groups send at
/// once, and far apart only the last one fills the gaps of the others.
static std::vector<Schedule> listTurns(const RingFrame &frame, int32_t groups,
                                       const Budget &budget) {
  const Instance &instance = frame.instance;
  std::vector<int32_t> devices = instance.placement();
  Windows windows = computeWindows(instance, devices);
  int32_t each = instance.numOps() / groups;
  int64_t longest = 0;
  for (int64_t tail : windows.tails)
    longest = std::max(longest, tail);
  std::vector<Schedule> turns;
  constexpr int halvings = 10;
  for (bool isFromEnd : {false, true})
    for (int k = 0; k <= halvings; ++k) {
      if (budget.isOver())
        return turns;
      DispatchRule rule;
      int64_t apart = k ? longest >> (k - 1) : 0;
      for (int32_t op = 0; op < instance.numOps(); ++op)
        rule.keys.push_back(
            (isFromEnd ? -windows.tails[op] : windows.heads[op]) +
            op / each * apart);
      if (std::optional<Schedule> turn =
              dispatch(instance, devices, rule, 0, &budget))
        turns.push_back(std::move(*turn));
    }
  return turns;
}

/// The turn of groups one after the other where a stage does one thing at a
/// time.
static int64_t serialTurn(PlanGraph graph, int32_t groups) {
  for (PlanOp &op : graph.ops)
    op.machine = MachineKind::Compute;
  ErrorOr<RingFrame> frame = makeRingFrame(graph, groups, false);
  std::optional<RingTurn> turn;
  if (frame)
    turn = planTurn(*frame, ordersAsWritten(frame->instance));
  return turn ? turn->period : 0;
}

/// Takes the orders that are found for a frame if their turn is shorter. Those
/// as written are tried whatever is left of `budget`, so that a turn is found.
static std::optional<Error> improve(OrderedRing &ring,
                                    const SolverOptions &options,
                                    const Budget &budget, bool isStaggered) {
  ErrorOr<RingFrame> frame =
      makeRingFrame(ring.step.graph, ring.groups(), isStaggered);
  if (!frame)
    return frame.error();
  auto offer = [&](const MachineOrders &orders, const std::string &finder) {
    std::optional<RingTurn> turn = planTurn(
        *frame, orders, ring.turn.period, ring.turn.period ? &budget : nullptr);
    if (!turn)
      return;
    ring.turn = std::move(*turn);
    ring.frame = *frame;
    ring.isStaggered = isStaggered;
    ring.finder = finder;
  };
  offer(ordersAsWritten(frame->instance), "program_order");
  if (!isStaggered)
    ring.programOrder = ring.turn.period;
  if (ring.isProved() || (isStaggered && ring.groups() == 1))
    return std::nullopt;
  SolverOptions own = options;
  for (Schedule &turn : listTurns(*frame, ring.groups(), budget)) {
    offer(ordersOf(frame->instance, turn), "lists");
    own.known.push_back({"lists", std::move(turn)});
  }
  if (ring.isProved() || budget.isOver())
    return std::nullopt;
  if (options.timeLimit > 0)
    own.timeLimit = budget.secondsLeft();
  SolverResult result = schedule::solve(frame->instance, own);
  if (result.schedule)
    offer(ordersOf(frame->instance, *result.schedule), result.finder);
  return std::nullopt;
}

static ErrorOr<OrderedRing> orderRing(const cost::CostModel &costs,
                                      const Strategy &strategy,
                                      const SolverOptions &options,
                                      Candidate candidate) {
  ErrorOr<RingFrame> frame =
      makeRingFrame(candidate.step.graph, candidate.step.copies, false);
  if (!frame)
    return frame.error();
  Budget budget(options.timeLimit, 0, options.stop);
  OrderedRing ring{std::move(*frame)};
  ring.step = std::move(candidate.step);
  ring.inFlight = candidate.inFlight;
  ring.bound = candidate.bound;
  ring.serial = serialTurn(ring.step.graph, ring.groups());
  for (bool isStaggered : {false, true}) {
    if (ring.turn.period && ring.isProved())
      break;
    if (std::optional<Error> error = improve(
            ring, options, budget.part(isStaggered ? 1 : 0.5), isStaggered))
      return *error;
  }
  ring.replayed = std::llround(replayTurn(ring.frame, ring.turn, 0).makespan);
  ring.contended =
      replayTurn(ring.frame, ring.turn, kernelInterference).makespan;
  ring.throughput = double(strategy.degrees.batch) * 1e9 /
                    double(ring.turn.period) /
                    double(strategy.degrees.devices());
  return ring;
}

ErrorOr<std::vector<OrderedRing>>
ordering::orderRings(const cost::CostModel &costs, const Strategy &strategy,
                     const RingOptions &options) {
  if (costs.context(strategy.degrees).isPrefill())
    return Error{"a ring is of decode, found prefill"};
  ErrorOr<std::vector<Candidate>> candidates =
      makeCandidates(costs, strategy, options);
  if (!candidates)
    return candidates.error();
  // Those that promise most come first, so that most others are left out.
  std::vector<size_t> turns(candidates->size());
  std::iota(turns.begin(), turns.end(), size_t(0));
  std::stable_sort(turns.begin(), turns.end(), [&](size_t a, size_t b) {
    return (*candidates)[a].bound < (*candidates)[b].bound;
  });
  std::vector<std::optional<OrderedRing>> found(candidates->size());
  std::optional<std::pair<int64_t, size_t>> best;
  for (size_t k : turns) {
    Candidate &candidate = (*candidates)[k];
    if (options.atMost && double(candidate.bound) > *options.atMost)
      continue;
    if (options.prunes && best && std::pair(candidate.bound, k) > *best)
      continue;
    if (best && options.solver.stop && options.solver.stop->requested())
      break;
    ErrorOr<OrderedRing> ring =
        orderRing(costs, strategy, options.solver, std::move(candidate));
    if (!ring)
      return ring.error();
    std::pair value(ring->turn.period, k);
    best = best ? std::min(*best, value) : value;
    found[k] = std::move(*ring);
  }
  std::vector<OrderedRing> rings;
  for (std::optional<OrderedRing> &ring : found)
    if (ring)
      rings.push_back(std::move(*ring));
  return rings;
}

size_t ordering::fastest(const std::vector<OrderedRing> &rings) {
  return size_t(std::min_element(rings.begin(), rings.end(),
                                 [](const auto &a, const auto &b) {
                                   return a.turn.period < b.turn.period;
                                 }) -
                rings.begin());
}
