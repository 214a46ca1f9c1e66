//===- EditSearcher.h - searcher=ppo ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_AGENT_EDITSEARCHER_H
#define SHARDOPT_SEARCH_AGENT_EDITSEARCHER_H

#include "shardopt/Search/Agent/LearnedEdits.h"
#include "shardopt/Search/Bayesian/ScreenedSearch.h"

#include <memory>
#include <string>

namespace shardopt::agent {

/// The constants of `searcher=ppo`.
struct EditSearcherConstants {
  search::ScreenedConstants screened;
  EditConstants edits;
  int64_t pretrainCalls = 1000;
  int64_t pretrainRuns = 4;

  ConstantTable table();
};

/// `searcher=ppo`: the machine of `searcher=surrogate` with edits that are
/// learned. Pretrains the policy where `context.options.pretrain` says so:
/// "roofline" searches the free model, `pretrainRuns` times with
/// `pretrainCalls` evaluations, which cost nothing; "file:<path>" reads a
/// policy that another search left with `save`. Errors: an unknown choice, no
/// free model, a file that does not fit.
ErrorOr<std::unique_ptr<search::Searcher>>
makeEditSearcher(const search::SearcherContext &context,
                 const EditSearcherConstants &constants,
                 std::unique_ptr<EditNetwork> network);

} // namespace shardopt::agent

#endif // SHARDOPT_SEARCH_AGENT_EDITSEARCHER_H
