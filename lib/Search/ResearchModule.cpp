//===- ResearchModule.cpp - Searchers that are not linked -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/ResearchModule.h"

namespace shardopt::search {

static ErrorOr<const ResearchSearchers *> open(const std::string &name) {
  return openResearch<ResearchSearchers>("searcher '" + name + "'");
}

void addResearchSearcher(SearcherRegistry &registry, const std::string &name,
                         const char *summary, bool hasConstants) {
  SearcherTraits traits;
  traits.summary = summary;
  if (hasConstants)
    traits.constants = [name] {
      auto research = open(name);
      return research ? (*research)->constants(name)
                      : research.error().message + "\n";
    };
  auto create = [name](const SearcherContext &context)
      -> ErrorOr<std::unique_ptr<Searcher>> {
    auto research = open(name);
    if (!research)
      return research.error();
    return (*research)->create(name, context);
  };
  registry.add(name, create, std::move(traits));
}

} // namespace shardopt::search
