//===- JointRun.h - Degrees and dims searched together -------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_JOINTRUN_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_JOINTRUN_H

#include "RestartedSearch.h"

#include <memory>

namespace shardopt::search {

/// A run in rounds of `JointProposals`. It begins with the first plans, and
/// with uniform degrees: half of them with uniform dims, half with dims in
/// runs. Nothing is evaluated twice, and nothing that is pending is proposed;
/// the critic counts what is pending at its predicted value.
std::unique_ptr<SearchRun> makeJointRun(const RunParts &parts);

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_JOINTRUN_H
