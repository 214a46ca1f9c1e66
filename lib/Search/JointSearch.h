//===- JointSearch.h - Degrees and dims searched together ----- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_JOINTSEARCH_H
#define SHARDOPT_LIB_SEARCH_JOINTSEARCH_H

#include "shardopt/Search/ScreenedSearch.h"

#include <memory>
#include <vector>

namespace shardopt::search {

/// A search in rounds of `JointProposals`. It begins with `firstPlans`, and
/// with uniform degrees: half of them with uniform dims, half with dims in
/// runs. After `patience` calls without a gain it begins again and forgets what
/// it learned, but not what strategies evaluate to: proposals that are known
/// cost no call. Nothing is evaluated twice, and nothing that is pending is
/// proposed; the critic counts what is pending at its predicted value. `policy`
/// may be null.
std::unique_ptr<Searcher> makeJointSearch(const SearcherContext &context,
                                          const ScreenedConstants &constants,
                                          std::unique_ptr<EditPolicy> policy,
                                          const std::vector<Plan> &firstPlans);

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_JOINTSEARCH_H
