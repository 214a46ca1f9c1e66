//===- ReplaySimulator.cpp - A simulator with a checkpoint ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/ReplaySimulator.h"

namespace shardopt::search {

ReplaySimulator::ReplaySimulator(const Simulator &inner,
                                 std::unique_ptr<EvaluationLog> log,
                                 Hooks hooks)
    : inner(inner), log(std::move(log)), hooks(std::move(hooks)) {
  for (const Plan &plan : this->log->resumed())
    known.insert(plan.strategy, plan.evaluation);
}

Evaluation ReplaySimulator::evaluate(const Strategy &strategy) const {
  {
    std::lock_guard lock(mutex);
    if (const Evaluation *evaluation = known.find(strategy))
      return *evaluation;
  }
  Evaluation evaluation = inner.evaluate(strategy);
  bool isInterrupted = evaluation.reason == Reason::Failed &&
                       hooks.isStopping && hooks.isStopping();
  if (isInterrupted)
    return evaluation;
  std::lock_guard lock(mutex);
  if (const Evaluation *first = known.find(strategy))
    return *first; // another thread was faster
  known.insert(strategy, evaluation);
  if (isBroken)
    return evaluation;
  if (std::optional<Error> error = log->append({strategy, evaluation})) {
    isBroken = true;
    if (hooks.warn)
      hooks.warn(*error);
  }
  return evaluation;
}

} // namespace shardopt::search
