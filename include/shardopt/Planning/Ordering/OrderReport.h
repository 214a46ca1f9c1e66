//===- OrderReport.h - What was ordered, for people and programs ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ORDERING_ORDERREPORT_H
#define SHARDOPT_PLANNING_ORDERING_ORDERREPORT_H

#include "shardopt/Planning/Ordering/JointPlan.h"

namespace shardopt::ordering {

/// A table, a row for each number of chunks; the one that is `best` has a mark.
std::string orderTable(const std::vector<OrderedStep> &steps, size_t best);

/// The same and more as JSON, with a line break at its end.
std::string orderJson(const std::vector<OrderedStep> &steps, size_t best);

/// The same of turns of a ring, a row for each number of groups.
std::string ringTable(const std::vector<OrderedRing> &rings, size_t best);
std::string ringJson(const std::vector<OrderedRing> &rings, size_t best);

/// The strategy, in its own order, and the joint plan, with their bound;
/// `simulator` is named as that of the times.
std::string jointTable(const JointPlan &plan, const std::string &simulator);
/// The same and more as JSON; `opNames` are those of `Strategy::dims`.
std::string jointJson(const JointPlan &plan, const std::string &simulator,
                      const std::vector<std::string> &opNames);

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_ORDERREPORT_H
