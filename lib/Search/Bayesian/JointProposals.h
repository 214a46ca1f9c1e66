//===- JointProposals.h - Rounds of strategies worth a call --- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_JOINTPROPOSALS_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_JOINTPROPOSALS_H

#include "Admission.h"
#include "ScreenedProposals.h"
#include "shardopt/Search/Bayesian/JointCritic.h"
#include "shardopt/Search/Bayesian/Niches.h"

#include <map>
#include <set>
#include <vector>

namespace shardopt::search {

/// Makes rounds of proposals: what the critic expects most of, and what could
/// prove it wrong. The critic's tables say what all dims of a tuple of degrees
/// are worth, so that each proposal is an optimum over dims and not the best of
/// some draws.
class JointProposals {
public:
  /// The references outlive it; `policy` may be null.
  JointProposals(const StrategySpace &space, const Objective &objective,
                 const ScreenedConstants &constants, EditPolicy *policy,
                 JointCritic &critic, Niches &niches, Admission &admission,
                 Rng &rng);

  /// A known layout, or dims that are the same over runs of ops: most layouts
  /// are kept from one op to the next, and uniform draws pay for a reshard
  /// nearly everywhere.
  DimIndices drawLayout();

  /// At most `size` different strategies that may be evaluated; none where
  /// nothing was evaluated yet, or nothing was found. The critic is fitted; the
  /// policy sees `archive`.
  std::vector<Proposal> round(size_t size, const NichedArchive &archive);

private:
  const DimTables &tablesAt(size_t niche);
  void look(size_t niche);
  void lookAround();
  bool propose(size_t niche, const DimIndices &dims);
  const Niche::Elite &drawElite(size_t niche);

  DimIndices drawRuns();
  void redrawWindow(DimIndices &dims, size_t begin, size_t end);
  void kick();
  void kickByPolicy();
  void transplant();
  void exploreUnseen();
  void reachOut(size_t count);
  void drawUniform();
  void editOnce();
  void takeExpected();

  const StrategySpace &space;
  const Objective objective;
  const ScreenedConstants constants;
  EditPolicy *const policy; ///< null: windows are redrawn
  JointCritic &critic;
  Niches &niches;
  Admission &admission;
  Rng &rng;

  std::vector<DimIndices> layouts;             ///< `knownLayouts`
  std::set<std::pair<size_t, size_t>> reached; ///< niches with these layouts

  // Of the present round.
  uint64_t number = 0;
  std::vector<size_t> ranked;
  std::map<size_t, DimTables> tables; ///< by niche
  std::vector<size_t> looked;         ///< niches that were looked at
  std::set<size_t> taken;             ///< niches whose best was proposed
  std::vector<Proposal> proposed;
  const NichedArchive *archive = nullptr;
};

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_JOINTPROPOSALS_H
