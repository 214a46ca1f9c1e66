//===- PlanGraph.h - Operators to place and to order ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one micro-batch (or one from each direction) asks of the devices. The
// graph is repeated for all micro-batches by `Instance`.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_PLANGRAPH_H
#define SHARDOPT_SOLVERS_SCHEDULE_PLANGRAPH_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::schedule {

/// What of a device an operator occupies. The two work at the same time.
enum class MachineKind : uint8_t { Compute, Comm };
constexpr int32_t numMachineKinds = 2;

enum class PlanOpPhase : uint8_t {
  Forward,
  InputGradient,
  WeightGradient,
  Other
};

/// The largest number of operators, all micro-batches counted, of a time and of
/// a size, so that sums fit.
constexpr int64_t maxOps = int64_t(1) << 20;
constexpr int64_t maxTime = int64_t(1) << 40;
constexpr int64_t maxBytes = int64_t(1) << 42;

struct PlanOp {
  std::string id;
  std::string type; ///< as the user names it: "F", "Bi", "W", "attention"
  PlanOpPhase phase = PlanOpPhase::Other;
  MachineKind machine = MachineKind::Compute;
  int32_t stage = -1;     ///< -1: of none
  int32_t microbatch = 0; ///< of its first repetition
  int32_t group = -1;     ///< operators of a group share a device
  /// For each kind of device; -1 where it cannot run.
  std::vector<int64_t> times;
  int64_t parameterBytes = 0;
  /// Taken on its device when it starts.
  int64_t birthBytes = 0;
  /// Operators whose bytes are given back once this one ends, and all others
  /// that free them too.
  std::vector<int32_t> frees;
  /// The operator whose bytes it needs and that comes before it in the same
  /// phase; itself if it has such bytes; -1 for none. Only bounds read it.
  int32_t claims = -1;
};

struct PlanEdge {
  int32_t from, to;
  int64_t bytes = 0;
};

struct PlanDevice {
  int32_t kind = 0;
  std::optional<int64_t> memory; ///< bytes; none: enough
};

struct PlanGroup {
  std::string name;
  int32_t device = -1; ///< -1: free to choose
};

/// How long bytes take between two devices; nothing within one.
struct Link {
  int64_t latency = 0;
  int64_t bandwidth = 1; ///< bytes in a unit of time

  int64_t time(int64_t bytes) const {
    return bytes ? latency + (bytes + bandwidth - 1) / bandwidth : 0;
  }
};

struct PlanGraph {
  std::vector<std::string> deviceKinds;
  std::vector<PlanDevice> devices;
  std::vector<PlanGroup> groups;
  std::vector<PlanOp> ops;
  std::vector<PlanEdge> edges;
  Link link;

  /// -1 where `op` cannot run on `device`.
  int64_t time(int32_t op, int32_t device) const {
    return ops[op].times[devices[device].kind];
  }
  /// Its least time on a device where it may stand, -1 if there is none.
  int64_t leastTime(int32_t op) const;

  /// Whether there are devices and operators, indices are in range, sizes
  /// within the limits, edges without a cycle, and every operator has a device
  /// on which its whole group can run; otherwise an error that names the
  /// operators. All else here takes this as given.
  std::optional<Error> check() const;

  /// The operators so that edges go forward; as many as are not on a cycle or
  /// behind one.
  std::vector<int32_t> topologicalOrder() const;
};

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_PLANGRAPH_H
