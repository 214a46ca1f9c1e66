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

namespace shardopt::search {

/// Says of degrees, without an evaluation, whether every choice of dims is
/// infeasible: because the degrees themselves are illegal, or because what the
/// ops store at least exceeds the memory of a device. Degrees that only miss
/// the SLO are not masked, since how far they miss it is worth learning.
///
/// Refers to the decomposition and the space, which must outlive it. May be
/// asked from several threads at once.
class DegreeMask {
public:
  DegreeMask(const Decomposition &decomposition, const StrategySpace &space,
             Goal goal)
      : decomposition(decomposition), space(space), goal(goal) {}

  bool isHopeless(const Degrees &degrees) const;

private:
  const Decomposition &decomposition;
  const StrategySpace &space;
  const Goal goal;

  mutable std::mutex mutex; ///< of `known`
  mutable std::map<Degrees, bool> known;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_DEGREEMASK_H
