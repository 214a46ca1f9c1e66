//===- Engine.cpp - The serving engines that are known --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Engine.h"

#include "shardopt/Support/Choice.h"

using namespace shardopt;

const char *shardopt::spell(Engine engine) {
  static constexpr const char *names[] = {"vllm", "sglang", "trtllm"};
  return names[size_t(engine)];
}

const char *shardopt::engineVersion(Engine engine) {
  static constexpr const char *versions[] = {"0.33", "0.5.23", "1.3.0rc"};
  return versions[size_t(engine)];
}

ErrorOr<Engine> shardopt::parseEngine(const std::string &text,
                                      const std::string &option) {
  std::vector<std::pair<std::string, Engine>> choices;
  for (Engine engine : allEngines)
    choices.emplace_back(spell(engine), engine);
  return parseChoice<Engine>(option, text, choices);
}
