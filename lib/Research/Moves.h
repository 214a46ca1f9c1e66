//===- Moves.h - Small changes of a strategy --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_RESEARCH_MOVES_H
#define SHARDOPT_LIB_RESEARCH_MOVES_H

#include "shardopt/Search/StrategySpace.h"

namespace shardopt::search {

/// The variables that the space leaves open.
std::vector<size_t> freeVariables(const StrategySpace &space);

/// Gives one variable of `variables` another value, both drawn uniformly. If
/// the degrees then exceed the device limit, the others of tp, ep, pp follow.
/// Does nothing if `variables`, which are free, are none.
void changeOne(const StrategySpace &space, const std::vector<size_t> &variables,
               Point &point, Rng &rng);

/// Gives `variable` a value other than the present one, drawn uniformly. The
/// degrees may then exceed the device limit.
void redraw(const StrategySpace &space, size_t variable, Point &point,
            Rng &rng);

} // namespace shardopt::search

#endif // SHARDOPT_LIB_RESEARCH_MOVES_H
