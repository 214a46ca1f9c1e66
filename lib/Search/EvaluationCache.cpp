//===- EvaluationCache.cpp - Evaluations already known --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/EvaluationCache.h"

namespace shardopt::search {

size_t StrategyHash::operator()(const Strategy &strategy) const {
  // FNV-1a over whole words, with a final shift because its high bits mix best.
  uint64_t hash = 0xcbf29ce484222325;
  auto mix = [&](uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
  for (Degree degree : allDegrees)
    mix(strategy.degrees[degree]);
  for (Dim dim : strategy.dims)
    mix(static_cast<uint64_t>(dim));
  return hash ^ (hash >> 32);
}

const Evaluation *EvaluationCache::find(const Strategy &strategy) const {
  auto it = known.find(strategy);
  return it == known.end() ? nullptr : &it->second;
}

void EvaluationCache::insert(const Strategy &strategy,
                             const Evaluation &evaluation) {
  known.emplace(strategy, evaluation);
}

} // namespace shardopt::search
