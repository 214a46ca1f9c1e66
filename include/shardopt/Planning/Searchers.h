//===- Searchers.h - All searchers of a build -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SEARCHERS_H
#define SHARDOPT_PLANNING_SEARCHERS_H

#include "shardopt/Search/SearcherRegistry.h"

namespace shardopt {

/// The searchers that `searcher=` can name: those of the search library and of
/// the libraries above it.
search::SearcherRegistry allSearchers();

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SEARCHERS_H
