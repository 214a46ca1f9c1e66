//===- FittingOrder.h - Orders that keep within memory ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether a schedule keeps within memory is decided by one operator after the
// other: take the starts of any schedule that does as an order. At each start,
// as many operators have begun and no fewer have ended, so that no more bytes
// are there. Times and transfers do not matter.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_FITTINGORDER_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_FITTINGORDER_H

#include "Deciding.h"

#include <set>

namespace shardopt::schedule {

/// Looks for orders of operators, and for devices of groups that are free.
/// Unknown where it gives up, after a number of steps or with the budget.
class FittingOrder {
public:
  FittingOrder(const Instance &instance, const Budget &budget);

  /// Whether there is a placement with an order, and if so, the schedule of one
  /// operator after the other.
  Answer find(std::optional<Schedule> &schedule);

private:
  /// What is done, and what memory has room for.
  struct State {
    std::vector<char> isDone;        ///< of operators
    std::vector<int32_t> waitsFor;   ///< of operators: predecessors
    std::vector<int32_t> freersLeft; ///< of operators
    std::vector<int32_t> ready;      ///< operators
    std::vector<int64_t> room;       ///< of devices
    std::vector<int32_t> order;      ///< so far
  };

  /// Tries the devices of a free group and all after it.
  Answer place(size_t index);
  Answer orderPlaced();
  /// Goes on from a state, to the end or nowhere.
  Answer orderFrom(State state);
  int32_t deviceOf(int32_t op) const { return devices[instance.at(op).group]; }
  bool fits(const State &state, int32_t op) const {
    return instance.at(op).birthBytes <= state.room[deviceOf(op)];
  }
  /// By how much less room its device has after it.
  int64_t growth(const State &state, int32_t op) const;
  void run(State &state, int32_t op) const;
  /// Runs what leaves no device less room, as long as there is any.
  void runWhatIsSafe(State &state) const;
  bool takeStep();

  const Instance &instance;
  const PlanGraph &graph;
  const Budget &budget;
  std::vector<int32_t> freeGroups;      ///< those of the most bytes first
  std::vector<int32_t> devices;         ///< of groups, -1 where open
  std::vector<int32_t> order;           ///< what was found
  std::set<std::vector<char>> deadEnds; ///< what was done there
  int64_t stepsLeft;
};

/// Where no schedule is known, offers one of one operator after the other, or
/// shows that none exists.
void improveByFitting(Incumbent &incumbent, const Budget &budget,
                      const std::string &finder);

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_FITTINGORDER_H
