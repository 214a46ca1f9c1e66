//===- Solver.cpp - Back-ends one after the other -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Solver.h"

#include "shardopt/Solvers/Schedule/Backends.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

double SolverResult::gap() const {
  return value > 0 ? double(value - bound) / double(value) : 0;
}

std::vector<std::string> schedule::backendNames() {
  std::vector<std::string> names = {"portfolio", "rules", "local"};
  if (makeSatBackend())
    names.insert(names.end(), {"sat", "modulo"});
  if (makeMipBackend())
    names.push_back("mip");
  return names;
}

std::string schedule::missingLibrary(const std::string &backend) {
  if ((backend == "sat" || backend == "modulo") && !makeSatBackend())
    return "CaDiCaL (libcadical-dev)";
  if (backend == "mip" && !makeMipBackend())
    return "CBC (coinor-libcbc-dev)";
  return "";
}

namespace {

/// A back-end, and the part of the time left that it may take.
struct Turn {
  std::unique_ptr<Backend> backend;
  double part = 1;
};

} // namespace

/// In the order of what they find soonest. What improves without end comes
/// last.
static std::vector<Turn> makeTurns(const SolverOptions &options) {
  std::vector<Turn> turns;
  auto add = [&](std::unique_ptr<Backend> backend, double part) {
    if (backend)
      turns.push_back({std::move(backend), part});
  };
  constexpr int64_t fewSteps = 100'000, endless = INT64_MAX;
  const std::string &asked = options.backend;
  add(makeSequential(), 1);
  bool isExact = asked == "sat" || asked == "mip";
  add(makeFreePlacement(options.seed, !isExact), 0.25);
  if (options.objective == Criterion::Memory)
    add(makeLeastMemory(), 0.25);
  if (asked == "rules")
    add(makeRuleSweep(options.threads), 1);
  if (asked == "local")
    add(makeOrderSearch(options.seed, endless), 1);
  if (asked == "sat")
    add(makeSatBackend(), 1);
  if (asked == "modulo")
    add(makeModulo(), 1);
  if (asked == "mip")
    add(makeMipBackend(), 1);
  if (asked != "portfolio")
    return turns;
  add(makeRuleSweep(options.threads), 0.25);
  add(makeModulo(), 0.1);
  add(makeOrderSearch(options.seed, fewSteps), 0.25);
  add(makeSatBackend(), 0.5);
  if (!options.rounds)
    add(makeOrderSearch(options.seed + 1, endless), 1);
  return turns;
}

static std::string whyStopped(const Incumbent &incumbent,
                              const Budget &budget) {
  if (incumbent.isProved())
    return "proved";
  if (budget.stopToken() && budget.stopToken()->requested())
    return "signal";
  if (budget.isOver())
    return "time";
  return budget.rounds() ? "rounds" : "exhausted";
}

/// Of the schedules with as little memory, a short one: `least` is solved for
/// its makespan within that.
static void shorten(const Instance &instance, const SolverOptions &options,
                    const Budget &budget, SolverResult &least) {
  if (budget.isOver())
    return;
  Instance limited = instance.withAtMost(least.value);
  SolverOptions own = options;
  own.objective = Criterion::Makespan;
  own.timeLimit = options.timeLimit > 0 ? budget.secondsLeft() : 0;
  own.known = {{least.finder, *least.schedule}};
  SolverResult shorter = schedule::solve(limited, own);
  least.phases.insert(least.phases.end(), shorter.phases.begin(),
                      shorter.phases.end());
  if (!shorter.schedule || shorter.verdict.makespan >= least.verdict.makespan)
    return;
  least.schedule = std::move(shorter.schedule);
  least.verdict = std::move(shorter.verdict);
  least.finder = shorter.finder;
}

SolverResult schedule::solve(const Instance &instance,
                             const SolverOptions &options) {
  SolverResult result;
  if (std::optional<Error> error =
          checkCapacity(instance, instance.placement())) {
    result.shortage = error;
    return result;
  }
  Budget budget(options.timeLimit, options.rounds, options.stop);
  Incumbent incumbent(instance, options.objective);
  // The others are asked for what they find themselves.
  if (options.backend == "portfolio" || options.backend == "local")
    for (const auto &[name, schedule] : options.known)
      incumbent.offer(schedule, name);
  double before = 0;
  for (const Turn &turn : makeTurns(options)) {
    if (incumbent.isProved() || incumbent.isImpossible() ||
        (incumbent.exists() && budget.isOver()))
      break;
    turn.backend->improve(incumbent, budget.part(turn.part));
    double now = budget.seconds();
    result.phases.push_back({turn.backend->name(), now - before});
    before = now;
  }
  result.steady = incumbent.steadyState();
  result.bounds = incumbent.bounds();
  result.bound = incumbent.bound();
  result.stopped = whyStopped(incumbent, budget);
  if (incumbent.numRejected())
    result.mistake = Error{incumbent.rejection()};
  if (incumbent.isImpossible())
    result.shortage = Error{"no schedule fits: no order of the operators, on "
                            "any devices that they may have, keeps within the "
                            "memory of all devices"};
  if (!incumbent.exists())
    return result;
  result.schedule = incumbent.schedule();
  result.verdict = incumbent.verdict();
  result.value = incumbent.value();
  result.proved = incumbent.isProved();
  result.finder = incumbent.finder();
  if (options.objective == Criterion::Memory)
    shorten(instance, options, budget, result);
  return result;
}
