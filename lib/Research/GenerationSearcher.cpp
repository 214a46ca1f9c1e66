//===- GenerationSearcher.cpp - Propose, then learn -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"

#include <algorithm>

namespace shardopt::search {

std::vector<Strategy> GenerationSearcher::ask(size_t n) {
  bool isDrawn = open.empty() || open.back().points.size() == open.back().size;
  if (isDrawn) {
    size_t size = begin();
    if (size == 0)
      return {};
    open.push_back({size, {}, std::vector<std::optional<Evaluation>>(size)});
  }
  Generation &generation = open.back();
  uint64_t number = firstOpen + open.size() - 1;
  std::vector<Strategy> strategies;
  while (strategies.size() < n && generation.points.size() < generation.size) {
    size_t index = generation.points.size();
    generation.points.push_back(draw());
    strategies.push_back(space.strategyAt(generation.points[index]));
    pending.add(strategies.back(), {number, index});
  }
  return strategies;
}

void GenerationSearcher::tell(const std::vector<Strategy> &strategies,
                              const std::vector<Evaluation> &evaluations) {
  pending.settle(strategies, evaluations,
                 [&](const Member &member, const Evaluation &evaluation) {
                   Generation &of = open[member.generation - firstOpen];
                   of.told[member.index] = evaluation;
                   ++of.numTold;
                 });
  while (!open.empty() && open.front().numTold == open.front().size) {
    std::vector<Evaluation> told;
    for (const std::optional<Evaluation> &evaluation : open.front().told)
      told.push_back(*evaluation);
    std::vector<Point> points = std::move(open.front().points);
    open.pop_front();
    ++firstOpen;
    learn(points, told);
  }
}

} // namespace shardopt::search
