//===- RingTurn.cpp - Groups that go round and round ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/RingTurn.h"

#include "shardopt/Solvers/Schedule/OpLimit.h"

#include <algorithm>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

static int64_t timeOf(const PlanGraph &graph, int32_t op) {
  return graph.time(op, graph.groups[graph.ops[op].group].device);
}

/// What the edge takes, whose ends have a device each.
static int64_t transferOf(const PlanGraph &graph, const PlanEdge &edge) {
  bool isLocal = graph.groups[graph.ops[edge.from].group].device ==
                 graph.groups[graph.ops[edge.to].group].device;
  return isLocal ? 0 : graph.link.time(edge.bytes);
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

/// The first operator before which at least `part` of the time of all lies.
static int32_t operatorAfter(const PlanGraph &graph, double part) {
  std::vector<double> before = {0};
  for (size_t i = 0; i < graph.ops.size(); ++i)
    before.push_back(before.back() + double(timeOf(graph, int32_t(i))));
  return int32_t(
      std::lower_bound(before.begin(), before.end() - 1, part * before.back()) -
      before.begin());
}

ErrorOr<RingFrame> schedule::makeRingFrame(const PlanGraph &graph,
                                           int32_t groups, bool isStaggered) {
  if (std::optional<Error> error = checkNumOps(graph.ops.size(), groups))
    return *error;
  auto count = int32_t(graph.ops.size());
  std::vector<char> isSource(size_t(count), true), isSink(isSource);
  for (const PlanEdge &edge : graph.edges)
    isSource[edge.to] = isSink[edge.from] = false;
  PlanGraph turn = graph;
  turn.ops.clear();
  turn.edges.clear();
  std::vector<ReturnEdge> returns;
  for (int32_t g = 0; g < groups; ++g) {
    int32_t begin =
        isStaggered ? operatorAfter(graph, double(g) / double(groups)) : 0;
    // Operators from `begin` on are those of the token of the turn before.
    auto lag = [&](int32_t op) { return op >= begin && begin > 0 ? 1 : 0; };
    for (int32_t i = 0; i < count; ++i) {
      PlanOp op = graph.ops[i];
      op.microbatch = g;
      op.birthBytes = op.parameterBytes = 0;
      op.frees.clear();
      op.claims = -1;
      turn.ops.push_back(std::move(op));
    }
    auto connect = [&](int32_t from, int32_t to, int32_t turns, int64_t bytes) {
      if (turns > 0)
        returns.push_back({g * count + from, g * count + to, turns});
      else
        turn.edges.push_back({g * count + from, g * count + to, bytes});
    };
    for (const PlanEdge &edge : graph.edges)
      connect(edge.from, edge.to, lag(edge.to) - lag(edge.from), edge.bytes);
    for (int32_t last = 0; last < count; ++last)
      for (int32_t first = 0; isSink[last] && first < count; ++first)
        if (isSource[first])
          connect(last, first, 1 + lag(first) - lag(last), 0);
  }
  if (std::optional<Error> error = turn.check())
    return *error;
  ErrorOr<Instance> instance = Instance::expand(std::move(turn), 1);
  if (!instance)
    return instance.error();
  return RingFrame{std::move(*instance), std::move(returns)};
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

namespace {

/// Longest paths through the turns of some orders.
class TurnPaths {
public:
  TurnPaths(const RingFrame &frame, const MachineOrders &orders);

  /// Whether the orders contradict the edges.
  bool isCyclic() const { return sorted.size() != size_t(instance.numOps()); }

  /// The starts of a turn of `period`; nothing if that is too short.
  /// Once `budget` is over, nothing too.
  std::optional<RingTurn> pathsFor(int64_t period, const Budget *budget) const;

private:
  /// Along the edges of one turn.
  void relax(std::vector<int64_t> &starts) const;

  const Instance &instance;
  std::vector<int64_t> times; ///< of operators
  std::vector<int32_t> next;  ///< on the machine, -1: none
  std::vector<ReturnEdge> returns;
  size_t mostPasses = 0;
  std::vector<int32_t> sorted; ///< edges and orders go forward
};

} // namespace

TurnPaths::TurnPaths(const RingFrame &frame, const MachineOrders &orders)
    : instance(frame.instance), next(instance.numOps(), -1),
      returns(frame.returns) {
  std::vector<int32_t> waitsFor;
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    times.push_back(timeOf(instance.graph(), op));
    waitsFor.push_back(int32_t(instance.predecessors(op).size()));
  }
  for (const std::vector<int32_t> &order : orders) {
    for (size_t k = 1; k < order.size(); ++k) {
      next[order[k - 1]] = order[k];
      ++waitsFor[order[k]];
    }
    if (!order.empty())
      returns.push_back({order.back(), order.front(), 1});
  }
  for (int32_t op = 0; op < instance.numOps(); ++op)
    if (!waitsFor[op])
      sorted.push_back(op);
  for (size_t k = 0; k < sorted.size(); ++k) {
    for (const Arc &arc : instance.successors(sorted[k]))
      if (!--waitsFor[arc.op])
        sorted.push_back(arc.op);
    if (int32_t op = next[sorted[k]]; op >= 0 && !--waitsFor[op])
      sorted.push_back(op);
  }
  std::vector<char> isReached(instance.numOps(), false);
  for (const ReturnEdge &edge : returns)
    if (!isReached[edge.to]) {
      isReached[edge.to] = true;
      ++mostPasses;
    }
}

void TurnPaths::relax(std::vector<int64_t> &starts) const {
  for (int32_t op : sorted) {
    int64_t end = starts[op] + times[op];
    for (const Arc &arc : instance.successors(op))
      starts[arc.op] =
          std::max(starts[arc.op],
                   end + transferOf(instance.graph(), {op, arc.op, arc.bytes}));
    if (next[op] >= 0)
      starts[next[op]] = std::max(starts[next[op]], end);
  }
}

std::optional<RingTurn> TurnPaths::pathsFor(int64_t period,
                                            const Budget *budget) const {
  RingTurn turn;
  turn.period = period;
  turn.starts.assign(times.size(), 0);
  relax(turn.starts);
  // A longest path comes into a turn by each operator once at most; one more
  // pass is a cycle that is longer than its turns.
  for (size_t pass = 0; pass <= mostPasses; ++pass) {
    if (budget && budget->isOver())
      return std::nullopt;
    std::vector<std::pair<int32_t, int64_t>> raised;
    for (const ReturnEdge &edge : returns) {
      int64_t least =
          turn.starts[edge.from] + times[edge.from] - edge.turns * period;
      if (least > turn.starts[edge.to])
        raised.push_back({edge.to, least});
    }
    if (raised.empty())
      return turn;
    for (auto [op, least] : raised)
      turn.starts[op] = std::max(turn.starts[op], least);
    relax(turn.starts);
    // Some returns lead two turns ahead.
    turn.turnsToSettle += 2;
  }
  return std::nullopt;
}

std::optional<RingTurn> schedule::planTurn(const RingFrame &frame,
                                           const MachineOrders &orders,
                                           int64_t limit,
                                           const Budget *budget) {
  TurnPaths paths(frame, orders);
  if (paths.isCyclic())
    return std::nullopt;
  int64_t low = 1, high = 1;
  for (int32_t op = 0; op < frame.instance.numOps(); ++op)
    high += timeOf(frame.instance.graph(), op);
  for (const PlanEdge &edge : frame.instance.graph().edges)
    high += transferOf(frame.instance.graph(), edge);
  if (limit)
    high = std::min(high, limit - 1);
  std::optional<RingTurn> best = paths.pathsFor(high, budget);
  while (best && low < high) {
    int64_t middle = low + (high - low) / 2;
    if (std::optional<RingTurn> shorter = paths.pathsFor(middle, budget)) {
      best = std::move(shorter);
      high = middle;
    } else {
      low = middle + 1;
    }
    if (budget && budget->isOver())
      return std::nullopt;
  }
  if (best)
    best->orders = orders;
  return best;
}

int64_t schedule::leastTurn(const PlanGraph &graph, int32_t groups) {
  std::vector<int64_t> work(graph.devices.size() * numMachineKinds, 0);
  std::vector<int64_t> ends(graph.ops.size(), 0); ///< of what comes before
  std::vector<std::vector<PlanEdge>> behind(graph.ops.size());
  for (const PlanEdge &edge : graph.edges)
    behind[edge.from].push_back(edge);
  int64_t least = 1;
  for (int32_t op : graph.topologicalOrder()) {
    int64_t end = ends[op] + timeOf(graph, op);
    int64_t &busy =
        work[graph.groups[graph.ops[op].group].device * numMachineKinds +
             int32_t(graph.ops[op].machine)];
    busy += timeOf(graph, op) * groups;
    least = std::max({least, end, busy});
    for (const PlanEdge &edge : behind[op])
      ends[edge.to] = std::max(ends[edge.to], end + transferOf(graph, edge));
  }
  return least;
}
