//===- Oversized.cpp - Strategies that memory forbids --------------------===//
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
/// The least of values in any range, in constant time (a sparse table).
class RangeMinimum {
public:
  explicit RangeMinimum(const std::vector<int64_t> &values) : levels{values} {
    for (size_t width = 1; 2 * width <= values.size(); width *= 2) {
      const std::vector<int64_t> &last = levels.back();
      std::vector<int64_t> next(last.size() - width);
      for (size_t i = 0; i < next.size(); ++i)
        next[i] = std::min(last[i], last[i + width]);
      levels.push_back(std::move(next));
    }
  }
  int64_t least(size_t begin, size_t end) const {
    size_t level = 0;
    while ((size_t(2) << level) <= end - begin)
      ++level;
    return std::min(levels[level][begin],
                    levels[level][end - (size_t(1) << level)]);
  }

private:
  std::vector<std::vector<int64_t>> levels;
};
} // namespace

size_t solve::dropOversized(Graph &graph) {
  for (int64_t slack : graph.slack)
    if (slack < 0)
      graph.isInfeasible = true;
  if (graph.isInfeasible || graph.slack.empty())
    return 0;
  size_t count = 0;
  // Smaller slacks, as strategies go, are for the next time.
  RangeMinimum slack(graph.slack);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &node = graph.nodes[i];
    std::vector<char> keep(node.size(), 1);
    for (const Load &load : node.loads) {
      int64_t most = slack.least(load.begin, load.end);
      for (size_t s = 0; s < node.size(); ++s)
        if (load.usage[s] > most)
          keep[s] = 0;
    }
    count += graph.keepStrategies(int32_t(i), keep);
  }
  return count;
}
