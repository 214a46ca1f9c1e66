//===- ProposalQueue.h - What is to be asked for ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_PROPOSALQUEUE_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_PROPOSALQUEUE_H

#include "Admission.h"
#include "ScreenedProposals.h"

#include "shardopt/Search/PendingSet.h"

#include <deque>

namespace shardopt::search {

/// The proposals of a searcher from when they are made to when they are told.
/// Each is admitted once, and known to `screened` as visited.
class ProposalQueue {
public:
  ProposalQueue(const StrategySpace &space, Admission &admission,
                ScreenedProposals &screened)
      : space(space), admission(admission), screened(screened) {}

  void add(Proposal proposal) {
    admission.add(proposal.point);
    screened.visit(proposal.point);
    queue.push_back(std::move(proposal));
  }
  /// Adds a uniform draw; false if no strategy is left to propose.
  bool addUniform(Rng &rng) {
    std::optional<Point> point = admission.drawUniform(rng);
    isExhausted |= !point;
    if (point)
      add({std::move(*point), std::nullopt});
    return point.has_value();
  }

  bool empty() const { return queue.empty(); }
  /// Something was asked for and not told.
  bool isWaiting() const { return !pending.empty(); }
  /// Nothing is to be asked for, and there may be more to propose.
  bool wantsProposals() const { return queue.empty() && !isExhausted; }
  bool done() const { return isExhausted && queue.empty() && pending.empty(); }

  /// What `Searcher::ask` returns: at most `n` of what is in the queue.
  std::vector<Strategy> ask(size_t n) {
    std::vector<Strategy> strategies;
    while (!queue.empty() && strategies.size() < n) {
      strategies.push_back(space.strategyAt(queue.front().point));
      pending.add(strategies.back(), std::move(queue.front()));
      queue.pop_front();
    }
    return strategies;
  }
  /// See PendingSet::settle.
  template <typename Learn>
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations, const Learn &learn) {
    pending.settle(strategies, evaluations, learn);
  }
  /// What was asked for and not told.
  std::vector<Point> pendingPoints() const {
    std::vector<Point> points;
    for (const auto &entry : pending)
      points.push_back(entry.memo.point);
    return points;
  }

private:
  const StrategySpace &space;
  Admission &admission;
  ScreenedProposals &screened;
  std::deque<Proposal> queue;
  PendingSet<Proposal> pending;
  bool isExhausted = false; ///< no strategy is left to propose
};

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_PROPOSALQUEUE_H
