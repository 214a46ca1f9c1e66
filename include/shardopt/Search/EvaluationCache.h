//===- EvaluationCache.h - Evaluations already known ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_EVALUATIONCACHE_H
#define SHARDOPT_SEARCH_EVALUATIONCACHE_H

#include "shardopt/Model/Strategy.h"

#include <cstddef>
#include <unordered_map>

namespace shardopt::search {

struct StrategyHash {
  size_t operator()(const Strategy &strategy) const;
};

/// The evaluations of strategies seen before. It saves the time of repeated
/// ones; what counts as an evaluation does not depend on it.
class EvaluationCache {
public:
  /// The evaluation of `strategy`, or null. It stays where it is.
  const Evaluation *find(const Strategy &strategy) const;

  /// Remembers `evaluation` unless `strategy` is known already.
  void insert(const Strategy &strategy, const Evaluation &evaluation);

  /// The number of different strategies.
  size_t size() const { return known.size(); }

private:
  // Looked up only: the order of its elements is not defined.
  std::unordered_map<Strategy, Evaluation, StrategyHash> known;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_EVALUATIONCACHE_H
