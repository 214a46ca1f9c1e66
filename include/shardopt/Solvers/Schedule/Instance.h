//===- Instance.h - A graph repeated for all micro-batches ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The repetitions of an operator are alike, so that they may be taken to start
// in the order of their micro-batches: sorting the starts of each operator
// keeps every edge, every machine and all memory within their limits.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_INSTANCE_H
#define SHARDOPT_SOLVERS_SCHEDULE_INSTANCE_H

#include "shardopt/Solvers/Schedule/PlanGraph.h"
#include "shardopt/Support/Span.h"

namespace shardopt::schedule {

/// The other end of an edge.
struct Arc {
  int32_t op;
  int64_t bytes;
};

/// Operator `i` of repetition `c` has the index c * period() + i.
class Instance {
public:
  /// Repeats a graph that was checked. An error if that is too large.
  static ErrorOr<Instance> expand(PlanGraph graph, int32_t copies);

  const PlanGraph &graph() const { return plan; }
  int32_t copies() const { return repetitions; }
  int32_t period() const { return int32_t(plan.ops.size()); }
  int32_t numOps() const { return period() * repetitions; }
  int32_t numDevices() const { return int32_t(plan.devices.size()); }
  int32_t numMachines() const { return numDevices() * numMachineKinds; }

  int32_t copyOf(int32_t op) const { return op / period(); }
  const PlanOp &at(int32_t op) const { return plan.ops[op % period()]; }
  int32_t microbatchOf(int32_t op) const {
    return at(op).microbatch + copyOf(op);
  }
  /// Indices within a repetition.
  Span<const Arc> predecessors(int32_t planOp) const {
    return rowOf(before, planOp);
  }
  Span<const Arc> successors(int32_t planOp) const {
    return rowOf(after, planOp);
  }
  /// The operators that free the bytes of `planOp`; none: nothing does.
  const std::vector<int32_t> &freers(int32_t planOp) const {
    return freedBy[planOp];
  }
  /// The operators of a repetition so that edges go forward.
  const std::vector<int32_t> &order() const { return topological; }

  /// Whether the device of every group is given.
  bool isPlaced() const;
  /// The devices of the groups, -1 where free.
  std::vector<int32_t> placement() const;

  /// The same with other limits of memory.
  Instance withMemory(std::optional<int64_t> memory) const;
  /// The same with at most so much memory for each device.
  Instance withAtMost(int64_t memory) const;

private:
  struct Arcs {
    std::vector<int32_t> offsets;
    std::vector<Arc> arcs;
  };
  static Span<const Arc> rowOf(const Arcs &rows, int32_t row) {
    return {rows.arcs.data() + rows.offsets[row],
            size_t(rows.offsets[row + 1] - rows.offsets[row])};
  }
  static Arcs collect(const PlanGraph &graph, bool forward);

  PlanGraph plan;
  int32_t repetitions = 1;
  Arcs before, after;
  std::vector<std::vector<int32_t>> freedBy;
  std::vector<int32_t> topological;
};

/// When each operator starts, and where each group runs.
struct Schedule {
  std::vector<int32_t> devices; ///< of groups
  std::vector<int64_t> starts;  ///< of operators

  int32_t deviceOf(const Instance &instance, int32_t op) const {
    return devices[instance.at(op).group];
  }
  int64_t end(const Instance &instance, int32_t op) const {
    return starts[op] + instance.graph().time(op % instance.period(),
                                              deviceOf(instance, op));
  }
};

/// When the last operator ends.
int64_t makespanOf(const Instance &instance, const Schedule &schedule);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_INSTANCE_H
