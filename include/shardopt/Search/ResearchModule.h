//===- ResearchModule.h - Searchers that are not linked ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The searchers that searches are compared with lie in a module (lib/Research)
// of the same build. The registry knows their names and what they read, and
// opens the module when one of them is created.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_RESEARCHMODULE_H
#define SHARDOPT_SEARCH_RESEARCHMODULE_H

#include "shardopt/Search/SearcherRegistry.h"
#include "shardopt/Support/ResearchFile.h"

namespace shardopt::search {

/// What the entry of the module returns.
struct ResearchSearchers {
  uint32_t version; ///< never moves

  /// Builds the searcher `name`, which the module has.
  ErrorOr<std::unique_ptr<Searcher>> (*create)(const std::string &name,
                                               const SearcherContext &context);
  /// Its constants as `ConstantTable::markdown` prints them.
  std::string (*constants)(const std::string &name);

  static constexpr const char *entry = "shardoptResearchSearchers";
  static constexpr uint32_t layout = layoutVersion(
      1, {sizeof(SearcherContext), sizeof(StrategySpace), sizeof(Strategy),
          sizeof(Evaluation), sizeof(Objective), sizeof(SearcherOptions)});
};

/// Adds a searcher of the module.
void addResearchSearcher(SearcherRegistry &registry, const std::string &name,
                         const char *summary, bool hasConstants = false);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_RESEARCHMODULE_H
