//===- Encoding.cpp - Strategies as numbers for a network -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Agent/Encoding.h"

namespace shardopt::agent {

std::vector<uint32_t> choicesOf(const search::StrategySpace &space) {
  std::vector<uint32_t> choices;
  for (size_t i = 0; i < space.numVariables(); ++i)
    choices.push_back(static_cast<uint32_t>(space.domainSize(i)));
  return choices;
}

} // namespace shardopt::agent
