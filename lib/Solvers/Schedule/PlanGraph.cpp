//===- PlanGraph.cpp - Operators to place and to order --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/PlanGraph.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t PlanGraph::leastTime(int32_t op) const {
  int32_t fixed = groups[ops[op].group].device;
  if (fixed >= 0)
    return time(op, fixed);
  int64_t least = -1;
  for (const PlanDevice &device : devices) {
    int64_t own = ops[op].times[device.kind];
    if (own >= 0 && (least < 0 || own < least))
      least = own;
  }
  return least;
}

std::vector<int32_t> PlanGraph::topologicalOrder() const {
  std::vector<std::vector<int32_t>> successors(ops.size());
  std::vector<int32_t> waiting(ops.size(), 0);
  for (const PlanEdge &edge : edges) {
    successors[edge.from].push_back(edge.to);
    ++waiting[edge.to];
  }
  std::vector<int32_t> order;
  order.reserve(ops.size());
  for (size_t i = 0; i < ops.size(); ++i)
    if (!waiting[i])
      order.push_back(int32_t(i));
  for (size_t next = 0; next < order.size(); ++next)
    for (int32_t successor : successors[order[next]])
      if (!--waiting[successor])
        order.push_back(successor);
  return order;
}

/// "a -> b -> a", some cycle of a graph that has one.
static std::string describeCycle(const PlanGraph &graph,
                                 const std::vector<int32_t> &order) {
  std::vector<char> isOrdered(graph.ops.size(), 0);
  for (int32_t op : order)
    isOrdered[op] = 1;
  // What was not ordered has a predecessor that was not either.
  std::vector<int32_t> before(graph.ops.size(), -1);
  for (const PlanEdge &edge : graph.edges)
    if (!isOrdered[edge.from] && !isOrdered[edge.to])
      before[edge.to] = edge.from;
  int32_t at = 0;
  while (isOrdered[at])
    ++at;
  std::vector<char> isSeen(graph.ops.size(), 0);
  for (; !isSeen[at]; at = before[at])
    isSeen[at] = 1;
  std::vector<int32_t> cycle = {at};
  for (int32_t op = before[at]; op != at; op = before[op])
    cycle.push_back(op);
  cycle.push_back(at);
  std::reverse(cycle.begin(), cycle.end());
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < cycle.size() && i < most; ++i)
    text += (i ? " -> '" : "'") + graph.ops[cycle[i]].id + "'";
  return cycle.size() > most ? text + " -> …" : text;
}

static std::optional<Error> checkOp(const PlanGraph &graph, const PlanOp &op) {
  auto isOp = [&](int32_t i) {
    return i >= 0 && i < int32_t(graph.ops.size());
  };
  std::string place = "op '" + op.id + "': ";
  if (op.group < 0 || op.group >= int32_t(graph.groups.size()))
    return Error{place + "belongs to no group"};
  if (op.times.size() != graph.deviceKinds.size())
    return Error{place + "expected " +
                 std::to_string(graph.deviceKinds.size()) +
                 " times, one for each kind of device, found " +
                 std::to_string(op.times.size())};
  for (int64_t time : op.times)
    if (time < -1 || time > maxTime)
      return Error{place + "expected a time in [0, " + std::to_string(maxTime) +
                   "], found " + std::to_string(time)};
  for (int64_t bytes : {op.birthBytes, op.parameterBytes})
    if (bytes < 0 || bytes > maxBytes)
      return Error{place + "expected bytes in [0, " + std::to_string(maxBytes) +
                   "], found " + std::to_string(bytes)};
  for (int32_t freed : op.frees)
    if (!isOp(freed))
      return Error{place + "frees what does not exist"};
  return std::nullopt;
}

/// Whether each group has a device that all its operators can run on.
static std::optional<Error> checkEligible(const PlanGraph &graph) {
  std::vector<std::vector<int32_t>> members(graph.groups.size());
  for (size_t i = 0; i < graph.ops.size(); ++i)
    members[graph.ops[i].group].push_back(int32_t(i));
  for (size_t g = 0; g < graph.groups.size(); ++g) {
    int32_t fixed = graph.groups[g].device;
    if (fixed < -1 || fixed >= int32_t(graph.devices.size()))
      return Error{"group '" + graph.groups[g].name +
                   "': expected a device in [0, " +
                   std::to_string(graph.devices.size() - 1) + "], found " +
                   std::to_string(fixed)};
    // How many members the best device cannot run, and one of those.
    int32_t blocked = -1, culprit = -1;
    bool fits = members[g].empty();
    for (size_t d = 0; d < graph.devices.size() && !fits; ++d) {
      if (fixed >= 0 && fixed != int32_t(d))
        continue;
      int32_t count = 0, one = -1;
      for (int32_t op : members[g])
        if (graph.time(op, int32_t(d)) < 0) {
          ++count;
          one = op;
        }
      fits = !count;
      if (count && (blocked < 0 || count < blocked)) {
        blocked = count;
        culprit = one;
      }
    }
    if (fits)
      continue;
    std::string kinds;
    for (size_t k = 0; k < graph.deviceKinds.size(); ++k)
      if (graph.ops[culprit].times[k] >= 0)
        kinds += (kinds.empty() ? "" : ", ") + graph.deviceKinds[k];
    std::string where =
        fixed >= 0 ? "cannot run on device " + std::to_string(fixed) + ", a '" +
                         graph.deviceKinds[graph.devices[fixed].kind] +
                         "', where it is placed"
        : members[g].size() > 1
            ? "has no eligible device together with the rest of its group '" +
                  graph.groups[g].name + "'"
            : "has no eligible device";
    return Error{"op '" + graph.ops[culprit].id + "' " + where +
                 ": it has times for " + (kinds.empty() ? "no kind" : kinds)};
  }
  return std::nullopt;
}

std::optional<Error> PlanGraph::check() const {
  if (devices.empty())
    return Error{"expected at least one device"};
  if (ops.empty())
    return Error{"expected at least one op"};
  for (const PlanDevice &device : devices) {
    if (device.kind < 0 || device.kind >= int32_t(deviceKinds.size()))
      return Error{"a device of an unknown kind"};
    if (device.memory && (*device.memory < 0))
      return Error{"expected a memory of at least 0, found " +
                   std::to_string(*device.memory)};
  }
  if (int64_t(ops.size()) > maxOps)
    return Error{"expected at most " + std::to_string(maxOps) + " ops, found " +
                 std::to_string(ops.size())};
  for (const PlanOp &op : ops)
    if (std::optional<Error> error = checkOp(*this, op))
      return error;
  for (const PlanEdge &edge : edges) {
    for (int32_t end : {edge.from, edge.to})
      if (end < 0 || end >= int32_t(ops.size()))
        return Error{"an edge joins what does not exist"};
    if (edge.bytes < 0 || edge.bytes > maxBytes)
      return Error{"the edge from '" + ops[edge.from].id + "' to '" +
                   ops[edge.to].id + "': expected bytes in [0, " +
                   std::to_string(maxBytes) + "], found " +
                   std::to_string(edge.bytes)};
  }
  if (link.latency < 0 || link.latency > maxTime || link.bandwidth < 1)
    return Error{"a link needs a latency of at least 0 and a bandwidth of at "
                 "least 1 byte in a unit of time"};
  std::vector<int32_t> order = topologicalOrder();
  if (order.size() != ops.size())
    return Error{"the graph has a cycle: " + describeCycle(*this, order)};
  return checkEligible(*this);
}
