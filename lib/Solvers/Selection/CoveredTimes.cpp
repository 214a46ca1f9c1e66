//===- IdleTimes.cpp - Times at which memory suffices --------------------===//
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
/// How many nodes may use less (more) at a time than at the one before it.
struct Changes {
  int32_t downs = 0;
  int32_t ups = 0;
};
} // namespace

/// Notes that a node uses `after` from a time on, and `before` until then.
static void note(Changes &changes, const std::vector<int64_t> &before,
                 const std::vector<int64_t> &after) {
  bool goesDown = false, goesUp = false;
  for (size_t s = 0; s < before.size(); ++s) {
    goesDown |= after[s] < before[s];
    goesUp |= after[s] > before[s];
  }
  changes.downs += goesDown;
  changes.ups += goesUp;
}

static std::vector<Changes> findChanges(const Graph &graph) {
  std::vector<Changes> changes(graph.slack.size() + 1);
  for (const GraphNode &node : graph.nodes) {
    std::vector<int64_t> none(node.size(), 0);
    for (size_t i = 0; i < node.loads.size(); ++i) {
      const Load &load = node.loads[i];
      bool follows = i > 0 && node.loads[i - 1].end == load.begin;
      bool isFollowed =
          i + 1 < node.loads.size() && node.loads[i + 1].begin == load.end;
      note(changes[load.begin], follows ? node.loads[i - 1].usage : none,
           load.usage);
      if (!isFollowed)
        note(changes[load.end], load.usage, none);
    }
  }
  return changes;
}

size_t solve::dropCoveredTimes(Graph &graph) {
  std::vector<Changes> changes = findChanges(graph);
  std::vector<char> keep(graph.slack.size(), 1);
  // Times that were kept so far, each with the changes from the one before it.
  struct Kept {
    size_t time;
    Changes since;
  };
  std::vector<Kept> kept;
  for (size_t t = 0; t < graph.slack.size(); ++t) {
    Changes since = changes[t];
    bool isCovered = false;
    while (!kept.empty() && !isCovered) {
      const Kept &last = kept.back();
      if (since.downs == 0 && graph.slack[last.time] >= graph.slack[t]) {
        keep[last.time] = 0;
        since = {since.downs + last.since.downs, since.ups + last.since.ups};
        kept.pop_back();
        continue;
      }
      isCovered = since.ups == 0 && graph.slack[t] >= graph.slack[last.time];
      break;
    }
    if (isCovered) {
      keep[t] = 0;
      // The next time is compared with the last kept one.
      changes[t + 1].downs += since.downs;
      changes[t + 1].ups += since.ups;
    } else {
      kept.push_back({t, since});
    }
  }
  return graph.keepTimes(keep);
}
