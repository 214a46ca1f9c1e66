//===- Driver.cpp - Run a searcher against a simulator --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Driver.h"
#include "ParallelFor.h"
#include "shardopt/Search/EvaluationCache.h"
#include "shardopt/Search/ExactSearch.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace shardopt::search {

const char *spell(StopReason reason) {
  switch (reason) {
  case StopReason::Done:
    return "done";
  case StopReason::Budget:
    return "budget";
  case StopReason::Requested:
    return "requested";
  }
  return "";
}

std::optional<double> gap(const SearchResult &result,
                          const Objective &objective) {
  if (!result.best || !result.bound)
    return std::nullopt;
  return *result.bound / objective.value(result.best->evaluation) - 1;
}

namespace {

/// Evaluates behind the cache and keeps the books of a search.
class Recorder {
public:
  Recorder(const Simulator &simulator, const Objective &objective,
           const DriverOptions &options)
      : simulator(simulator), objective(objective), options(options) {}

  bool stopRequested() const {
    return options.stopRequested && options.stopRequested();
  }

  /// The evaluations of `strategies`, in order; fewer, but at least one, if a
  /// stop is requested meanwhile.
  std::vector<Evaluation> evaluate(const std::vector<Strategy> &strategies) {
    EvaluationCache simulated = prefetch(strategies);
    std::vector<Evaluation> evaluations;
    for (const Strategy &strategy : strategies) {
      if (!evaluations.empty() && stopRequested())
        break;
      evaluations.push_back(evaluateOne(strategy, simulated));
    }
    return evaluations;
  }

  SearchResult result;

private:
  /// Simulates what is new among `strategies` on several threads. What counts,
  /// and in which order, is left to `evaluateOne`.
  EvaluationCache prefetch(const std::vector<Strategy> &strategies) const {
    EvaluationCache simulated;
    if (options.threads <= 1)
      return simulated;
    std::unordered_set<Strategy, StrategyHash> seen;
    std::vector<const Strategy *> fresh;
    for (const Strategy &strategy : strategies)
      if (!cache.find(strategy) && seen.insert(strategy).second)
        fresh.push_back(&strategy);
    std::vector<std::optional<Evaluation>> evaluations(fresh.size());
    parallelFor(fresh.size(), options.threads, [&](size_t i) {
      if (i == 0 || !stopRequested())
        evaluations[i] = simulator.evaluate(*fresh[i]);
    });
    for (size_t i = 0; i < fresh.size(); ++i)
      if (evaluations[i])
        simulated.insert(*fresh[i], *evaluations[i]);
    return simulated;
  }

  const Evaluation &evaluateOne(const Strategy &strategy,
                                const EvaluationCache &simulated) {
    const Evaluation *evaluation = cache.find(strategy);
    bool repeated = evaluation;
    if (!evaluation) {
      const Evaluation *known = simulated.find(strategy);
      cache.insert(strategy, known ? *known : simulator.evaluate(strategy));
      evaluation = cache.find(strategy);
    }
    std::optional<Plan> &slot =
        evaluation->valid ? result.best : result.leastViolating;
    if (!slot || objective.better(*evaluation, slot->evaluation))
      slot = Plan{strategy, *evaluation};
    if (options.trace)
      options.trace({result.evaluations, strategy, *evaluation, repeated,
                     result.best ? &result.best->evaluation : nullptr});
    ++result.evaluations;
    result.distinctEvaluations = cache.size();
    return *evaluation;
  }

  const Simulator &simulator;
  const Objective &objective;
  const DriverOptions &options;
  EvaluationCache cache;
};

} // namespace

SearchResult runSearch(Searcher &searcher, const Simulator &simulator,
                       const Objective &objective,
                       const DriverOptions &options) {
  // Enough for every thread; searchers do not depend on it.
  const size_t askSize = size_t(64) * std::max(1u, options.threads);
  Recorder recorder(simulator, objective, options);
  SearchResult &result = recorder.result;
  while (true) {
    if (recorder.stopRequested()) {
      result.stopped = StopReason::Requested;
      break;
    }
    uint64_t left = options.budget - result.evaluations;
    if (searcher.done() || left == 0) {
      result.stopped = searcher.done() ? StopReason::Done : StopReason::Budget;
      break;
    }
    std::vector<Strategy> strategies =
        searcher.ask(std::min<uint64_t>(askSize, left));
    assert(strategies.size() <= left && "more strategies than asked for");
    if (strategies.empty()) {
      result.stopped =
          recorder.stopRequested() ? StopReason::Requested : StopReason::Done;
      break;
    }
    searcher.tell(strategies, recorder.evaluate(strategies));
  }

  if (result.best)
    result.leastViolating = std::nullopt;
  result.rejected = searcher.rejected();
  Certificate certificate = searcher.certificate();
  result.bound = certificate.bound;
  result.proved = certificate.proved;
  return std::move(result);
}

void certify(SearchResult &result, const StrategySpace &space,
             const Simulator &simulator, const Objective &objective,
             const DriverOptions &options) {
  const Decomposition *decomposition = simulator.decomposition();
  if (result.bound || result.proved || !decomposition)
    return;
  ExactResult exact = findOptimum(space, *decomposition, objective.goal,
                                  options.threads, options.stopRequested);
  result.bound = exact.bound;
  if (!exact.proved)
    return;
  result.proved = result.best
                      ? exact.best && !objective.better(exact.best->evaluation,
                                                        result.best->evaluation)
                      : !exact.best;
}

} // namespace shardopt::search
