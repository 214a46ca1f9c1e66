//===- RestartedSearch.h - One run after the other ------------ -*- C++ -*-===//
//-*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_RESTARTEDSEARCH_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_RESTARTEDSEARCH_H

#include "ProposalQueue.h"
#include "shardopt/Search/Bayesian/ScreenedSearch.h"

#include <functional>
#include <memory>
#include <vector>

namespace shardopt::search {

/// One search from the start, and all that it has learned.
class SearchRun {
public:
  virtual ~SearchRun();

  virtual ProposalQueue &proposalQueue() = 0;
  /// Adds something to the queue, unless nothing is left to propose.
  virtual void propose() = 0;
  virtual void learn(const Proposal &proposal,
                     const Evaluation &evaluation) = 0;
  /// Draws that were refused.
  virtual uint64_t refused() const = 0;
};

/// What a run is made of. All of it outlives the run.
struct RunParts {
  const SearcherContext &context;
  const ScreenedConstants &constants;
  EditPolicy *policy; ///< may be null
  const std::vector<Plan> &firstPlans;
  Rng &rng;
};

using MakeRun = std::function<std::unique_ptr<SearchRun>(const RunParts &)>;

/// A search by runs that `makeRun` makes. The first one has `firstPlans`.
/// After `patience` calls without a gain the next begins, which forgets what
/// was learned, but not what strategies evaluate to: proposals that are known
/// cost no call. What a policy learned stays with it.
std::unique_ptr<Searcher>
makeRestartedSearch(const SearcherContext &context,
                    const ScreenedConstants &constants,
                    std::unique_ptr<EditPolicy> policy,
                    std::vector<Plan> firstPlans, MakeRun makeRun);

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_RESTARTEDSEARCH_H
