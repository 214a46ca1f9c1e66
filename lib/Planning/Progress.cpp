//===- Progress.cpp - Telling where a search is ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Progress.h"
#include "TextTable.h"
#include "shardopt/Planning/Plan.h"

using namespace shardopt;

static std::string spell(const search::TraceEntry &entry,
                         const search::Objective &objective,
                         std::optional<double> bound) {
  std::string text =
      "  evaluations " + std::to_string(entry.index + 1) + ", best ";
  if (!entry.best)
    return text + "none yet";
  double best = objective.value(*entry.best);
  text += formatNumber(best);
  text +=
      objective.goal == search::Goal::Latency ? " ms" : " tokens/s per device";
  if (bound)
    text += ", " + fixed(best / *bound, 4) + " of the bound";
  return text;
}

bool Progress::isDue(const search::TraceEntry &entry) {
  if (style == Style::Rewritten) {
    Clock::time_point now = Clock::now();
    if (now < nextTime)
      return false;
    nextTime = now + std::chrono::milliseconds(100);
    return true;
  }
  std::optional<double> best;
  if (entry.best)
    best = objective.value(*entry.best);
  bool isBetter = best != lastBest;
  lastBest = best;
  uint64_t number = entry.index + 1;
  return isBetter || (number & (number - 1)) == 0;
}

void Progress::tell(const search::TraceEntry &entry,
                    std::optional<double> bound) {
  if (!isDue(entry))
    return;
  std::string text = ::spell(entry, objective, bound);
  if (style == Style::Lines) {
    out(text + '\n');
    return;
  }
  line.show(text);
}
