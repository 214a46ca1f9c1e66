//===- FirstDifference.h - Which op went wrong first ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_EXECUTION_FIRSTDIFFERENCE_H
#define SHARDOPT_LIB_EXECUTION_FIRSTDIFFERENCE_H

#include "shardopt/Execution/Run.h"

namespace shardopt::execution {

/// Compares the values that two executions kept, in the order of the first, and
/// describes the first one that differs by more than `tolerance` of its largest
/// magnitude: "out_proj, layer 3, step 0, ep 1 (layout P): 1.2e-01 of the
/// largest". `request` is the second one's.
std::string findFirstDifference(const ProgramInterface &whole,
                                const RankOutcome &expected,
                                const ProgramInterface &parts,
                                const std::vector<RankOutcome> &found,
                                const RunRequest &request, double tolerance);

} // namespace shardopt::execution

#endif // SHARDOPT_LIB_EXECUTION_FIRSTDIFFERENCE_H
