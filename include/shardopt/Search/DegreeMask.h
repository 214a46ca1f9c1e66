//===- DegreeMask.h - Degrees that cannot be feasible -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DEGREEMASK_H
#define SHARDOPT_SEARCH_DEGREEMASK_H

#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"

#include <map>
#include <mutex>
#include <utility>

namespace shardopt::search {

/// Says of degrees, without an evaluation, whether every choice of dims is
/// infeasible: because the degrees themselves are illegal, or because what the
/// ops store, or hand on, at least exceeds its limit. Degrees that only miss
/// the SLO are not masked, since how far they miss it is worth learning.
///
/// Refers to the decomposition, which must outlive it. May be asked from
/// several threads at once.
class DegreeMask {
public:
  /// `domains` are the dims that each op may have.
  DegreeMask(const Decomposition &decomposition, DimDomains domains, Goal goal)
      : decomposition(decomposition), domains(std::move(domains)), goal(goal) {}

  bool isHopeless(const Degrees &degrees) const;

private:
  const Decomposition &decomposition;
  const DimDomains domains;
  const Goal goal;

  mutable std::mutex mutex; ///< of `known`
  mutable std::map<Degrees, bool> known;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_DEGREEMASK_H
