//===- SearcherRegistry.cpp - Searchers by name ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/SearcherRegistry.h"
#include "Searchers.h"
#include "shardopt/Support/Suggest.h"

namespace shardopt::search {

/// All names but `but`, as a sentence's end: "a, b, c".
static std::string namesBut(const std::vector<std::string> &names,
                            const std::string &but) {
  std::string text;
  for (const std::string &name : names)
    if (name != but)
      text += (text.empty() ? "" : ", ") + name;
  return text;
}

SearcherRegistry SearcherRegistry::builtin() {
  SearcherRegistry registry;
  registry.add("exact", makeExact, /*needsDecomposition=*/true);
  auto addMegatron = [&](const char *name, MegatronVariant variant) {
    registry.add(name, [variant](const SearcherContext &context) {
      return makeMegatron(variant, context);
    });
  };
  addMegatron("megatron-classic", MegatronVariant::Classic);
  addMegatron("megatron-slice", MegatronVariant::Slice);
  addMegatron("megatron-sp", MegatronVariant::SequenceParallel);
  registry.add("random", makeRandom);
  registry.add("random-walk", makeRandomWalk);
  registry.add("annealing", makeAnnealing);
  registry.add("genetic", makeGenetic);
  registry.add("cross-entropy", makeCrossEntropy);
  registry.add("coordinate", makeCoordinate);
  registry.add("surrogate", makeSurrogate);
  return registry;
}

void SearcherRegistry::add(std::string name, Factory factory,
                           bool needsDecomposition) {
  for (Entry &entry : entries)
    if (entry.name == name) {
      entry = {std::move(name), std::move(factory), needsDecomposition};
      return;
    }
  entries.push_back({std::move(name), std::move(factory), needsDecomposition});
}

std::vector<std::string> SearcherRegistry::names() const {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name);
  return names;
}

ErrorOr<std::unique_ptr<Searcher>>
SearcherRegistry::create(const std::string &name,
                         const SearcherContext &context) const {
  for (const Entry &entry : entries) {
    if (entry.name != name)
      continue;
    if (entry.needsDecomposition && !context.simulator.decomposition())
      return Error{"searcher '" + name +
                   "' does not apply: it needs a simulator that can be "
                   "decomposed, and this one is a black box; the others: " +
                   namesBut(names(), name)};
    return entry.factory(context);
  }
  return Error{"unknown searcher '" + abbreviate(name) + "', " +
               listKnown(name, names())};
}

} // namespace shardopt::search
