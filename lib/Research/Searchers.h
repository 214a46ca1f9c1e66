//===- Searchers.h - The searchers of this module ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_RESEARCH_SEARCHERS_H
#define SHARDOPT_LIB_RESEARCH_SEARCHERS_H

#include "shardopt/Search/SearcherRegistry.h"

namespace shardopt::search {

using SearcherPtr = std::unique_ptr<Searcher>;

/// Independent uniform draws.
SearcherPtr makeRandom(const SearcherContext &context);

/// A walk that redraws one variable a step and always accepts.
SearcherPtr makeRandomWalk(const SearcherContext &context);

/// Simulated annealing, on the logarithm of the objective unless told
/// otherwise.
ErrorOr<SearcherPtr> makeAnnealing(const SearcherContext &context);

/// Its constants and their ranges, as a table in Markdown.
std::string describeAnnealingConstants();

/// A genetic algorithm: tournaments, uniform crossover, two elites.
SearcherPtr makeGenetic(const SearcherContext &context);

/// The cross-entropy method: one categorical distribution a variable, moved
/// towards the best of its draws.
SearcherPtr makeCrossEntropy(const SearcherContext &context);

/// Coordinate descent from random starts, with exhaustive moves of pairs of
/// degrees where no single variable improves.
SearcherPtr makeCoordinate(const SearcherContext &context);

} // namespace shardopt::search

#endif // SHARDOPT_LIB_RESEARCH_SEARCHERS_H
