//===- PlanningHost.h - What a host gives to passes that plan ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PLANNINGHOST_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PLANNINGHOST_H

#include "shardopt/Support/Stop.h"
#include "shardopt/Support/TextSink.h"

#include <functional>

namespace shardopt {
struct PlanSummary;
} // namespace shardopt

namespace shardopt::llm {

/// What the program that runs passes gives to those that search or evaluate.
/// The default is that of a command line.
struct PlanningHost {
  PlanningHost() = default;
  PlanningHost(const StopToken *stop) : stop(stop) {}

  /// Ends a search early, with the best so far; may be null.
  const StopToken *stop = nullptr;
  /// Takes tables and progress; empty: the standard error takes them.
  TextSink print;
  /// Told of every plan, before its module is annotated: strategy, metrics,
  /// proof, baselines (Planning/Plan.h). Also where there is none; may be
  /// empty.
  std::function<void(const PlanSummary &)> planned;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PLANNINGHOST_H
