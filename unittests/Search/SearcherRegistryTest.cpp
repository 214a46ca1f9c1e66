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
  SearcherContext context{space, simulator, {}};
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
            "random-walk, annealing, genetic, cross-entropy, coordinate");
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
  auto searcher = registry.create("mine", {space, simulator, {}});
  ASSERT_FALSE(searcher);
  EXPECT_EQ(searcher.error().message, "not today");
}
