//===- Module.cpp - The entries of the module -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Searchers.h"
#include "shardopt/Research/PaperSearcher.h"
#include "shardopt/Research/PenaltySearch.h"
#include "shardopt/Search/Agent/Encoding.h"
#include "shardopt/Search/Agent/ModuleLoader.h"
#include "shardopt/Search/ResearchModule.h"

using namespace shardopt;
using namespace shardopt::search;

static ErrorOr<SearcherPtr> makePaper(const SearcherContext &context) {
  agent::PaperConstants constants;
  if (auto error = constants.table().set(context.options.constants))
    return *error;
  std::vector<uint32_t> choices = agent::choicesOf(*context.space);
  auto network = agent::createHistoryNetwork(
      "ppo-paper", agent::PaperSearcher::shape(constants, choices));
  if (!network)
    return network.error();
  return SearcherPtr(std::make_unique<agent::PaperSearcher>(
      context, constants, std::move(*network)));
}

namespace {
struct Entry {
  const char *name;
  ErrorOr<SearcherPtr> (*make)(const SearcherContext &context);
};
} // namespace

/// A searcher that nothing keeps from being made.
template <SearcherPtr (*make)(const SearcherContext &)>
static ErrorOr<SearcherPtr> always(const SearcherContext &context) {
  return make(context);
}

static constexpr Entry entries[] = {
    {"random", always<makeRandom>},
    {"random-walk", always<makeRandomWalk>},
    {"annealing", makeAnnealing},
    {"genetic", always<makeGenetic>},
    {"cross-entropy", always<makeCrossEntropy>},
    {"coordinate", always<makeCoordinate>},
    {"ppo-paper", makePaper},
};

static ErrorOr<SearcherPtr> create(const std::string &name,
                                   const SearcherContext &context) {
  for (const Entry &entry : entries)
    if (entry.name == name)
      return entry.make(context);
  return Error{"searcher '" + name + "' is none of the module " +
               "libShardOptResearch.so: build both from the same sources"};
}

static std::string constantsOf(const std::string &name) {
  return name == "annealing" ? describeAnnealingConstants()
                             : agent::PaperConstants().table().markdown();
}

static std::unique_ptr<solve::OtherMethod>
makePenalties(const solve::Network &network, uint64_t seed, bool polishes) {
  return std::make_unique<solve::PenaltySearch>(network, seed, polishes);
}

#define SHARDOPT_ENTRY extern "C" __attribute__((visibility("default")))

SHARDOPT_ENTRY const void *shardoptResearchSearchers() {
  static const ResearchSearchers searchers = {ResearchSearchers::layout, create,
                                              constantsOf};
  return &searchers;
}

SHARDOPT_ENTRY const void *shardoptResearchMethods() {
  static const solve::ResearchMethods methods = {solve::ResearchMethods::layout,
                                                 makePenalties};
  return &methods;
}
