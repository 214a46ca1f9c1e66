//===- ScreenedSearch.h - Edit elites, ask a critic -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_SCREENEDSEARCH_H
#define SHARDOPT_SEARCH_BAYESIAN_SCREENEDSEARCH_H

#include "shardopt/Search/Bayesian/EditPolicy.h"
#include "shardopt/Search/SearcherRegistry.h"
#include "shardopt/Support/Constants.h"

#include <memory>

namespace shardopt::search {

/// The constants of the searchers that edit elites under a critic.
struct ScreenedConstants {
  int64_t elites = 10;
  double greed = 1.5;
  int64_t initial = 64;
  int64_t warmPlans = 16;
  int64_t warmInitial = 8;
  int64_t draws = 32;
  int64_t imagined = 8;
  int64_t tries = 60;
  double unscreened = 0;
  double explore = .1;
  int64_t refit = 4;
  int64_t patience = 1000;

  // Of the joint critic.
  int64_t round = 12;
  int64_t policyDraws = 8;
  double policyShare = .5;
  double screened = .3;
  double kicks = .4;
  double transplants = .15;
  double reach = .2;
  double uniform = .07;
  double singles = .1;

  /// Adds them to `table`, which must not outlive them.
  void addTo(ConstantTable &table);
};

/// The searcher that `searcher=surrogate` and `searcher=ppo` are, with the
/// policy that makes the difference.
///
/// A niched archive keeps the best strategies. For each evaluation one of them
/// is the parent; the policy draws edits of it, draws that are known,
/// infeasible or out of the space are rejected, and the critic scores the rest.
/// The best of them are imagined to be parents in their turn and edited once
/// more; the best score of both stages is evaluated, and policy, critic and
/// archive are told. Nothing is evaluated twice, and nothing that is pending is
/// proposed; the critic counts what is pending at its predicted value, and the
/// policy is told of an edit with the elites that it was drawn from.
///
/// That is how the critics search that have an opinion of single strategies.
/// The joint critic has one of all dims of a tuple of degrees at once, and is
/// searched in rounds (`JointProposals`): of optima over dims at the most
/// promising degrees, and of what could prove the critic wrong: windows of ops
/// are redrawn, or the policy draws edits, which stay while the critic adapts
/// the other dims. A share of each round is still found by screening single
/// edits drawn uniformly: critics that are wrong in other ways.
///
/// Either begins with the best plans of the free model, if the options ask for
/// a warm start, and with strategies drawn uniformly; and again, without the
/// plans, after `patience` calls without a gain. Without a critic the first
/// draw that is not rejected is evaluated. A null policy is the uniform one.
///
/// An unknown critic, prior or warm start, or one that needs a free model where
/// there is none: an error.
ErrorOr<std::unique_ptr<Searcher>>
makeScreenedSearch(const SearcherContext &context,
                   const ScreenedConstants &constants,
                   std::unique_ptr<EditPolicy> policy);

/// How much better `child` is than `parent`, at least 0 and at most 1: the log
/// of the ratio of the goal if both are valid, 1 if only the child is, a share
/// of the decrease of the violation if neither is.
double editReward(const Evaluation &parent, const Evaluation &child,
                  const Objective &objective);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_SCREENEDSEARCH_H
