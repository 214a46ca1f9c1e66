//===- ChildSolver.h - Work that can be ended at any time -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_CHILDSOLVER_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_CHILDSOLVER_H

#include "shardopt/Solvers/Schedule/Search.h"

#include <functional>

namespace shardopt::schedule {

/// Runs `work` in a process of its own and returns its numbers; none if the
/// budget was over before it ended, or if it crashed. For solvers that look at
/// the clock when it suits them and at signals never.
std::vector<double>
runInChild(const Budget &budget,
           const std::function<std::vector<double>()> &work);

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_CHILDSOLVER_H
