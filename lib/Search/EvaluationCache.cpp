//===- EvaluationCache.cpp - Evaluations already known --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/EvaluationCache.h"
#include "shardopt/Support/Hash.h"

namespace shardopt::search {

size_t StrategyHash::operator()(const Strategy &strategy) const {
  WordHash hash;
  for (Degree degree : allDegrees)
    hash.add(strategy.degrees[degree]);
  for (int64_t layers : strategy.degrees.stages.layers)
    hash.add(layers);
  for (Dim dim : strategy.dims)
    hash.add(uint64_t(dim));
  return hash.value();
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
