//===- Driver.cpp - Run a searcher against a simulator --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Driver.h"
#include "ParallelFor.h"
#include "shardopt/Search/EvaluationCache.h"

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

const char *spell(Accounting accounting) {
  switch (accounting) {
  case Accounting::Asked:
    return "asked";
  case Accounting::New:
    return "new";
  case Accounting::Draws:
    return "draws";
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

/// Strategies asked for at most where only new ones are charged, as a multiple
/// of the budget.
constexpr uint64_t maxAskedPerBudget = 25;

/// The strategies asked for at a time: enough for every thread, and not a
/// matter of their number, on which no trace may depend.
constexpr uint64_t maxAsked = 256;

/// Evaluates behind the cache and keeps the books of a search.
class Recorder {
public:
  Recorder(const Simulator &simulator, const Objective &objective,
           const DriverOptions &options)
      : simulator(simulator), objective(objective), options(options) {}

  bool stopRequested() const {
    return options.stopRequested && options.stopRequested();
  }

  /// The strategies that may be asked for next; 0: the budget is spent.
  uint64_t allowance() const {
    uint64_t left = options.budget - charged();
    switch (options.accounting) {
    case Accounting::Asked:
      return std::min(left, maxAsked);
    case Accounting::New:
      return std::min({left, maxAsked, askedCap() - result.evaluations});
    case Accounting::Draws:
      return std::min<uint64_t>(left, 1);
    }
    return 0;
  }

  /// Notes the draws that the searcher rejected so far. Whether the budget
  /// still allows what was asked for.
  bool allowsAfter(uint64_t rejected) {
    result.rejected = rejected;
    return options.accounting != Accounting::Draws ||
           charged() < options.budget;
  }

  /// What is charged so far, at most the budget.
  uint64_t charged() const {
    switch (options.accounting) {
    case Accounting::Asked:
      return result.evaluations;
    case Accounting::New:
      return newEvaluations;
    case Accounting::Draws:
      return std::min(result.evaluations + result.rejected, options.budget);
    }
    return 0;
  }

  /// The evaluations of `strategies`, in order; fewer if a stop is requested
  /// meanwhile, but at least one unless the simulator gave up because of it.
  std::vector<Evaluation> evaluate(const std::vector<Strategy> &strategies) {
    EvaluationCache simulated = prefetch(strategies);
    std::vector<Evaluation> evaluations;
    for (const Strategy &strategy : strategies) {
      if (!evaluations.empty() && stopRequested())
        break;
      const Evaluation *evaluation = evaluateOne(strategy, simulated);
      if (!evaluation)
        break;
      evaluations.push_back(*evaluation);
    }
    return evaluations;
  }

  SearchResult result;

private:
  /// The strategies asked for at most where only new ones are charged.
  uint64_t askedCap() const {
    return std::min(options.budget, UINT64_MAX / maxAskedPerBudget) *
           maxAskedPerBudget;
  }

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

  /// Null if there is none because of a stop: what a black box was interrupted
  /// in says nothing of the strategy, and must not be remembered.
  const Evaluation *evaluateOne(const Strategy &strategy,
                                const EvaluationCache &simulated) {
    const Evaluation *evaluation = cache.find(strategy);
    bool repeated = evaluation;
    if (!evaluation) {
      const Evaluation *known = simulated.find(strategy);
      Evaluation fresh = known ? *known : simulator.evaluate(strategy);
      if (fresh.reason == Reason::Failed && stopRequested())
        return nullptr;
      cache.insert(strategy, fresh);
      evaluation = cache.find(strategy);
    }
    std::optional<Plan> &slot =
        evaluation->valid ? result.best : result.leastViolating;
    if (!slot || objective.better(*evaluation, slot->evaluation))
      slot = Plan{strategy, *evaluation};
    bool hopeless = options.isHopeless && options.isHopeless(strategy.degrees);
    uint64_t index = result.evaluations++;
    result.distinctEvaluations = cache.size();
    result.hopelessEvaluations += hopeless;
    newEvaluations += !repeated && !hopeless;
    if (options.trace)
      options.trace({index, strategy, *evaluation, repeated, hopeless,
                     charged(), result.rejected,
                     result.best ? &result.best->evaluation : nullptr});
    return evaluation;
  }

  const Simulator &simulator;
  const Objective &objective;
  const DriverOptions &options;
  EvaluationCache cache;
  uint64_t newEvaluations = 0; ///< neither repeated nor hopeless
};

} // namespace

SearchResult runSearch(Searcher &searcher, const Simulator &simulator,
                       const Objective &objective,
                       const DriverOptions &options) {
  Recorder recorder(simulator, objective, options);
  SearchResult &result = recorder.result;
  while (true) {
    if (recorder.stopRequested()) {
      result.stopped = StopReason::Requested;
      break;
    }
    uint64_t allowance = recorder.allowance();
    if (searcher.done() || allowance == 0) {
      result.stopped = searcher.done() ? StopReason::Done : StopReason::Budget;
      break;
    }
    std::vector<Strategy> strategies = searcher.ask(allowance);
    assert(strategies.size() <= allowance && "more strategies than asked for");
    bool isAllowed = recorder.allowsAfter(searcher.rejected());
    if (strategies.empty()) {
      result.stopped =
          recorder.stopRequested() ? StopReason::Requested : StopReason::Done;
      break;
    }
    if (!isAllowed) {
      result.stopped = StopReason::Budget;
      break;
    }
    std::vector<Evaluation> evaluations = recorder.evaluate(strategies);
    if (!evaluations.empty())
      searcher.tell(strategies, evaluations);
  }

  if (result.best)
    result.leastViolating = std::nullopt;
  result.rejected = searcher.rejected();
  result.charged = recorder.charged();
  Certificate certificate = searcher.certificate();
  result.bound = certificate.bound;
  result.proved = certificate.proved;
  return std::move(result);
}

void certify(SearchResult &result, const ExactResult &exact,
             const Objective &objective) {
  if (result.bound || result.proved)
    return;
  result.bound = exact.bound;
  if (!exact.proved)
    return;
  result.proved = result.best
                      ? exact.best && !objective.better(exact.best->evaluation,
                                                        result.best->evaluation)
                      : !exact.best;
}

void certify(SearchResult &result, const StrategySpace &space,
             const Simulator &simulator, const Objective &objective,
             const DriverOptions &options) {
  const Decomposition *decomposition = simulator.decomposition();
  if (result.bound || result.proved || !decomposition)
    return;
  certify(result,
          findOptimum(space, *decomposition, objective.goal, options.threads,
                      options.stopRequested),
          objective);
}

} // namespace shardopt::search
