//===- Infeasibility.h - What a request lacks -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_INFEASIBILITY_H
#define SHARDOPT_LIB_PLANNING_INFEASIBILITY_H

#include "shardopt/Planning/Scenario.h"
#include "shardopt/Search/Infeasible.h"

#include <optional>

namespace shardopt {

/// For a space without a valid strategy, one that shows what binds: the fastest
/// of those that fit in memory; if none does, one whose values between ops take
/// the least, where these are limited, or else one that needs the least memory;
/// if all are structurally invalid, the first. After a stop, any.
search::Plan findClosest(const Scenario &scenario,
                         const search::StrategySpace &space, unsigned threads,
                         const std::function<bool()> &stopRequested);

/// The smallest single change to `request` after which something is feasible.
std::optional<search::NextFeasible>
findNextFeasible(const Scenario &scenario, const search::SpaceRequest &request,
                 search::Goal goal, unsigned threads,
                 const std::function<bool()> &stopRequested);

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_INFEASIBILITY_H
