//===- SearcherOptions.cpp - What a user tells a searcher -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/SearcherOptions.h"

namespace shardopt::search {

std::vector<std::pair<std::string, std::string>>
SearcherOptions::named() const {
  return {{"agent-critic", critic},     {"agent-critic-prior", criticPrior},
          {"agent-mask", mask},         {"warm-start", warmStart},
          {"agent-pretrain", pretrain}, {"agent-save", save},
          {"agent-options", constants}};
}

} // namespace shardopt::search
