//===- Interfaces.cpp - What the interfaces share ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/Simulator.h"

#include <cmath>

namespace shardopt::search {

Evaluation withFiniteMetrics(const Evaluation &evaluation) {
  for (double metric :
       {evaluation.throughput, evaluation.latencyMs, evaluation.memoryGb})
    if (!(metric >= 0 && std::isfinite(metric))) {
      Evaluation failed;
      failed.reason = Reason::Failed;
      return failed;
    }
  return evaluation;
}

Simulator::~Simulator() = default;
Decomposition::~Decomposition() = default;
Searcher::~Searcher() = default;

} // namespace shardopt::search
