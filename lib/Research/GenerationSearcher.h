//===- GenerationSearcher.h - Propose, then learn ------------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_RESEARCH_GENERATIONSEARCHER_H
#define SHARDOPT_LIB_RESEARCH_GENERATIONSEARCHER_H

#include "shardopt/Search/PendingSet.h"
#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/SearcherRegistry.h"

#include <deque>
#include <optional>

namespace shardopt::search {

/// A searcher that proposes points in generations and learns from one when all
/// of it is evaluated. Generations are the searcher's own and do not depend on
/// how many strategies are asked for at a time, so neither does the search.
///
/// Asked for more while a generation is pending, it begins the next one: each
/// point is drawn from what is known by then. Generations are learned from in
/// the order in which they began.
class GenerationSearcher : public Searcher {
public:
  std::vector<Strategy> ask(size_t n) final;
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) final;

protected:
  explicit GenerationSearcher(const SearcherContext &context)
      : context(context), space(*this->context.space),
        objective(context.objective), rng(context.seed) {}

  /// Begins a generation and returns its size; 0 where that has to wait until
  /// all that is pending was told.
  virtual size_t begin() = 0;

  /// Its next point.
  virtual Point draw() = 0;

  /// Called once for every generation, with one evaluation a point.
  virtual void learn(const std::vector<Point> &points,
                     const std::vector<Evaluation> &evaluations) = 0;

  /// Whether some generation was not learned from yet.
  bool isAhead() const { return !open.empty(); }

  const SearcherContext context;
  const StrategySpace &space;
  const Objective objective;
  Rng rng;

private:
  struct Generation {
    size_t size;
    std::vector<Point> points; ///< those drawn so far
    std::vector<std::optional<Evaluation>> told;
    size_t numTold = 0;
  };
  /// The generation of a pending point, and its place there.
  struct Member {
    uint64_t generation;
    size_t index;
  };

  std::deque<Generation> open; ///< all but the last one are drawn completely
  uint64_t firstOpen = 0;      ///< the number of its front
  PendingSet<Member> pending;
};

} // namespace shardopt::search

#endif // SHARDOPT_LIB_RESEARCH_GENERATIONSEARCHER_H
