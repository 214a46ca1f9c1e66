//===- StrategyList.h - Files with a strategy on every line -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_STRATEGYLIST_H
#define SHARDOPT_PLANNING_STRATEGYLIST_H

#include "shardopt/Planning/Scenario.h"
#include "shardopt/Support/OutputFile.h"
#include "shardopt/Support/Stop.h"

#include <cstdint>
#include <string>

namespace shardopt {

/// What was in a list.
struct ListSummary {
  uint64_t lines = 0;
  uint64_t valid = 0;
  uint64_t unreadable = 0;
};

/// Evaluates the strategies in the file at `path`, one a line
/// (`parseStrategyLine`), and writes one line of JSON for each to `out`, in the
/// same order: the metrics (`writeMetrics`), or `{"error": …}` for a line that
/// is not a strategy; an empty line is none. Only a few megabytes of the file
/// are held at a time. `threads` does not change what is written. The error is
/// about the file, or that `stop` (may be null) asked to end.
ErrorOr<ListSummary> evaluateList(const Scenario &scenario,
                                  const std::string &path, OutputFile &out,
                                  unsigned threads, const StopToken *stop);

/// The strategy on line `line` (from 0) of the file at `path`, or of the plan
/// file (docs/Quickstart.md) that it is, which counts as one line.
ErrorOr<Strategy> readListLine(const std::string &path, int64_t line,
                               const cost::Model &model);

/// Reads dims by what the ops of `model`, which must live on, shard with them.
DimReader dimReader(const cost::Model &model);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_STRATEGYLIST_H
