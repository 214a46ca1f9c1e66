//===- ResearchModuleTest.cpp - Searchers that a module has ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/ResearchModule.h"
#include "Environment.h"
#include "ToySimulator.h"
#include "shardopt/Search/Agent/Registration.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

static std::string errorOf(const std::string &searcher, const char *file) {
  Environment environment("SHARDOPT_RESEARCH", file);
  ToySimulator simulator(2, 1);
  StrategySpace space = makeSpace(2, {});
  auto made = SearcherRegistry::builtin().create(
      searcher, ToyContext(space, simulator, {}));
  return made ? "" : made.error().message;
}

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(ResearchModule, NamesTheFileThatIsMissing) {
  std::string error = errorOf("genetic", "/no/such/module.so");
  EXPECT_TRUE(contains(error, "searcher 'genetic' needs the module "
                              "libShardOptResearch.so, which cannot be opened"))
      << error;
  EXPECT_TRUE(contains(error, "/no/such/module.so")) << error;
}

TEST(ResearchModule, RefusesOneOfOtherSources) {
  std::string error = errorOf("random", OUTDATED_MODULE);
  EXPECT_TRUE(contains(error, "version 7 of its interface instead of"))
      << error;
  EXPECT_TRUE(contains(error, "build both from the same sources")) << error;
}

TEST(ResearchModule, LeavesWhatIsLinkedAlone) {
  EXPECT_EQ(errorOf("megatron-sp", "/no/such/module.so"), "");
  EXPECT_EQ(errorOf("surrogate", "/no/such/module.so"), "");
}

TEST(ResearchModule, PrintsConstantsOfItsSearchers) {
  SearcherRegistry registry;
  addResearchSearcher(registry, "annealing", "Anneals.", true);
  EXPECT_TRUE(contains(registry.markdown(), "| `initial-temperature` |"))
      << registry.markdown();
}

TEST(ModuleFiles, SaysWhereItSearchedAndWhatToInstall) {
  ModuleFile module = {"libShardOptNone.so", "SHARDOPT_NONE", "none", 1,
                       "install it"};
  auto opened = openModule(module, "searcher 'none'");
  ASSERT_FALSE(opened);
  std::string error = opened.error().message;
  EXPECT_TRUE(contains(error, "which is not next to shardopt (searched: "))
      << error;
  EXPECT_TRUE(contains(error, "unittests): install it")) << error;
}
