//===- MachineOrders.cpp - In which order machines work -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/MachineOrders.h"

#include <algorithm>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

std::optional<Schedule> schedule::retime(const Instance &instance,
                                         const std::vector<int32_t> &devices,
                                         const MachineOrders &orders) {
  const PlanGraph &graph = instance.graph();
  int32_t count = instance.numOps(), period = instance.period();
  std::vector<int32_t> waitsFor(count), next(count, -1);
  for (int32_t op = 0; op < count; ++op)
    waitsFor[op] = int32_t(instance.predecessors(op % period).size());
  for (const std::vector<int32_t> &order : orders)
    for (size_t k = 1; k < order.size(); ++k) {
      next[order[k - 1]] = order[k];
      ++waitsFor[order[k]];
    }
  Schedule result{devices, std::vector<int64_t>(count, 0)};
  std::vector<int32_t> ready;
  for (int32_t op = 0; op < count; ++op)
    if (!waitsFor[op])
      ready.push_back(op);
  auto release = [&](int32_t op, int64_t time) {
    result.starts[op] = std::max(result.starts[op], time);
    if (!--waitsFor[op])
      ready.push_back(op);
  };
  for (size_t k = 0; k < ready.size(); ++k) {
    int32_t op = ready[k], i = op % period, first = op - i;
    int32_t device = devices[graph.ops[i].group];
    int64_t end = result.starts[op] + graph.time(i, device);
    for (const Arc &arc : instance.successors(i)) {
      bool isLocal = devices[graph.ops[arc.op].group] == device;
      release(first + arc.op, end + (isLocal ? 0 : graph.link.time(arc.bytes)));
    }
    if (next[op] >= 0)
      release(next[op], end);
  }
  if (ready.size() != size_t(count))
    return std::nullopt;
  return result;
}

MachineOrders schedule::ordersOf(const Instance &instance,
                                 const Schedule &schedule) {
  MachineOrders orders(instance.numMachines());
  for (int32_t op = 0; op < instance.numOps(); ++op)
    orders[schedule.deviceOf(instance, op) * numMachineKinds +
           int32_t(instance.at(op).machine)]
        .push_back(op);
  // Of two that start at once, one has no length and comes first.
  for (std::vector<int32_t> &order : orders)
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return std::make_tuple(schedule.starts[a], schedule.end(instance, a), a) <
             std::make_tuple(schedule.starts[b], schedule.end(instance, b), b);
    });
  return orders;
}
