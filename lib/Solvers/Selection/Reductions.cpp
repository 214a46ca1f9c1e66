//===- Reductions.cpp - All reductions in turn ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

namespace {
struct Reduction {
  const char *name;
  size_t (*apply)(Graph &);
};
} // namespace

static constexpr Reduction reductions[] = {
    {"parallel edges", mergeParallelEdges},
    {"unsupported strategies", dropUnsupported},
    {"implied nodes", mergeImpliedNodes},
    {"oversized strategies", dropOversized},
    {"idle times", dropIdleTimes},
    {"covered times", dropCoveredTimes},
    {"fixed nodes", removeFixedNodes},
    {"separable parts", moveSeparableParts},
    {"dominated strategies", dropDominated},
    {"free nodes", removeFreeNodes},
};

std::vector<ReductionCount> solve::reduce(Graph &graph,
                                          const std::function<bool()> &isOver) {
  std::vector<ReductionCount> counts;
  for (const Reduction &reduction : reductions)
    counts.push_back({reduction.name, 0});
  bool changed = true;
  while (changed && !graph.isInfeasible) {
    changed = false;
    for (size_t r = 0; r < counts.size() && !graph.isInfeasible; ++r) {
      if (isOver && isOver())
        return counts;
      size_t count = reductions[r].apply(graph);
      counts[r].count += count;
      changed |= count != 0;
    }
  }
  return counts;
}
