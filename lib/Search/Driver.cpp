//===- Driver.cpp - Run a searcher against a simulator --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Driver.h"
#include "EvaluationQueue.h"
#include "shardopt/Search/EvaluationCache.h"

#include <algorithm>
#include <cassert>
#include <deque>
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

/// One search: what is pending, what is known, and its books.
///
/// Strategies are evaluated on several threads and taken up, that is recorded
/// and told, in the order in which they were asked for. So neither the trace
/// nor what the searcher knows at any `ask` depends on how long an evaluation
/// takes.
class SearchLoop {
public:
  SearchLoop(Searcher &searcher, const Simulator &simulator,
             const Objective &objective, const DriverOptions &options)
      : searcher(searcher), objective(objective), options(options),
        window(std::max(1u, options.workers)),
        queue(simulator, std::max(options.threads, options.workers)) {}

  SearchResult run();

private:
  /// Asked for and not told yet.
  struct Pending {
    Strategy strategy;
    uint64_t rejected; ///< by the searcher, when it had returned this one
    bool isNew;        ///< whether it is in `queue`
  };

  bool stopRequested() const {
    return options.stopRequested && options.stopRequested();
  }
  std::optional<StopReason> askForMore();
  bool takeUpFirst();
  const Evaluation *evaluate(const Pending &first);
  void record(const Pending &first, const Evaluation &evaluation);
  uint64_t allowance() const;
  uint64_t charged(uint64_t rejected) const;
  uint64_t askedCap() const;

  Searcher &searcher;
  const Objective &objective;
  const DriverOptions &options;
  const size_t window;

  SearchResult result;
  uint64_t newEvaluations = 0; ///< neither repeated nor infeasible
  EvaluationCache cache;
  std::deque<Pending> pending;
  std::unordered_set<Strategy, StrategyHash> inQueue;
  EvaluationQueue queue; ///< the last: its threads end before the rest
};

} // namespace

/// What is charged so far, at most the budget.
uint64_t SearchLoop::charged(uint64_t rejected) const {
  switch (options.accounting) {
  case Accounting::Asked:
    return result.evaluations;
  case Accounting::New:
    return newEvaluations;
  case Accounting::Draws:
    return std::min(result.evaluations + rejected, options.budget);
  }
  return 0;
}

/// The strategies asked for at most where only new ones are charged.
uint64_t SearchLoop::askedCap() const {
  return std::min(options.budget, UINT64_MAX / maxAskedPerBudget) *
         maxAskedPerBudget;
}

/// The strategies that may be asked for next, should all that is pending be
/// charged; 0: the budget is spent.
uint64_t SearchLoop::allowance() const {
  uint64_t left = options.budget - charged(searcher.rejected());
  if (options.accounting == Accounting::New)
    left = std::min(left, askedCap() - result.evaluations);
  left -= std::min<uint64_t>(left, pending.size());
  return std::min(left, options.accounting == Accounting::Draws ? 1 : maxAsked);
}

/// Asks until something is pending, and for every worker. Returns why the
/// search ends, if nothing is pending.
std::optional<StopReason> SearchLoop::askForMore() {
  auto endFor = [&](StopReason reason) {
    return pending.empty() ? std::optional(reason) : std::nullopt;
  };
  while (pending.size() < window) {
    uint64_t most = allowance();
    if (searcher.done())
      return endFor(StopReason::Done);
    if (most == 0)
      return endFor(StopReason::Budget);
    if (!pending.empty())
      most = std::min<uint64_t>(most, window - pending.size());
    std::vector<Strategy> strategies = searcher.ask(most);
    assert(strategies.size() <= most && "more strategies than asked for");
    if (strategies.empty())
      return endFor(stopRequested() ? StopReason::Requested : StopReason::Done);
    uint64_t rejected = searcher.rejected();
    if (options.accounting == Accounting::Draws &&
        charged(rejected) == options.budget)
      return endFor(StopReason::Budget);
    for (Strategy &strategy : strategies) {
      bool isNew = !cache.find(strategy) && inQueue.insert(strategy).second;
      if (isNew)
        queue.push(strategy);
      pending.push_back({std::move(strategy), rejected, isNew});
    }
  }
  return std::nullopt;
}

/// Null if there is none because of a stop: what a black box was interrupted in
/// says nothing of the strategy, and must not be remembered.
const Evaluation *SearchLoop::evaluate(const Pending &first) {
  if (first.isNew) {
    Evaluation evaluation = withFiniteMetrics(queue.pop());
    if (evaluation.reason == Reason::Failed && stopRequested())
      return nullptr;
    inQueue.erase(first.strategy);
    cache.insert(first.strategy, evaluation);
  }
  return cache.find(first.strategy);
}

void SearchLoop::record(const Pending &first, const Evaluation &evaluation) {
  const Strategy &strategy = first.strategy;
  std::optional<Plan> &slot =
      evaluation.valid ? result.best : result.leastViolating;
  if (!slot || objective.better(evaluation, slot->evaluation))
    slot = Plan{strategy, evaluation};
  bool hopeless = options.isHopeless && options.isHopeless(strategy.degrees);
  uint64_t index = result.evaluations++;
  result.distinctEvaluations = cache.size();
  result.hopelessEvaluations += hopeless;
  newEvaluations += first.isNew && !hopeless;
  if (options.trace)
    options.trace({index, strategy, evaluation, !first.isNew, hopeless,
                   charged(first.rejected), first.rejected,
                   result.best ? &result.best->evaluation : nullptr});
}

/// Whether it could.
bool SearchLoop::takeUpFirst() {
  Pending first = std::move(pending.front());
  pending.pop_front();
  const Evaluation *evaluation = evaluate(first);
  if (!evaluation)
    return false;
  record(first, *evaluation);
  searcher.tell({first.strategy}, {*evaluation});
  return true;
}

SearchResult SearchLoop::run() {
  std::optional<StopReason> end;
  while (!end) {
    if (stopRequested())
      end = StopReason::Requested;
    else if (!(end = askForMore()) && !takeUpFirst())
      end = StopReason::Requested;
  }
  result.stopped = *end;
  if (result.best)
    result.leastViolating = std::nullopt;
  result.rejected = searcher.rejected();
  result.counts = searcher.counts();
  result.charged = charged(result.rejected);
  Certificate certificate = searcher.certificate();
  result.bound = certificate.bound;
  result.proved = certificate.proved;
  return std::move(result);
}

SearchResult runSearch(Searcher &searcher, const Simulator &simulator,
                       const Objective &objective,
                       const DriverOptions &options) {
  return SearchLoop(searcher, simulator, objective, options).run();
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
