//===- SearcherOptions.h - What a user tells a searcher ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_SEARCHEROPTIONS_H
#define SHARDOPT_SEARCH_SEARCHEROPTIONS_H

#include <string>
#include <utility>
#include <vector>

namespace shardopt::search {

/// Options of the searchers that learn, as a user spells them. An empty string
/// is the default of the searcher, which may depend on the simulator. Who reads
/// an option says what is wrong with it.
struct SearcherOptions {
  /// What screens proposals before a call is spent: "joint", "ridge",
  /// "random" or "none".
  std::string critic;
  /// What the critic starts from: "roofline" or "none".
  std::string criticPrior;
  /// Degrees that are refused without a call: "memory" (structural ones, and
  /// those whose weights and caches cannot fit), or "none".
  std::string mask;
  /// What is evaluated first: "exact" (the best plans of the free model) or
  /// "none".
  std::string warmStart;
  /// What a policy learns from before the first call: "roofline",
  /// "file:<path>" or "none".
  std::string pretrain;
  /// Where the policy is written after the search; empty: nowhere.
  std::string save;
  /// Constants of the searcher: "name=value,name=value".
  std::string constants;

  /// Every option under the name that a user gives it, in the order of the
  /// members: "agent-critic", "agent-critic-prior", "agent-mask", "warm-start",
  /// "agent-pretrain", "agent-save", "agent-options".
  std::vector<std::pair<std::string, std::string>> named() const;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_SEARCHEROPTIONS_H
