//===- ScreenedProposals.h - Edits that a critic likes best --- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_SCREENEDPROPOSALS_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_SCREENEDPROPOSALS_H

#include "Admission.h"
#include "shardopt/Search/Bayesian/Critic.h"
#include "shardopt/Search/Bayesian/EditPolicy.h"
#include "shardopt/Search/Bayesian/ScreenedSearch.h"

#include <memory>
#include <optional>
#include <vector>

namespace shardopt::search {

/// A strategy to evaluate, and how it was found.
struct Proposal {
  Point point;

  /// What an edited one was edited from.
  struct Origin {
    std::vector<EditSequence> trajectory;
    Evaluation parent;
    /// As it was when the edits were drawn: the policy learns from what it saw,
    /// however much was told since.
    NichedArchive archive;
  };
  std::optional<Origin> origin; ///< none where it was not edited
};

/// What a policy is told of it. Takes its trajectory.
EditOutcome outcomeOf(Proposal::Origin &origin, const Evaluation &evaluation,
                      const Objective &objective);

/// Draws edits of elites with a policy and lets a critic choose.
class ScreenedProposals {
public:
  /// The references outlive it; `critic` may be null.
  ScreenedProposals(const StrategySpace &space, const Objective &objective,
                    const ScreenedConstants &constants, EditPolicy &policy,
                    Critic *critic, Admission &admission, Rng &rng)
      : space(space), objective(objective), constants(constants),
        policy(policy), critic(critic), admission(admission), rng(rng) {}

  /// An edit of an elite of `archive`, which has one; none where all
  /// draws were refused. `pending` is asked for and not told yet.
  std::optional<Proposal> draw(const NichedArchive &archive,
                               const std::vector<Point> &pending);

  /// Notes that the degrees of `point` are, or will be, evaluated.
  void visit(const Point &point);

private:
  /// A draw that may be evaluated.
  struct Candidate {
    EditSequence edits;
    Point point;
    Critic::Opinion opinion;
    size_t draw; ///< its place among the draws
  };
  using Archive = NichedArchive;

  std::optional<Proposal> drawScreened(const Archive &archive);
  std::optional<Proposal> drawFirst(const Archive &archive);
  const Archive::Elite &drawParent(const Archive &archive);
  EditStart startAt(const Archive::Elite &elite) const;
  std::vector<EditSequence> drawEdits(const std::vector<EditStart> &starts,
                                      const Archive &archive);
  std::vector<Candidate> admitted(std::vector<EditSequence> drawn);
  void keepUnvisited(std::vector<Candidate> &candidates) const;
  void judge(std::vector<Candidate> &candidates);

  const StrategySpace &space;
  const Objective objective;
  const ScreenedConstants constants;
  EditPolicy &policy;
  Critic *const critic;
  Admission &admission;
  Rng &rng;
  PointSet visited; ///< degrees evaluated or pending
};

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_SCREENEDPROPOSALS_H
