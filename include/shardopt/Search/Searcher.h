//===- Searcher.h - Ask for strategies, tell evaluations --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_SEARCHER_H
#define SHARDOPT_SEARCH_SEARCHER_H

#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace shardopt::search {

/// What a searcher knows of the optimum beyond the evaluations it was told.
struct Certificate {
  /// No strategy of the space has a better value of the goal (throughput in
  /// tokens/s per device, or latency in ms). None: nothing is known, or the
  /// space holds no valid strategy (then `proved` tells the two apart).
  std::optional<double> bound;
  /// The best evaluation told is the optimum, or nothing is feasible.
  bool proved = false;
};

/// How often something happened in a search, as reports name it.
struct Count {
  std::string_view name; ///< a literal, such as "early_exits"
  uint64_t number;
};

/// Proposes strategies and learns from their evaluations.
///
/// What was asked for and not told yet is *pending*. As long as all of it is
/// told before the next `ask`, the sequence of strategies depends on the space,
/// the options and the evaluations only: not on how many are asked for at a
/// time, nor on threads. A caller that asks while something is pending, because
/// it has several simulators to keep busy, gets what the searcher can propose
/// without knowing; the sequence then also depends on what was told before each
/// `ask`, and on nothing else. Everything that steers it is a plain member.
class Searcher {
public:
  virtual ~Searcher();

  /// The next strategies, at most `n`, which are pending from now on. Fewer, or
  /// none, where the searcher has to be told of pending ones before it can go
  /// on; none with nothing pending if there are no more.
  virtual std::vector<Strategy> ask(size_t n) = 0;

  /// The evaluations of pending strategies: any of them, in any order. What is
  /// not pending, because it was not asked for or was told before, is ignored.
  virtual void tell(const std::vector<Strategy> &strategies,
                    const std::vector<Evaluation> &evaluations) = 0;

  /// Whether the searcher has no more strategies to propose.
  virtual bool done() const { return false; }

  /// Draws that the searcher discarded itself; they cost no evaluation.
  virtual uint64_t rejected() const { return 0; }

  /// What the searcher counts of its own doing, for its readers.
  virtual std::vector<Count> counts() const { return {}; }

  /// Called once when the search has ended, whatever the reason: writes what
  /// the searcher leaves behind. An error is what could not be written, or why
  /// the searcher could not go on; it was then done.
  virtual std::optional<Error> finish() { return std::nullopt; }

  virtual Certificate certificate() const { return {}; }
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_SEARCHER_H
