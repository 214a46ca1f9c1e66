//===- Progress.h - Telling where a search is -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_PROGRESS_H
#define SHARDOPT_PLANNING_PROGRESS_H

#include "shardopt/Search/Driver.h"
#include "shardopt/Support/StatusLine.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace shardopt {

/// Tells a person where a search is, and how far from the optimum:
///
///     evaluations 512, best 171.203 tokens/s per device, 0.9637 of the bound
class Progress {
public:
  enum class Style : uint8_t {
    Rewritten, ///< one line of a terminal, from half a second on
    Lines,     ///< a line where the best improves, and at powers of two; the
               ///< same search gives the same lines
  };

  Progress(Style style, const search::Objective &objective, TextSink out)
      : style(style), objective(objective), out(out), line(std::move(out)) {}

  /// Tells about an evaluation. `bound` is that of the goal, if it is known.
  void tell(const search::TraceEntry &entry, std::optional<double> bound);

  /// Removes a line that was to be rewritten.
  void finish() { line.clear(); }

private:
  using Clock = std::chrono::steady_clock;
  /// Whether this evaluation is told.
  bool isDue(const search::TraceEntry &entry);

  const Style style;
  const search::Objective objective;
  const TextSink out;
  StatusLine line;
  std::optional<double> lastBest; ///< of the entry before
  Clock::time_point nextTime = Clock::now() + std::chrono::milliseconds(500);
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_PROGRESS_H
