//===- Rounds.cpp - Micro-batches in a pipeline ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rounds.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::simulation;

/// All micro-batches alike: either one of them is always on its way, or the
/// slowest stage is always busy.
static double uniformRound(const StageTimes &times, int64_t microBatches) {
  double way = times.back - times.travel, slowest = 0;
  for (double busy : times.busy) {
    way += busy + times.travel;
    slowest = std::max(slowest, busy);
  }
  return std::max(way, double(microBatches) * slowest);
}

double simulation::roundSeconds(const StageTimes &times, int64_t microBatches) {
  if (times.numClasses == 1)
    return uniformRound(times, microBatches);
  constexpr int numRounds = 4;
  size_t numStages = times.numStages();
  std::vector<double> arrival(size_t(microBatches), 0);
  std::vector<double> isFree(numStages, 0);
  double ends[numRounds];
  for (double &end : ends) {
    for (size_t m = 0; m < arrival.size(); ++m) {
      double now = arrival[m];
      for (size_t s = 0; s < numStages; ++s) {
        now = std::max(now, isFree[s]) +
              times.busy[s * times.numClasses + m % times.numClasses];
        isFree[s] = now;
        if (s + 1 < numStages)
          now += times.travel;
      }
      arrival[m] = now + times.back;
    }
    end = arrival.back();
  }
  // The pipeline fills in the first half.
  constexpr int half = numRounds / 2;
  return (ends[numRounds - 1] - ends[half - 1]) / half;
}
