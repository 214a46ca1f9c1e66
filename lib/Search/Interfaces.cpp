//===- Interfaces.cpp - Anchors of the interfaces -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Regressor.h"
#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/Simulator.h"

namespace shardopt::search {

Simulator::~Simulator() = default;
Decomposition::~Decomposition() = default;
Regressor::~Regressor() = default;
Searcher::~Searcher() = default;

} // namespace shardopt::search
