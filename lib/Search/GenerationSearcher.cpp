//===- GenerationSearcher.cpp - Propose, then learn -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"

#include <algorithm>
#include <cassert>

namespace shardopt::search {

std::vector<Strategy> GenerationSearcher::ask(size_t n) {
  assert(told.size() == asked && "ask before everything was told");
  if (asked == generation.size()) {
    generation = propose();
    assert(!generation.empty() && "a generation has a point");
    told.clear();
    asked = 0;
  }
  size_t end = std::min(generation.size(), asked + n);
  std::vector<Strategy> strategies;
  for (; asked < end; ++asked)
    strategies.push_back(space.strategyAt(generation[asked]));
  return strategies;
}

void GenerationSearcher::tell(const std::vector<Strategy> &strategies,
                              const std::vector<Evaluation> &evaluations) {
  told.insert(told.end(), evaluations.begin(), evaluations.end());
  if (told.size() == generation.size())
    learn(generation, told);
}

} // namespace shardopt::search
