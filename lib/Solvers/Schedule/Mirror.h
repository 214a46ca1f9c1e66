//===- Mirror.h - Graphs that are their own mirror image --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_MIRROR_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_MIRROR_H

#include "shardopt/Solvers/Schedule/PlanGraph.h"

#include <optional>
#include <vector>

namespace shardopt::schedule {

/// For each operator another one, so that a schedule in which the two are
/// swapped is a schedule again: those of the two directions of a bidirectional
/// pipeline: one is the other seen from the end. Operators of one type
/// and stage are looked at; there have to be two of them.
///
/// Schedules that are their own image are half as many decisions. If none
/// exists, that says nothing of the others.
std::optional<std::vector<int32_t>> findMirror(const PlanGraph &graph);

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_MIRROR_H
