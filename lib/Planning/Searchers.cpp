//===- Searchers.cpp - All searchers of a build ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Searchers.h"
#include "shardopt/Search/Agent/Registration.h"

using namespace shardopt;

search::SearcherRegistry shardopt::allSearchers() {
  auto registry = search::SearcherRegistry::builtin();
  agent::addAgentSearchers(registry);
  return registry;
}
