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

#include <memory>
#include <mutex>

namespace shardopt::search {

/// Answers from the log of a search what is in it, and asks another simulator
/// for the rest, which it appends. A searcher proposes the same strategies when
/// it is told the same evaluations, so a search that runs again over its log
/// goes through the same states without a call, and then goes on.
class ReplaySimulator final : public Simulator {
public:
  /// `inner` outlives it.
  ReplaySimulator(const Simulator &inner, std::unique_ptr<EvaluationLog> log);

  Evaluation evaluate(const Strategy &strategy) const override;
  const Decomposition *decomposition() const override {
    return inner.decomposition();
  }

  /// The evaluations that the log had at the start.
  size_t numResumed() const { return log->resumed().size(); }

  /// Why the log could not be written, if so. A search that goes on after that
  /// cannot be resumed from here.
  std::optional<Error> error() const;

private:
  const Simulator &inner;
  const std::unique_ptr<EvaluationLog> log;

  mutable std::mutex mutex; ///< of all below, and of `log`
  mutable EvaluationCache known;
  mutable std::optional<Error> failure;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_REPLAYSIMULATOR_H
