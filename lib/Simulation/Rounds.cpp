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

double simulation::roundSeconds(const StageTimes &times, int64_t microBatches) {
  constexpr int numRounds = 4;
  const size_t numStages = times.numStages();
  std::vector<double> arrival(static_cast<size_t>(microBatches), 0);
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
