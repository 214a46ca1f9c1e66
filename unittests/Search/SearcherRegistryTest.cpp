//===- SearcherRegistryTest.cpp - Searchers by name -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/SearcherRegistry.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

static std::string errorOf(const std::string &name,
                           const Simulator &simulator) {
  StrategySpace space = makeSpace(2, {});
  ToyContext context{space, simulator, {}};
  auto searcher = SearcherRegistry::builtin().create(name, context);
  return searcher ? "" : searcher.error().message;
}

TEST(SearcherRegistry, UnknownNamesListTheKnownClosestFirst) {
  std::string message = errorOf("anealing", ToySimulator(2, 0));
  EXPECT_EQ(message.find("unknown searcher 'anealing', known: annealing, "), 0u)
      << message;
  EXPECT_NE(message.find("megatron-slice"), std::string::npos);
}

TEST(SearcherRegistry, ExactDoesNotApplyToBlackBoxes) {
  ToySimulator simulator(2, 0);
  EXPECT_EQ(errorOf("exact", BlackBox(simulator)),
            "searcher 'exact' does not apply: it needs a simulator that can be "
            "decomposed, and this one is a black box; the others: "
            "megatron-classic, megatron-slice, megatron-sp, random, "
            "random-walk, annealing, genetic, cross-entropy, coordinate, "
            "surrogate");
  EXPECT_EQ(errorOf("random", BlackBox(simulator)), "");
}

TEST(SearcherRegistry, LaterSearchersCanBeAdded) {
  SearcherRegistry registry = SearcherRegistry::builtin();
  size_t count = registry.names().size();
  auto factory =
      [](const SearcherContext &) -> ErrorOr<std::unique_ptr<Searcher>> {
    return Error{"not today"};
  };
  registry.add("mine", factory);
  registry.add("mine", factory);
  EXPECT_EQ(registry.names().size(), count + 1);
  EXPECT_EQ(registry.names().back(), "mine");
  ToySimulator simulator(2, 0);
  StrategySpace space = makeSpace(2, {});
  auto searcher = registry.create("mine", ToyContext(space, simulator, {}));
  ASSERT_FALSE(searcher);
  EXPECT_EQ(searcher.error().message, "not today");
}

/// A registry with a searcher that reads a critic and has constants.
static SearcherRegistry withLearner() {
  SearcherRegistry registry = SearcherRegistry::builtin();
  SearcherTraits traits;
  traits.summary = "Learns.";
  traits.options = {"agent-critic", "warm-start"};
  traits.constants = [] { return std::string("| `rate` |\n"); };
  registry.add(
      "learner",
      [](const SearcherContext &context) {
        SearcherContext plain = context;
        plain.options = {};
        return SearcherRegistry::builtin().create("random", plain);
      },
      traits);
  return registry;
}

static std::string errorOf(const SearcherRegistry &registry,
                           const std::string &name,
                           const SearcherOptions &options) {
  ToySimulator simulator(2, 0);
  StrategySpace space = makeSpace(2, {});
  ToyContext context{space, simulator, {}};
  context.options = options;
  auto searcher = registry.create(name, context);
  return searcher ? "" : searcher.error().message;
}

TEST(SearcherRegistry, RefusesOptionsThatASearcherDoesNotRead) {
  SearcherOptions options;
  options.critic = "ridge";
  options.constants = "rate=1";
  EXPECT_EQ(errorOf(withLearner(), "learner", options), "");
  EXPECT_EQ(errorOf(withLearner(), "random", options),
            "'agent-critic' is given, but searcher 'random' does not read it; "
            "searchers that do: surrogate, learner");
  options = {};
  options.save = "policy.pt";
  EXPECT_EQ(errorOf(withLearner(), "learner", options),
            "'agent-save' is given, but searcher 'learner' does not read it; "
            "searchers that do: none");
}

TEST(SearcherRegistry, PrintsWhatEverySearcherReads) {
  std::string page = withLearner().markdown();
  EXPECT_EQ(page.find("## `exact`\n\nFinds the optimum"), 0u) << page;
  EXPECT_NE(page.find("\n## `learner`\n\nLearns.\n\nOptions: `agent-critic`, "
                      "`warm-start`, `agent-options`.\n\n| `rate` |\n"),
            std::string::npos)
      << page;
}
