//===- SearcherRegistry.cpp - Searchers by name ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/SearcherRegistry.h"
#include "Searchers.h"
#include "shardopt/Search/ResearchModule.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>

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
  registry.add("exact", makeExact,
               {"Finds the optimum and proves it, by bounds and dynamic "
                "programming.",
                /*needsDecomposition=*/true});
  auto addMegatron = [&](const char *name, MegatronVariant variant,
                         const char *summary) {
    registry.add(name,
                 [variant](const SearcherContext &context) {
                   return makeMegatron(variant, context);
                 },
                 {summary});
  };
  addMegatron("megatron-classic", MegatronVariant::Classic,
              "Tries all degrees with the dims of Megatron's tensor "
              "parallelism.");
  addMegatron("megatron-slice", MegatronVariant::Slice,
              "Tries all degrees with those dims, tokens exchanged in slices.");
  addMegatron("megatron-sp", MegatronVariant::SequenceParallel,
              "Tries all degrees with the dims of Megatron's sequence "
              "parallelism.");
  addResearchSearcher(registry, "random", "Draws strategies uniformly.");
  addResearchSearcher(registry, "random-walk",
                      "Redraws one variable a step and always accepts.");
  addResearchSearcher(registry, "annealing",
                      "Simulated annealing, on the logarithm of the objective "
                      "unless told otherwise.",
                      /*hasConstants=*/true);
  addResearchSearcher(registry, "genetic",
                      "A genetic algorithm: tournaments, uniform crossover, "
                      "two elites.");
  addResearchSearcher(registry, "cross-entropy",
                      "The cross-entropy method, one categorical distribution "
                      "a variable.");
  addResearchSearcher(registry, "coordinate",
                      "Coordinate descent from random starts, with moves of "
                      "pairs of degrees.");
  registry.add(
      "surrogate", makeSurrogate,
      {"Edits a MAP-Elites archive, untrained, and screens the "
       "edits by a critic fitted on all evaluations so far.",
       /*needsDecomposition=*/false,
       {"agent-critic", "agent-critic-prior", "agent-mask", "warm-start"},
       describeSurrogateConstants});
  return registry;
}

void SearcherRegistry::add(std::string name, Factory factory,
                           SearcherTraits traits) {
  Entry added{std::move(name), std::move(factory), std::move(traits)};
  for (Entry &entry : entries)
    if (entry.name == added.name) {
      entry = std::move(added);
      return;
    }
  entries.push_back(std::move(added));
}

std::vector<std::string> SearcherRegistry::names() const {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name);
  return names;
}

bool SearcherRegistry::Entry::reads(const std::string &option) const {
  return std::find(traits.options.begin(), traits.options.end(), option) !=
             traits.options.end() ||
         (option == "agent-options" && traits.constants);
}

std::string SearcherRegistry::markdown() const {
  std::string text;
  for (const Entry &entry : entries) {
    text += (text.empty() ? "## `" : "\n## `") + entry.name + "`\n\n" +
            entry.traits.summary + "\n";
    std::string options;
    for (const auto &[option, value] : SearcherOptions().named())
      if (entry.reads(option))
        options += (options.empty() ? "`" : ", `") + option + "`";
    if (!options.empty())
      text += "\nOptions: " + options + ".\n";
    if (entry.traits.constants)
      text += "\n" + entry.traits.constants();
  }
  return text;
}

std::optional<Error>
SearcherRegistry::findUnread(const Entry &entry,
                             const SearcherOptions &options) const {
  for (const auto &[option, value] : options.named()) {
    if (value.empty() || entry.reads(option))
      continue;
    std::string readers;
    for (const Entry &other : entries)
      if (other.reads(option))
        readers += (readers.empty() ? "" : ", ") + other.name;
    return Error{"'" + option + "' is given, but searcher '" + entry.name +
                 "' does not read it; searchers that do: " +
                 (readers.empty() ? "none" : readers)};
  }
  return std::nullopt;
}

ErrorOr<std::unique_ptr<Searcher>>
SearcherRegistry::create(const std::string &name,
                         const SearcherContext &context) const {
  for (const Entry &entry : entries) {
    if (entry.name != name)
      continue;
    if (entry.traits.needsDecomposition && !context.decomposition)
      return Error{"searcher '" + name +
                   "' does not apply: it needs a simulator that can be "
                   "decomposed, and this one is a black box; the others: " +
                   namesBut(names(), name)};
    if (auto error = findUnread(entry, context.options))
      return *error;
    return entry.factory(context);
  }
  return Error{"unknown searcher '" + abbreviate(name) + "', " +
               listKnown(name, names())};
}

} // namespace shardopt::search
