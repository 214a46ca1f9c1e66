//===- PendingSet.h - What was asked for and not told yet ----- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_PENDINGSET_H
#define SHARDOPT_SEARCH_PENDINGSET_H

#include "shardopt/Search/Simulator.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <list>
#include <utility>
#include <vector>

namespace shardopt::search {

/// The strategies that a searcher asked for and was not told of yet, in the
/// order of asking, each with what the searcher remembers of it. Equal ones may
/// be pending at once: their evaluations are equal too.
template <typename Memo> class PendingSet {
public:
  struct Entry {
    uint64_t ticket; ///< rises in the order of asking
    Strategy strategy;
    Memo memo;
  };

  bool empty() const { return entries.empty(); }
  size_t size() const { return entries.size(); }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }

  void add(Strategy strategy, Memo memo) {
    entries.push_back({nextTicket++, std::move(strategy), std::move(memo)});
  }

  /// What `Searcher::tell` does: takes out what is told and calls
  /// `learn(Memo, Evaluation)` for each, in the order of asking, whatever the
  /// order of the arguments. Strategies that are not pending are left alone.
  template <typename Learn>
  void settle(const std::vector<Strategy> &strategies,
              const std::vector<Evaluation> &evaluations, const Learn &learn) {
    assert(strategies.size() == evaluations.size() &&
           "one evaluation a strategy");
    std::vector<std::pair<Entry, Evaluation>> told;
    for (size_t i = 0; i < strategies.size(); ++i) {
      auto entry = std::find_if(entries.begin(), entries.end(),
                                [&](const Entry &pending) {
                                  return pending.strategy == strategies[i];
                                });
      if (entry == entries.end())
        continue;
      told.emplace_back(std::move(*entry), withFiniteMetrics(evaluations[i]));
      entries.erase(entry);
    }
    std::sort(told.begin(), told.end(), [](const auto &a, const auto &b) {
      return a.first.ticket < b.first.ticket;
    });
    for (auto &[entry, evaluation] : told)
      learn(std::move(entry.memo), evaluation);
  }

private:
  std::list<Entry> entries;
  uint64_t nextTicket = 0;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_PENDINGSET_H
