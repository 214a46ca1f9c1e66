//===- RingTurn.h - Groups that go round and round --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In decode, a group of requests begins the next token once it has made the one
// before. In a turn of the ring each group makes one token and each machine
// runs every operator of every group once, in an order that is that of every
// turn: a modulo schedule of all groups, whose period is the time per token.
//
// A turn is a graph of its own, with what leads from it into a later one apart.
// A group may be in the midst of a token where a turn begins: with two groups
// on one device, one half a token ahead of the other, a turn is the first half
// of one with the second half of the other, then the other way round.
//
// With starts s within a turn, an edge is s(b) >= end(a), and one that leads h
// turns ahead is s(b) >= end(a) - h * period; so are the last operator of a
// machine and its first one, with h = 1. The least period is the largest time
// of a cycle for each turn that it goes through, and the starts are longest
// paths.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_RINGTURN_H
#define SHARDOPT_SOLVERS_SCHEDULE_RINGTURN_H

#include "shardopt/Solvers/Schedule/MachineOrders.h"
#include "shardopt/Solvers/Schedule/Search.h"

namespace shardopt::schedule {

/// `to` starts no sooner than `from` has ended, so many turns before.
struct ReturnEdge {
  int32_t from, to;
  int32_t turns = 1;
};

/// The turn of some groups. Operator i of group g is number g * n + i.
struct RingFrame {
  Instance instance; ///< of one repetition, without bytes
  std::vector<ReturnEdge> returns;
};

/// A turn of `groups` groups. Each of them goes through `graph`, whose edges
/// lead to later operators and whose groups all have a device. `isStaggered`:
/// group g begins with the operator before which g / `groups` of the time of
/// all lies; otherwise all begin with the first one. An error if it is too
/// large.
ErrorOr<RingFrame> makeRingFrame(const PlanGraph &graph, int32_t groups,
                                 bool isStaggered);

/// A turn. Turn n starts operator i at starts[i] + n * period.
struct RingTurn {
  MachineOrders orders;
  int64_t period = 0;
  std::vector<int64_t> starts;
  /// Where operators start as early as they can and a turn begins no sooner
  /// than a period after the one before, it takes so many turns from standstill
  /// until the starts are these.
  int32_t turnsToSettle = 0;
};

/// The turn of least period in which machines take `orders`. Nothing if the
/// orders contradict the edges, if it is not below `limit` (0: none), or once
/// `budget` (null: none) is over.
std::optional<RingTurn> planTurn(const RingFrame &frame,
                                 const MachineOrders &orders, int64_t limit = 0,
                                 const Budget *budget = nullptr);

/// What no turn of `groups` groups undercuts: what the busiest machine does,
/// and the longest chain of a group.
int64_t leastTurn(const PlanGraph &graph, int32_t groups);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_RINGTURN_H
