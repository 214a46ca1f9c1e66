//===- ModuleLoaderTest.cpp - What is said of a module that is not there --===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Agent/ModuleLoader.h"
#include "Environment.h"
#include "shardopt/Support/ModuleFiles.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::agent;

static std::string errorFor(const std::string &file) {
  Environment environment(moduleVariable, file);
  auto module = loadModule("ppo");
  return module ? "" : module.error().message;
}

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(ModuleLoader, NamesAFileThatDoesNotExist) {
  std::string error = errorFor("/no/such/module.so");
  EXPECT_TRUE(contains(error, "searcher 'ppo' needs the module "
                              "libShardOptAgentTorch.so"))
      << error;
  EXPECT_TRUE(contains(error, "/no/such/module.so")) << error;
}

TEST(ModuleLoader, RefusesALibraryWithoutAnEntry) {
  EXPECT_TRUE(contains(errorFor("libm.so.6"), "exports no shardoptAgentModule"))
      << errorFor("libm.so.6");
}

TEST(ModuleLoader, RefusesAnotherVersionAndNamesBoth) {
  std::string error = errorFor(OUTDATED_MODULE);
  EXPECT_TRUE(
      contains(error, "version " + std::to_string(interfaceVersion + 1000)))
      << error;
  EXPECT_TRUE(contains(error, "instead of " + std::to_string(interfaceVersion)))
      << error;
}

TEST(ModuleLoader, LooksInTheBuildTreeAndInAnInstallation) {
  std::vector<std::string> candidates = moduleCandidates(moduleFile);
  auto endsIn = [&](const std::string &end) {
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const std::string &candidate) {
                         return candidate.size() >= end.size() &&
                                candidate.compare(candidate.size() - end.size(),
                                                  end.size(), end) == 0;
                       });
  };
  EXPECT_TRUE(endsIn("/lib/" + std::string(moduleFile)));
  EXPECT_TRUE(endsIn("/shardopt/" + std::string(moduleFile)));
}
