//===- Encoding.h - Strategies as numbers for a network ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_AGENT_ENCODING_H
#define SHARDOPT_AGENT_ENCODING_H

#include "shardopt/Search/StrategySpace.h"

#include <vector>

namespace shardopt::agent {

/// The number of values of every variable, in order.
std::vector<uint32_t> choicesOf(const search::StrategySpace &space);

} // namespace shardopt::agent

#endif // SHARDOPT_AGENT_ENCODING_H
