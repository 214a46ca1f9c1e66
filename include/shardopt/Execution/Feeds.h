//===- Feeds.h - Tokens and positions of steps ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_FEEDS_H
#define SHARDOPT_EXECUTION_FEEDS_H

#include "shardopt/Execution/Run.h"

namespace shardopt::execution {

/// Prompts of `context` random tokens below `vocabulary`, from position 0:
/// what a prefill program is given.
Feed randomPrompts(uint64_t seed, int64_t prompts, int64_t context,
                   int64_t vocabulary);

/// `steps` steps of decode with random tokens; prompt p is at position
/// `first[p]` in the first of them.
std::vector<Feed> randomSteps(uint64_t seed, const std::vector<int64_t> &first,
                              int64_t steps, int64_t vocabulary);

/// The first `context` tokens of each row of [prompts, length] tokens, as
/// prompts from position 0.
Feed promptsOf(const tensors::Tensor &tokens, int64_t context);

/// The columns of [prompts, length] tokens from position `first` on, a step
/// each.
std::vector<Feed> stepsOf(const tensors::Tensor &tokens, int64_t first);

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_FEEDS_H
