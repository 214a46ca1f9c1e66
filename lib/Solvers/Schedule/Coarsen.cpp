//===- Coarsen.cpp - Fewer operators for large graphs ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Coarsen.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

std::vector<int32_t>
CoarseGraph::undo(const std::vector<int32_t> &devices) const {
  std::vector<int32_t> original;
  for (int32_t group : groupOf)
    original.push_back(devices[group]);
  return original;
}

std::vector<PlanEdge>
schedule::contractEdges(const std::vector<PlanEdge> &edges,
                        const std::function<int32_t(int32_t)> &of) {
  std::vector<PlanEdge> renamed, sums;
  for (const PlanEdge &edge : edges)
    renamed.push_back({of(edge.from), of(edge.to), edge.bytes});
  std::sort(renamed.begin(), renamed.end(),
            [](const PlanEdge &a, const PlanEdge &b) {
              return std::tie(a.from, a.to) < std::tie(b.from, b.to);
            });
  for (const PlanEdge &edge : renamed) {
    if (edge.from == edge.to)
      continue;
    if (!sums.empty() && sums.back().from == edge.from &&
        sums.back().to == edge.to)
      sums.back().bytes = std::min(sums.back().bytes + edge.bytes, maxBytes);
    else
      sums.push_back(edge);
  }
  return sums;
}

namespace {

/// Sets that become one; the least member speaks for all.
class Sets {
public:
  explicit Sets(size_t count) : parents(count) {
    std::iota(parents.begin(), parents.end(), 0);
  }
  int32_t find(int32_t i) {
    while (parents[i] != i)
      i = parents[i] = parents[parents[i]];
    return i;
  }
  /// Returns who speaks for both.
  int32_t join(int32_t a, int32_t b) {
    a = find(a);
    b = find(b);
    return parents[std::max(a, b)] = std::min(a, b);
  }

private:
  std::vector<int32_t> parents;
};

class Coarsening {
public:
  explicit Coarsening(const PlanGraph &graph);
  CoarseGraph run(int32_t target, const Budget *budget);

private:
  /// One pass over the edges; whether anything was merged.
  bool mergeOnce(int32_t target);
  bool isFit(const PlanEdge &edge);
  void merge(int32_t a, int32_t b);
  void countNeighbours();
  CoarseGraph finish();

  const PlanGraph &graph;
  Sets ops, groups;
  std::vector<PlanOp> merged;     ///< of those that speak for others
  std::vector<int32_t> placed;    ///< devices of groups that speak for others
  std::vector<PlanEdge> edges;    ///< between those that speak for others
  std::vector<int32_t> ins, outs; ///< different neighbours
  std::vector<char> isTouched;    ///< merged in this pass
  int64_t mostTime = 0;
  int32_t count;
};

} // namespace

Coarsening::Coarsening(const PlanGraph &graph)
    : graph(graph), ops(graph.ops.size()), groups(graph.groups.size()),
      merged(graph.ops), edges(graph.edges), count(int32_t(graph.ops.size())) {
  for (const PlanGroup &group : graph.groups)
    placed.push_back(group.device);
  int64_t total = 0;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    total += graph.leastTime(int32_t(i));
  mostTime = std::max<int64_t>(1, total / int64_t(graph.devices.size()) / 4);
}

void Coarsening::countNeighbours() {
  edges = contractEdges(edges, [&](int32_t i) { return ops.find(i); });
  ins.assign(graph.ops.size(), 0);
  outs.assign(graph.ops.size(), 0);
  for (const PlanEdge &edge : edges) {
    ++outs[edge.from];
    ++ins[edge.to];
  }
}

bool Coarsening::isFit(const PlanEdge &edge) {
  const PlanOp &a = merged[edge.from], &b = merged[edge.to];
  if ((outs[edge.from] != 1 && ins[edge.to] != 1) || a.machine != b.machine ||
      isTouched[edge.from] || isTouched[edge.to])
    return false;
  int32_t deviceOfA = placed[groups.find(a.group)];
  int32_t deviceOfB = placed[groups.find(b.group)];
  if (deviceOfA >= 0 && deviceOfB >= 0 && deviceOfA != deviceOfB)
    return false;
  bool isEligible = false;
  for (size_t k = 0; k < a.times.size(); ++k)
    if (a.times[k] >= 0 && b.times[k] >= 0) {
      isEligible = true;
      if (a.times[k] + b.times[k] > mostTime)
        return false;
    }
  return isEligible;
}

void Coarsening::merge(int32_t a, int32_t b) {
  isTouched[a] = isTouched[b] = 1;
  PlanOp sum = merged[a];
  const PlanOp &other = merged[b];
  for (size_t k = 0; k < sum.times.size(); ++k)
    sum.times[k] = sum.times[k] < 0 || other.times[k] < 0
                       ? -1
                       : sum.times[k] + other.times[k];
  sum.parameterBytes =
      std::min(maxBytes, sum.parameterBytes + other.parameterBytes);
  int32_t device = std::max(placed[groups.find(sum.group)],
                            placed[groups.find(other.group)]);
  placed[groups.join(sum.group, other.group)] = device;
  merged[ops.join(a, b)] = std::move(sum);
  --count;
}

bool Coarsening::mergeOnce(int32_t target) {
  countNeighbours();
  std::stable_sort(
      edges.begin(), edges.end(),
      [](const PlanEdge &a, const PlanEdge &b) { return a.bytes > b.bytes; });
  isTouched.assign(graph.ops.size(), 0);
  bool any = false;
  for (const PlanEdge &edge : edges) {
    if (count <= target)
      break;
    if (isFit(edge)) {
      merge(edge.from, edge.to);
      any = true;
    }
  }
  return any;
}

CoarseGraph Coarsening::finish() {
  countNeighbours();
  CoarseGraph result;
  PlanGraph &coarse = result.graph;
  coarse.deviceKinds = graph.deviceKinds;
  coarse.devices = graph.devices;
  coarse.link = graph.link;
  std::vector<int32_t> groupIndex(graph.groups.size(), -1);
  std::vector<int32_t> opIndex(graph.ops.size(), -1);
  for (size_t g = 0; g < graph.groups.size(); ++g) {
    int32_t speaker = groups.find(int32_t(g));
    if (groupIndex[speaker] < 0) {
      groupIndex[speaker] = int32_t(coarse.groups.size());
      coarse.groups.push_back({graph.groups[speaker].name, placed[speaker]});
    }
    result.groupOf.push_back(groupIndex[speaker]);
  }
  for (size_t i = 0; i < graph.ops.size(); ++i)
    if (ops.find(int32_t(i)) == int32_t(i)) {
      opIndex[i] = int32_t(coarse.ops.size());
      PlanOp op = merged[i];
      op.group = result.groupOf[op.group];
      op.birthBytes = 0;
      op.frees.clear();
      op.claims = -1;
      coarse.ops.push_back(std::move(op));
    }
  for (const PlanEdge &edge : edges)
    coarse.edges.push_back({opIndex[edge.from], opIndex[edge.to], edge.bytes});
  return result;
}

CoarseGraph Coarsening::run(int32_t target, const Budget *budget) {
  while (count > target && !(budget && budget->isOver()) && mergeOnce(target)) {
  }
  return finish();
}

CoarseGraph schedule::coarsen(const PlanGraph &graph, int32_t target,
                              const Budget *budget) {
  return Coarsening(graph).run(target, budget);
}
