//===- Searchers.h - The searchers of this library --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_SEARCHERS_H
#define SHARDOPT_LIB_SEARCH_SEARCHERS_H

#include "shardopt/Search/Megatron.h"
#include "shardopt/Search/SearcherRegistry.h"

namespace shardopt::search {

using SearcherPtr = std::unique_ptr<Searcher>;

/// Asks once, for the optimum that `findOptimum` found. The simulator has a
/// decomposition.
SearcherPtr makeExact(const SearcherContext &context);

/// Every degree tuple, ascending, with the dims of Megatron.
SearcherPtr makeMegatron(MegatronVariant variant,
                         const SearcherContext &context);

/// The uniform edit policy under a critic: no policy that learns.
ErrorOr<SearcherPtr> makeSurrogate(const SearcherContext &context);

/// Its constants and their ranges, as a table in Markdown.
std::string describeSurrogateConstants();

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_SEARCHERS_H
