//===- Registration.cpp - The searchers that learn a policy ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/Registration.h"
#include "shardopt/Search/Agent/EditSearcher.h"
#include "shardopt/Search/Agent/Encoding.h"
#include "shardopt/Search/Agent/ModuleLoader.h"
#include "shardopt/Search/ResearchModule.h"

namespace shardopt::agent {

using SearcherOr = ErrorOr<std::unique_ptr<search::Searcher>>;

static constexpr const char ppoName[] = "ppo";
static constexpr const char paperName[] = "ppo-paper";

static SearcherOr makePpo(const search::SearcherContext &context) {
  EditSearcherConstants constants;
  if (auto error = constants.table().set(context.options.constants))
    return *error;
  std::vector<uint32_t> choices = choicesOf(*context.space);
  auto network = createEditNetwork(
      ppoName, constants.edits.shape(choices, context.space->firstDim(),
                                     constants.screened.elites));
  if (!network)
    return network.error();
  return makeEditSearcher(context, constants, std::move(*network));
}

void addAgentSearchers(search::SearcherRegistry &registry) {
  search::SearcherTraits ppo;
  ppo.summary = "Learns a policy that edits a MAP-Elites archive; a "
                "critic screens its edits (needs LibTorch).";
  ppo.options = {"agent-critic", "agent-critic-prior", "agent-mask",
                 "warm-start",   "agent-pretrain",     "agent-save"};
  ppo.constants = [] { return EditSearcherConstants().table().markdown(); };
  registry.add(ppoName, makePpo, std::move(ppo));

  search::addResearchSearcher(
      registry, paperName,
      "The agent of Learning to Shard, arXiv 2509.00217 (needs LibTorch).",
      /*hasConstants=*/true);
}

void openNetworks(const std::string &searcher) {
  if (searcher == ppoName || searcher == paperName)
    (void)loadModule(searcher);
}

} // namespace shardopt::agent
