//===- Solver.cpp - Back-ends one after the other -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Schedule/Solver.h"

#include "shardopt/Schedule/Backends.h"

#include <algorithm>
#include <limits>

using namespace shardopt;
using namespace shardopt::schedule;

double SolverResult::gap() const {
  return value > 0 ? double(value - bound) / double(value) : 0;
}

std::vector<std::string> schedule::backendNames() {
  return {"portfolio", "rules", "local"};
}

std::string schedule::missingLibrary(const std::string &) { return ""; }

static std::vector<std::unique_ptr<Backend>>
makeBackends(const SolverOptions &options) {
  std::vector<std::unique_ptr<Backend>> backends;
  auto isAsked = [&](const char *name) {
    return options.backend == "portfolio" || options.backend == name;
  };
  backends.push_back(makeSequential());
  backends.push_back(makeFreePlacement(options.seed));
  if (isAsked("rules"))
    backends.push_back(makeRuleSweep(options.threads));
  if (isAsked("local"))
    backends.push_back(
        makeOrderSearch(options.seed, std::numeric_limits<int64_t>::max()));
  return backends;
}

static std::string whyStopped(const Incumbent &incumbent,
                              const Budget &budget) {
  if (incumbent.isProved())
    return "proved";
  if (budget.stopToken() && budget.stopToken()->requested())
    return "signal";
  return budget.isOver() ? "time" : "rounds";
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
  for (const auto &[name, schedule] : options.known)
    incumbent.offer(schedule, name);
  double before = 0;
  for (const std::unique_ptr<Backend> &backend : makeBackends(options)) {
    if (incumbent.isProved() || (incumbent.exists() && budget.isOver()))
      break;
    backend->improve(incumbent, budget);
    double now = budget.seconds();
    result.phases.push_back({backend->name(), now - before});
    before = now;
  }
  result.bounds = incumbent.bounds();
  result.bound = incumbent.bound();
  result.stopped = whyStopped(incumbent, budget);
  if (incumbent.numRejected())
    result.mistake = Error{incumbent.rejection()};
  if (!incumbent.exists())
    return result;
  result.schedule = incumbent.schedule();
  result.verdict = incumbent.verdict();
  result.value = incumbent.value();
  result.proved = incumbent.isProved();
  result.finder = incumbent.finder();
  return result;
}
