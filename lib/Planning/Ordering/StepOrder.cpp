//===- StepOrder.cpp - The order in which stages work ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/StepOrder.h"

#include "shardopt/Planning/Ordering/Replay.h"
#include "shardopt/Solvers/Schedule/MachineOrders.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::ordering;
using namespace shardopt::schedule;

/// Micro-batches one after the other, each in the order of the program.
static std::optional<Schedule> orderAsWritten(const Instance &instance) {
  MachineOrders orders(instance.numMachines());
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    const PlanOp &plan = instance.at(op);
    orders[plan.group * numMachineKinds + int32_t(plan.machine)].push_back(op);
  }
  return retime(instance, instance.placement(), orders);
}

/// Its makespan where a stage does one thing at a time.
static int64_t serialMakespan(const Instance &instance) {
  PlanGraph graph = instance.graph();
  for (PlanOp &op : graph.ops)
    op.machine = MachineKind::Compute;
  ErrorOr<Instance> serial =
      Instance::expand(std::move(graph), instance.copies());
  std::optional<Schedule> schedule;
  if (serial)
    schedule = orderAsWritten(*serial);
  return schedule ? makespanOf(*serial, *schedule) : 0;
}

std::vector<Baseline> ordering::stepBaselines(const Instance &instance) {
  Baseline serial, written;
  serial.name = "serial";
  serial.makespan = serialMakespan(instance);
  written.name = "program_order";
  written.schedule = orderAsWritten(instance);
  if (written.schedule)
    if (ErrorOr<Verdict> verdict = validate(instance, *written.schedule)) {
      written.makespan = verdict->makespan;
      written.bubble = verdict->bubble();
      written.peak = verdict->peakMemory();
      serial.bubble = written.bubble + serial.makespan - written.makespan;
      serial.peak = written.peak;
    }
  return {std::move(serial), std::move(written)};
}

static ErrorOr<OrderedStep> orderChunks(const cost::CostModel &costs,
                                        const Strategy &strategy,
                                        const OrderOptions &options,
                                        int64_t chunks) {
  ErrorOr<StepGraph> step =
      makeStepGraph(costs, strategy, {chunks, options.reorders});
  if (!step)
    return step.error();
  ErrorOr<Instance> instance =
      Instance::expand(std::move(step->graph), step->copies);
  if (!instance)
    return instance.error();
  OrderedStep ordered{std::move(*step), std::move(*instance), {}};
  const Instance &problem = ordered.instance;
  SolverOptions solver = options.solver;
  std::vector<Baseline> known = stepBaselines(problem);
  ordered.serial = known.front().makespan;
  ordered.programOrder = known.back().makespan;
  if (known.back().schedule)
    solver.known.push_back({known.back().name, *known.back().schedule});
  ordered.result = schedule::solve(problem, solver);
  SolverResult &result = ordered.result;
  if (!result.schedule)
    return result.shortage
               ? *result.shortage
               : Error{"no order was found: stopped by " + result.stopped};
  auto take = [&](Schedule schedule) {
    ErrorOr<Verdict> verdict = validate(problem, schedule);
    if (!verdict)
      return;
    result.schedule = std::move(schedule);
    result.verdict = std::move(*verdict);
    result.value = result.verdict.makespan;
    result.proved = result.value <= result.bound;
  };
  if (std::optional<Schedule> early = retime(
          problem, problem.placement(), ordersOf(problem, *result.schedule)))
    take(std::move(*early));
  // Some back-ends are asked for what they find themselves; no answer is worse
  // than the program as it is written.
  if (known.back().schedule && ordered.programOrder < result.value) {
    take(*known.back().schedule);
    result.finder = known.back().name;
  }
  ordered.replayed =
      std::llround(replay(problem, *result.schedule, 0).makespan);
  ordered.contended =
      replay(problem, *result.schedule, kernelInterference).makespan;
  return ordered;
}

std::vector<std::vector<int32_t>> OrderedStep::orders() const {
  return ordersOf(instance, *result.schedule);
}

ErrorOr<std::vector<OrderedStep>>
ordering::orderStep(const cost::CostModel &costs, const Strategy &strategy,
                    const OrderOptions &options) {
  std::vector<OrderedStep> steps;
  std::optional<Error> error;
  for (int64_t chunks : options.chunks) {
    ErrorOr<OrderedStep> ordered =
        orderChunks(costs, strategy, options, chunks);
    if (ordered)
      steps.push_back(std::move(*ordered));
    else if (!error)
      error = ordered.error();
  }
  if (steps.empty())
    return error ? *error : Error{"no number of chunks is given"};
  return steps;
}

size_t ordering::fastest(const std::vector<OrderedStep> &steps) {
  size_t best = 0;
  for (size_t k = 1; k < steps.size(); ++k)
    if (steps[k].result.value < steps[best].result.value)
      best = k;
  return best;
}
