//===- PolicyFileTest.cpp - What is written is what is read ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/PolicyFile.h"
#include "ScriptedEditNetwork.h"
#include "TemporaryFolder.h"
#include "ToySimulator.h"
#include "shardopt/Search/Agent/Encoding.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using namespace shardopt::agent;
using namespace shardopt::search;

static StrategySpace spaceWith(std::vector<int64_t> batch) {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2};
  request.lists[Degree::Ep] = {1};
  request.lists[Degree::Pp] = {1};
  request.lists[Degree::Batch] = std::move(batch);
  return makeSpace(1, request);
}

static ScriptedEditNetwork networkFor(const StrategySpace &space,
                                      size_t hidden = 3) {
  std::vector<uint32_t> choices = choicesOf(space);
  EditShape shape;
  shape.choices = choices;
  shape.hidden = hidden;
  return ScriptedEditNetwork(shape);
}

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

class PolicyFileTest : public testing::Test {
protected:
  TemporaryFolder folder;
  std::string path = folder.path("policy.json");
  StrategySpace space = spaceWith({1, 8});
};

static std::optional<Error> save(const std::string &path,
                                 const Network &network,
                                 const StrategySpace &space) {
  auto file = OutputFile::open(path);
  return file ? savePolicy(*file, network, space) : file.error();
}

TEST_F(PolicyFileTest, NamesVariablesAndValues) {
  EXPECT_EQ(describeVariables(space),
            "tp 1,2; ep 1; pp 1; batch 1,8; op0 0,1,2");
}

TEST_F(PolicyFileTest, GivesTheSameNumbersBack) {
  ScriptedEditNetwork written = networkFor(space);
  Rng rng(1);
  for (std::vector<double> &block : written.parameters)
    for (double &value : block)
      value = rng.real() - 0.5;
  EXPECT_FALSE(save(path, written, space));
  ScriptedEditNetwork read = networkFor(space);
  EXPECT_FALSE(loadPolicy(path, read, space));
  EXPECT_EQ(read.parameters, written.parameters);
}

TEST_F(PolicyFileTest, SavesNoPolicyThatDiverged) {
  ScriptedEditNetwork network = networkFor(space);
  network.parameters[0][0] = std::nan("");
  auto error = save(path, network, space);
  ASSERT_TRUE(error);
  EXPECT_TRUE(contains(error->message, "not finite")) << error->message;
}

TEST_F(PolicyFileTest, RefusesOtherVariablesAndNamesBoth) {
  EXPECT_FALSE(save(path, networkFor(space), space));
  StrategySpace other = spaceWith({1, 16});
  ScriptedEditNetwork network = networkFor(other);
  auto error = loadPolicy(path, network, other);
  ASSERT_TRUE(error);
  EXPECT_TRUE(contains(error->message, "batch 1,8;")) << error->message;
  EXPECT_TRUE(contains(error->message, "batch 1,16;")) << error->message;
}

TEST_F(PolicyFileTest, RefusesAnotherShape) {
  EXPECT_FALSE(save(path, networkFor(space), space));
  ScriptedEditNetwork network = networkFor(space, /*hidden=*/4);
  auto error = loadPolicy(path, network, space);
  ASSERT_TRUE(error);
  EXPECT_TRUE(contains(error->message,
                       "/parameters/state.bias: expected 4 numbers, found 3"))
      << error->message;
}

TEST_F(PolicyFileTest, RefusesWhatIsNoPolicy) {
  ScriptedEditNetwork network = networkFor(space);
  EXPECT_TRUE(loadPolicy(folder.path("missing.json"), network, space));
  folder.write("policy.json", "{\"schema\": 2}");
  auto error = loadPolicy(path, network, space);
  ASSERT_TRUE(error);
  EXPECT_TRUE(contains(error->message, "/schema")) << error->message;
}
