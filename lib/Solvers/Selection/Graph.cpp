//===- Graph.cpp - A problem that is being reduced ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Graph.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace shardopt;
using namespace shardopt::solve;

const std::vector<int32_t> &Graph::edgesOf(int32_t node) {
  std::vector<int32_t> &list = nodes[node].edges;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](int32_t e) { return !edges[e].isAlive; }),
             list.end());
  return list;
}

void Graph::addEdge(int32_t u, int32_t v, std::vector<Cost> table) {
  assert(u != v && table.size() == nodes[u].size() * nodes[v].size());
  nodes[u].edges.push_back(int32_t(edges.size()));
  nodes[v].edges.push_back(int32_t(edges.size()));
  edges.push_back({u, v, std::move(table)});
}

/// The elements of `values` that are marked.
template <typename T>
static void keepMarked(std::vector<T> &values, const std::vector<char> &keep) {
  size_t count = 0;
  for (size_t i = 0; i < values.size(); ++i)
    if (keep[i])
      values[count++] = values[i];
  values.resize(count);
}

size_t Graph::keepStrategies(int32_t node, const std::vector<char> &keep) {
  GraphNode &n = nodes[node];
  size_t before = n.size();
  size_t kept = std::count(keep.begin(), keep.end(), 1);
  if (kept == before)
    return 0;
  if (kept == 0)
    isInfeasible = true;
  for (int32_t e : edgesOf(node)) {
    GraphEdge &edge = edges[e];
    size_t columns = nodes[edge.v].size(), count = 0;
    for (size_t i = 0; i < edge.table.size(); ++i)
      if (keep[node == edge.u ? i / columns : i % columns])
        edge.table[count++] = edge.table[i];
    edge.table.resize(count);
    edge.table.shrink_to_fit();
  }
  keepMarked(n.costs, keep);
  keepMarked(n.labels, keep);
  for (Load &load : n.loads)
    keepMarked(load.usage, keep);
  tidyLoads(node);
  return before - kept;
}

/// What a node uses over time, as runs of times of one usage, in order.
static std::vector<Load> makeRuns(std::vector<Load> &loads, size_t k) {
  struct Change {
    int32_t time;
    const Load *load;
    bool begins;
  };
  std::vector<Change> changes;
  for (const Load &load : loads)
    if (load.begin < load.end) {
      changes.push_back({load.begin, &load, true});
      changes.push_back({load.end, &load, false});
    }
  std::stable_sort(
      changes.begin(), changes.end(),
      [](const Change &a, const Change &b) { return a.time < b.time; });
  std::vector<Load> runs;
  std::vector<int64_t> usage(k, 0);
  for (size_t i = 0; i < changes.size(); ++i) {
    for (size_t s = 0; s < k; ++s)
      usage[s] += changes[i].begins ? changes[i].load->usage[s]
                                    : -changes[i].load->usage[s];
    if (i + 1 == changes.size() || changes[i + 1].time == changes[i].time)
      continue;
    Load run{changes[i].time, changes[i + 1].time, usage};
    if (!runs.empty() && runs.back().end == run.begin &&
        runs.back().usage == usage)
      runs.back().end = run.end;
    else
      runs.push_back(std::move(run));
  }
  return runs;
}

void Graph::tidyLoads(int32_t node) {
  GraphNode &n = nodes[node];
  if (n.size() == 0)
    return;
  std::vector<Load> runs = std::move(n.loads);
  if (runs.size() > 1)
    runs = makeRuns(runs, n.size());
  n.loads.clear();
  for (Load &run : runs) {
    auto [least, most] =
        std::minmax_element(run.usage.begin(), run.usage.end());
    int64_t base = *least;
    bool isConstant = base == *most;
    for (int32_t t = run.begin; base && t < run.end; ++t)
      slack[t] -= base;
    for (int64_t &usage : run.usage)
      usage -= base;
    if (isConstant || run.begin == run.end)
      continue;
    // Runs that differed by their bases alone.
    if (!n.loads.empty() && n.loads.back().end == run.begin &&
        n.loads.back().usage == run.usage)
      n.loads.back().end = run.end;
    else
      n.loads.push_back(std::move(run));
  }
}

size_t Graph::keepTimes(const std::vector<char> &keep) {
  std::vector<int32_t> newTime{0};
  for (char kept : keep)
    newTime.push_back(newTime.back() + kept);
  size_t count = keep.size() - newTime.back();
  if (count == 0)
    return 0;
  keepMarked(slack, keep);
  keepMarked(times, keep);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (Load &load : nodes[i].loads) {
      load.begin = newTime[load.begin];
      load.end = newTime[load.end];
    }
    tidyLoads(int32_t(i));
  }
  return count;
}

std::vector<int32_t> Graph::positionsOf(int32_t node) const {
  if (node < 0)
    return {};
  std::vector<int32_t> positions(originalSizes[node], -1);
  for (size_t s = 0; s < nodes[node].size(); ++s)
    positions[nodes[node].labels[s]] = int32_t(s);
  return positions;
}

void Graph::removeNode(int32_t node) {
  for (int32_t e : edgesOf(node))
    removeEdge(e);
  nodes[node] = GraphNode();
  nodes[node].isAlive = false;
}

void Graph::removeFollower(int32_t node, int32_t leader,
                           const std::vector<int32_t> &choice) {
  removeFree(node, leader, -1, choice);
}

void Graph::removeFree(int32_t node, int32_t a, int32_t b,
                       const std::vector<int32_t> &choice) {
  Step step{node, {a, b}, {positionsOf(a), positionsOf(b)}, {}};
  for (int32_t s : choice)
    step.choice.push_back(nodes[node].labels[s]);
  steps.push_back(std::move(step));
  removeNode(node);
}

int32_t Graph::addCombinations(const std::vector<int32_t> &members,
                               const std::vector<size_t> &combinations,
                               std::vector<Cost> costs) {
  int32_t node = int32_t(nodes.size());
  size_t count = combinations.size();
  assert(costs.size() == count);
  nodes.emplace_back();
  originalSizes.push_back(count);
  nodes[node].costs = std::move(costs);
  nodes[node].labels.resize(count);
  std::iota(nodes[node].labels.begin(), nodes[node].labels.end(), 0);
  size_t repeats = 1;
  for (int32_t member : members)
    repeats *= nodes[member].size();
  for (int32_t member : members) {
    size_t k = nodes[member].size();
    repeats /= k;
    std::vector<Cost> link(count * k, forbidden);
    for (size_t i = 0; i < count; ++i)
      link[i * k + combinations[i] / repeats % k] = 0;
    addEdge(node, member, std::move(link));
  }
  return node;
}

Solution Graph::expand(const std::vector<int32_t> &strategies) const {
  Solution solution(nodes.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].isAlive)
      solution[i] = nodes[i].labels[strategies[i]];
  for (size_t i = steps.size(); i-- > 0;) {
    const Step &step = steps[i];
    size_t index = 0;
    if (step.leaders[0] >= 0)
      index = step.positions[0][solution[step.leaders[0]]];
    if (step.leaders[1] >= 0) {
      size_t columns = 0; // strategies that the second had
      for (int32_t position : step.positions[1])
        columns += position >= 0;
      index = index * columns + step.positions[1][solution[step.leaders[1]]];
    }
    solution[step.node] = step.choice[index];
  }
  solution.resize(numProblemNodes);
  return solution;
}

Graph Graph::compact() const {
  Graph result;
  std::vector<int32_t> numbers(nodes.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].isAlive)
      continue;
    numbers[i] = int32_t(result.nodes.size());
    GraphNode &node = result.nodes.emplace_back(nodes[i]);
    node.edges.clear();
    std::iota(node.labels.begin(), node.labels.end(), 0);
    result.originalSizes.push_back(node.size());
  }
  result.numProblemNodes = result.nodes.size();
  for (const GraphEdge &edge : edges)
    if (edge.isAlive)
      result.addEdge(numbers[edge.u], numbers[edge.v], edge.table);
  result.constant = constant;
  result.slack = slack;
  result.times = times;
  result.limit = limit;
  result.isInfeasible = isInfeasible;
  return result;
}

size_t Graph::countNodes() const {
  return std::count_if(nodes.begin(), nodes.end(),
                       [](const GraphNode &node) { return node.isAlive; });
}

size_t Graph::countEdges() const {
  return std::count_if(edges.begin(), edges.end(),
                       [](const GraphEdge &edge) { return edge.isAlive; });
}

size_t Graph::countStrategies() const {
  size_t count = 0;
  for (const GraphNode &node : nodes)
    count += node.size();
  return count;
}
