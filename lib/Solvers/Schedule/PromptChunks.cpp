//===- PromptChunks.cpp - Where to cut a prompt ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/PromptChunks.h"

#include <algorithm>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t PromptCost::time(int64_t tokens, int64_t prefix) const {
  constexpr int64_t twice = 2048;
  return perToken * tokens +
         (perKilotoken * tokens * (2 * prefix + tokens) + twice - 1) / twice;
}

PromptChunks schedule::cutEvenly(int64_t tokens, int64_t count) {
  PromptChunks chunks;
  for (int64_t k = 0; k < count; ++k)
    chunks.push_back(tokens * (k + 1) / count - tokens * k / count);
  return chunks;
}

/// Each as long as `most` permits, the last one what is left; empty if they
/// were more than `count`.
static PromptChunks fillChunks(int64_t tokens, int64_t count,
                               const PromptCost &cost, int64_t most) {
  PromptChunks chunks;
  int64_t prefix = 0;
  while (prefix < tokens) {
    // The largest length that still fits.
    int64_t low = 0, high = tokens - prefix;
    while (low < high) {
      int64_t middle = (low + high + 1) / 2;
      if (cost.time(middle, prefix) <= most)
        low = middle;
      else
        high = middle - 1;
    }
    if (!low || int64_t(chunks.size()) == count)
      return {};
    chunks.push_back(low);
    prefix += low;
  }
  return chunks;
}

PromptChunks schedule::cutByTime(int64_t tokens, int64_t count,
                                 const PromptCost &cost) {
  int64_t low = 0, high = cost.time(tokens, tokens);
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (fillChunks(tokens, count, cost, middle).empty())
      low = middle + 1;
    else
      high = middle;
  }
  PromptChunks chunks = fillChunks(tokens, count, cost, low);
  // Fewer than asked for: cutting one more makes none of them longer.
  while (int64_t(chunks.size()) < count) {
    auto longest = std::max_element(chunks.begin(), chunks.end());
    int64_t half = *longest / 2;
    *longest -= half;
    chunks.insert(longest + 1, half);
  }
  return chunks;
}

std::vector<int64_t> schedule::timesOf(const PromptChunks &chunks,
                                       const PromptCost &cost) {
  std::vector<int64_t> times;
  int64_t prefix = 0;
  for (int64_t chunk : chunks) {
    times.push_back(cost.time(chunk, prefix));
    prefix += chunk;
  }
  return times;
}

int64_t schedule::prefillMakespan(const std::vector<int64_t> &times,
                                  int64_t stages) {
  return std::accumulate(times.begin(), times.end(), int64_t(0)) +
         (stages - 1) * *std::max_element(times.begin(), times.end());
}
