//===- Moves.cpp - Small changes of a strategy ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Moves.h"

namespace shardopt::search {

std::vector<size_t> freeVariables(const StrategySpace &space) {
  std::vector<size_t> variables;
  for (size_t variable = 0; variable < space.numVariables(); ++variable)
    if (space.domainSize(variable) > 1)
      variables.push_back(variable);
  return variables;
}

void redraw(const StrategySpace &space, size_t variable, Point &point,
            Rng &rng) {
  uint32_t value = rng.below(space.domainSize(variable) - 1);
  point[variable] = value < point[variable] ? value : value + 1;
}

void changeOne(const StrategySpace &space, const std::vector<size_t> &variables,
               Point &point, Rng &rng) {
  if (variables.empty())
    return;
  size_t variable = variables[rng.below(variables.size())];
  redraw(space, variable, point, rng);
  space.repair(point, variable, rng);
}

} // namespace shardopt::search
