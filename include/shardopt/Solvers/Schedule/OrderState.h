//===- OrderState.h - Machine orders and what a move does to them -*- C++ -*-=//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_ORDERSTATE_H
#define SHARDOPT_SOLVERS_SCHEDULE_ORDERSTATE_H

#include "shardopt/Solvers/Schedule/MachineOrders.h"

#include <limits>

namespace shardopt::schedule {

/// The orders of all machines with the earliest starts that they permit.
///
/// A move takes one operator to another position of its machine. It is tried,
/// which leaves the state as it was but for the candidate, and then committed
/// or forgotten. Only what may come after the first operator that moved is
/// timed again; the naive twin is `retime`.
class OrderState {
public:
  OrderState(const Instance &instance, const Schedule &schedule);

  struct Move {
    int32_t machine, from, to; ///< positions, `to` after it was taken out
  };

  /// The makespan after `move`; nothing if it contradicts edges, exceeds memory
  /// or surely gets longer than `limit`.
  std::optional<int64_t> tryMove(const Move &move, int64_t limit);
  /// Takes what was tried last, which must have had a makespan.
  void commit();

  int64_t makespan() const { return length; }
  Schedule schedule() const { return {devices, starts}; }
  const MachineOrders &orders() const { return sequences; }
  int32_t machineOf(int32_t op) const { return machines[op]; }
  int32_t positionOf(int32_t op) const { return positions[op]; }
  int32_t period() const { return instance.period(); }

  /// The operators of a longest path, from its end.
  std::vector<int32_t> criticalPath() const;

private:
  struct Tail {
    int32_t op;
    int64_t delay;
  };
  void buildArcs();
  /// Times what stands at `first` or later of `sorted`, into the candidate.
  bool retimeFrom(int32_t first, int64_t limit);
  /// Whether the machine `ruler` can follow its order, up to the position
  /// `last`, with the memory of its device.
  bool fitsInOrder(int32_t ruler, int32_t last);
  /// Whether the devices fit whose memory is not ruled by one order.
  bool fitsMemory();
  void findRulers();
  void applyTo(std::vector<int32_t> &order, const Move &move) const;
  void link(const std::vector<int32_t> &order, int32_t from, int32_t to);

  const Instance &instance;
  std::vector<int32_t> devices;  ///< of groups
  std::vector<int32_t> machines; ///< of operators
  std::vector<int64_t> times;    ///< of operators
  std::vector<int64_t>
      leastAfter; ///< of operators: from their start to the end
  std::vector<int32_t> arcOffsets; ///< of operators: edges to later ones
  std::vector<Tail> arcs;
  std::vector<int32_t> predecessorOffsets;
  std::vector<Tail> predecessorArcs;

  MachineOrders sequences;
  std::vector<int32_t> positions;      ///< of operators, in their sequence
  std::vector<int32_t> before, behind; ///< of operators, on their machine; -1
  std::vector<int32_t> sorted;         ///< a topological order
  std::vector<int32_t> ranks;          ///< of operators, in `sorted`
  std::vector<int64_t> starts;
  int64_t length = 0;

  // The candidate: what differs from the state.
  Move tried{-1, 0, 0};
  std::vector<int64_t> newStarts;
  std::vector<int32_t> newSorted; ///< from `newFirst` on
  int32_t newFirst = 0;
  int64_t newLength = 0;

  // Buffers.
  std::vector<int32_t> waitsFor, ready;
  /// Bytes that come or go at a time, of each device.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> changes;
  std::vector<int64_t> rooms; ///< of devices
  /// Of devices: the machine that alone takes and gives back memory, operator
  /// by operator, so that its order says what fits; -1 if there is none.
  std::vector<int32_t> rulers;
  /// Of operators with bytes, while an order is followed.
  struct Life {
    int32_t freed = 0; ///< how many of their freers ended
    bool isBorn = false;
  };
  std::vector<Life> lives;
};

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_ORDERSTATE_H
