//===- ReplaySimulator.h - A simulator with a checkpoint --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_REPLAYSIMULATOR_H
#define SHARDOPT_SEARCH_REPLAYSIMULATOR_H

#include "shardopt/Search/EvaluationCache.h"
#include "shardopt/Search/EvaluationLog.h"
#include "shardopt/Search/Simulator.h"

#include <functional>
#include <memory>
#include <mutex>

namespace shardopt::search {

/// Answers from the log of a search what is in it, and asks another simulator
/// for the rest, which it appends. A searcher proposes the same strategies when
/// it is told the same evaluations, so a search that runs again over its log
/// goes through the same states without a call, and then goes on.
class ReplaySimulator final : public Simulator {
public:
  struct Hooks {
    /// Whether the search is being stopped: an evaluation that fails meanwhile
    /// is not logged, because an interrupt says nothing of the strategy. May be
    /// empty.
    std::function<bool()> isStopping = {};
    /// Told once, from any thread, that the log cannot be written: what is
    /// evaluated from then on is not in it, which is no reason to lose the
    /// search. May be empty.
    std::function<void(const Error &)> warn = {};
  };

  /// `inner` outlives it.
  ReplaySimulator(const Simulator &inner, std::unique_ptr<EvaluationLog> log,
                  Hooks hooks);

  Evaluation evaluate(const Strategy &strategy) const override;
  const Decomposition *decomposition() const override {
    return inner.decomposition();
  }

  /// The evaluations that the log had at the start.
  size_t numResumed() const { return log->resumed().size(); }

private:
  const Simulator &inner;
  const std::unique_ptr<EvaluationLog> log;
  const Hooks hooks;

  mutable std::mutex mutex; ///< of all below, and of `log`
  mutable EvaluationCache known;
  mutable bool isBroken = false; ///< the log could not be written
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_REPLAYSIMULATOR_H
