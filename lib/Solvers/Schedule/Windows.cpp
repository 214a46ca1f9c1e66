//===- Windows.cpp - Least times before and after operators ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Bounds.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

/// The arcs along which windows grow. All of them lead to the same or a later
/// repetition.
class WindowGraph {
public:
  WindowGraph(const Instance &instance, const std::vector<int32_t> &devices);

  Windows compute() const;

private:
  int64_t transfer(int32_t from, const Arc &arc) const {
    int32_t a = devices[graph.ops[from].group];
    int32_t b = devices[graph.ops[arc.op].group];
    return a < 0 || b < 0 || a == b ? 0 : graph.link.time(arc.bytes);
  }
  void relaxHeads(Windows &windows, int32_t copy, int32_t i) const;
  void relaxTail(Windows &windows, int32_t copy, int32_t i) const;

  const Instance &instance;
  const PlanGraph &graph;
  const std::vector<int32_t> &devices;
  std::vector<int64_t> times; ///< of operators of the graph
  /// How many repetitions of an operator can hold their bytes at once; 0: all.
  std::vector<int32_t> mostLive;
};

} // namespace

WindowGraph::WindowGraph(const Instance &instance,
                         const std::vector<int32_t> &devices)
    : instance(instance), graph(instance.graph()), devices(devices),
      mostLive(instance.period(), 0) {
  std::vector<int64_t> parameters(instance.numDevices(), 0);
  for (const PlanOp &op : graph.ops)
    if (devices[op.group] >= 0)
      parameters[devices[op.group]] += op.parameterBytes;
  for (int32_t i = 0; i < instance.period(); ++i) {
    const PlanOp &op = graph.ops[i];
    int32_t device = devices[op.group];
    times.push_back(device < 0 ? graph.leastTime(i) : graph.time(i, device));
    if (device < 0 || !op.birthBytes || !graph.devices[device].memory ||
        instance.freers(i).empty())
      continue;
    int64_t room = *graph.devices[device].memory - parameters[device];
    mostLive[i] = int32_t(
        std::clamp<int64_t>(room / op.birthBytes, 1, instance.copies()));
  }
}

void WindowGraph::relaxHeads(Windows &windows, int32_t copy, int32_t i) const {
  int32_t first = copy * instance.period();
  int64_t end = windows.heads[first + i] + times[i];
  auto raise = [&](int32_t op, int64_t least) {
    windows.heads[op] = std::max(windows.heads[op], least);
  };
  for (const Arc &arc : instance.successors(i))
    raise(first + arc.op, end + transfer(i, arc));
  if (copy + 1 < instance.copies())
    raise(first + instance.period() + i, end);
  for (int32_t freed : graph.ops[i].frees)
    if (mostLive[freed] && copy + mostLive[freed] < instance.copies())
      raise(first + mostLive[freed] * instance.period() + freed, end);
}

void WindowGraph::relaxTail(Windows &windows, int32_t copy, int32_t i) const {
  int32_t first = copy * instance.period();
  int64_t rest = 0;
  for (const Arc &arc : instance.successors(i))
    rest = std::max(rest, windows.tails[first + arc.op] + transfer(i, arc));
  if (copy + 1 < instance.copies())
    rest = std::max(rest, windows.tails[first + instance.period() + i]);
  for (int32_t freed : graph.ops[i].frees)
    if (mostLive[freed] && copy + mostLive[freed] < instance.copies())
      rest = std::max(
          rest,
          windows.tails[first + mostLive[freed] * instance.period() + freed]);
  windows.tails[first + i] = times[i] + rest;
}

Windows WindowGraph::compute() const {
  Windows windows;
  windows.heads.assign(instance.numOps(), 0);
  windows.tails.assign(instance.numOps(), 0);
  const std::vector<int32_t> &order = instance.order();
  for (int32_t c = 0; c < instance.copies(); ++c)
    for (int32_t i : order)
      relaxHeads(windows, c, i);
  for (int32_t c = instance.copies(); c-- > 0;)
    for (size_t k = order.size(); k-- > 0;)
      relaxTail(windows, c, order[k]);
  return windows;
}

Windows schedule::computeWindows(const Instance &instance,
                                 const std::vector<int32_t> &devices) {
  return WindowGraph(instance, devices).compute();
}
