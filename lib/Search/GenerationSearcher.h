//===- GenerationSearcher.h - Propose, then learn ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_GENERATIONSEARCHER_H
#define SHARDOPT_LIB_SEARCH_GENERATIONSEARCHER_H

#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/SearcherRegistry.h"

namespace shardopt::search {

/// A searcher that proposes points in generations and learns from one when all
/// of it is evaluated. Generations are the searcher's own and do not depend on
/// how many strategies are asked for at a time, so neither does the search.
class GenerationSearcher : public Searcher {
public:
  std::vector<Strategy> ask(size_t n) final;
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) final;

protected:
  explicit GenerationSearcher(const SearcherContext &context)
      : space(context.space), objective(context.objective), rng(context.seed) {}

  /// The next generation, of any size above 0.
  virtual std::vector<Point> propose() = 0;

  /// Called once for every generation, with one evaluation a point.
  virtual void learn(const std::vector<Point> &points,
                     const std::vector<Evaluation> &evaluations) = 0;

  const StrategySpace &space;
  const Objective objective;
  Rng rng;

private:
  // Points [0, asked) of the generation are asked for, and those told have
  // their evaluation. Between calls from outside both are equal in number.
  std::vector<Point> generation;
  std::vector<Evaluation> told;
  size_t asked = 0;
};

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_GENERATIONSEARCHER_H
