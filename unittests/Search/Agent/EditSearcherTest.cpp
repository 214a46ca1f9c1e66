//===- EditSearcherTest.cpp - Pretraining and saving ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/EditSearcher.h"
#include "ScriptedEditNetwork.h"
#include "TemporaryFolder.h"
#include "ToySimulator.h"
#include "shardopt/Search/Agent/Encoding.h"
#include "shardopt/Search/Driver.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::agent;
using namespace shardopt::search;

class EditSearcherTest : public testing::Test {
protected:
  EditSearcherTest() {
    constants.edits.attention = false;
    constants.edits.hidden = 4;
    constants.pretrainCalls = 100;
    constants.pretrainRuns = 2;
    context.freeModel = unowned(&simulator);
    context.options.critic = "none";
  }

  ErrorOr<std::unique_ptr<Searcher>> make() {
    std::vector<uint32_t> choices = choicesOf(space);
    auto owned = std::make_unique<ScriptedEditNetwork>(constants.edits.shape(
        choices, space.firstDim(), constants.screened.elites));
    network = owned.get();
    return makeEditSearcher(context, constants, std::move(owned));
  }

  std::string messageFor(const std::string &pretrain) {
    context.options.pretrain = pretrain;
    auto searcher = make();
    return searcher ? "" : searcher.error().message;
  }

  /// Runs a search and tells how many gradient steps it made.
  size_t stepsOfASearch() {
    auto searcher = make();
    EXPECT_TRUE(searcher);
    size_t before = network->learningRates.size();
    DriverOptions options;
    options.budget = 200;
    runSearch(**searcher, box, simulator.objective(), options);
    EXPECT_FALSE((*searcher)->finish());
    return network->learningRates.size() - before;
  }

  TemporaryFolder folder;
  ToySimulator simulator{3, 5};
  BlackBox box{simulator};
  StrategySpace space = makeSpace(3, {});
  ToyContext context{space, box, simulator.objective(), 3, 200};
  EditSearcherConstants constants;
  ScriptedEditNetwork *network = nullptr;
};

TEST_F(EditSearcherTest, LearnsWhileItSearches) {
  EXPECT_GT(stepsOfASearch(), 0u);
}

TEST_F(EditSearcherTest, PretrainsOnTheFreeModelBeforeItSearches) {
  ASSERT_TRUE(make());
  context.options.pretrain = "roofline";
  auto searcher = make();
  ASSERT_TRUE(searcher);
  // Two searches of 100 evaluations; the 64 first ones are drawn uniformly.
  size_t updates = 2 * ((100 - constants.screened.initial) / 16);
  EXPECT_EQ(network->learningRates.size(), 4 * updates);
}

TEST_F(EditSearcherTest, ReadsWhatAnotherOneSaved) {
  context.options.save = folder.path("policy.json");
  EXPECT_GT(stepsOfASearch(), 0u);
  context.options.save.clear();
  context.options.pretrain = "file:" + folder.path("policy.json");
  ASSERT_TRUE(make());
}

TEST_F(EditSearcherTest, SaysWhatIsWrongWithPretraining) {
  EXPECT_EQ(messageFor("rofline"),
            "unknown agent-pretrain 'rofline', known: "
            "roofline, none, file:<path>; did you mean 'roofline'?");
  EXPECT_NE(messageFor("file:" + folder.path("missing")).find("missing"),
            std::string::npos);
  context.freeModel = nullptr;
  EXPECT_NE(messageFor("roofline").find("which needs a model"),
            std::string::npos);
}

TEST_F(EditSearcherTest, ReportsTheFailureOfItsNetwork) {
  auto searcher = make();
  ASSERT_TRUE(searcher);
  network->failure = "out of memory";
  DriverOptions options;
  options.budget = 200;
  SearchResult result =
      runSearch(**searcher, box, simulator.objective(), options);
  EXPECT_LT(result.evaluations, 200u);
  auto error = (*searcher)->finish();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "searcher 'ppo': out of memory");
}
