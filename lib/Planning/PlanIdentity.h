//===- PlanIdentity.h - What a search for a plan is -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_PLANIDENTITY_H
#define SHARDOPT_LIB_PLANNING_PLANIDENTITY_H

#include "shardopt/Planning/Planner.h"
#include "shardopt/Search/EvaluationLog.h"

#include <string>

namespace shardopt {

/// What the search of `request` is, under the names of its options: all that
/// its evaluations and its result depend on. Threads are not part of it.
/// `searcher` and `budget` are those that are used where `request` leaves them
/// open.
search::SearchIdentity planIdentity(const Scenario &scenario,
                                    const PlanRequest &request,
                                    const search::StrategySpace &space,
                                    const std::string &searcher,
                                    uint64_t budget);

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_PLANIDENTITY_H
