//===- BalancedChoice.h - Dims and stages by selection ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph of strategies is one of given stages. Where these are free and layers
// are costed as a whole, dims are chosen for a cut, and a cut for these dims,
// in turn, until neither is better. The bound holds for every cut: the slowest
// stage takes no less than the mean of all.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_BALANCEDCHOICE_H
#define SHARDOPT_SEARCH_DIMS_BALANCEDCHOICE_H

#include "shardopt/Search/Dims/OptimalChoice.h"

namespace shardopt::selection {

struct BalancedChoice {
  /// Its bound is that of all cuts; it is proved where the best meets that.
  ChoiceResult choice;
  StageCut cut; ///< of the best; empty: as even as can be
};

/// Of dims in `domains`, one set a variable. `degrees` fit, have several stages
/// and do not say which layers these have.
BalancedChoice balancedChoice(const cost::CostModel &costs,
                              const Degrees &degrees,
                              Span<const cost::DimSet> domains, Goal goal,
                              std::optional<double> incumbent = {});

/// `cut` with layers moved from its slowest, or fullest, stage to others, as
/// long as `dims` are worth more then.
StageCut moveLayers(const cost::CostModel &costs, const Degrees &degrees,
                    const std::vector<Dim> &dims, StageCut cut, Goal goal);

} // namespace shardopt::selection

#endif // SHARDOPT_SEARCH_DIMS_BALANCEDCHOICE_H
