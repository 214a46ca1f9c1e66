//===- PromptChunks.h - Where to cut a prompt -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_PROMPTCHUNKS_H
#define SHARDOPT_SOLVERS_SCHEDULE_PROMPTCHUNKS_H

#include <cstdint>
#include <vector>

namespace shardopt::schedule {

/// What a stage takes for a chunk of n tokens behind a prefix:
/// perToken * n + perKilotoken * n * (prefix + n / 2) / 1024, rounded up. The
/// second part is attention to what came before, in the chunk too, so that the
/// sum over all chunks hardly depends on the cuts.
struct PromptCost {
  int64_t perToken = 1, perKilotoken = 0;

  int64_t time(int64_t tokens, int64_t prefix) const;
};

/// Chunks of a prompt, in tokens; none is empty.
using PromptChunks = std::vector<int64_t>;

/// Of a length as even as can be. `count` is at most `tokens`.
PromptChunks cutEvenly(int64_t tokens, int64_t count);

/// Of the least longest time that `count` chunks permit: exactly, since chunks
/// as long as a time permits are the fewest. Later ones have fewer
/// tokens, the last one what is left. `count` is at most `tokens`.
PromptChunks cutByTime(int64_t tokens, int64_t count, const PromptCost &cost);

std::vector<int64_t> timesOf(const PromptChunks &chunks,
                             const PromptCost &cost);

/// The makespan of chunks on stages alike: all of them, and the longest once
/// more for each further stage.
int64_t prefillMakespan(const std::vector<int64_t> &times, int64_t stages);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_PROMPTCHUNKS_H
