//===- Feeds.cpp - Tokens and positions of steps --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Feeds.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

static Feed emptyFeed(int64_t rows) {
  return {Tensor(Element::I32, {rows}), Tensor(Element::I32, {rows})};
}

/// A token below `vocabulary`, which may be 0 where a program takes none.
static int32_t draw(const RandomStream &stream, int64_t index,
                    int64_t vocabulary) {
  auto token = int64_t((stream[index] + 1) / 2 * double(vocabulary));
  return int32_t(std::max<int64_t>(0, std::min(token, vocabulary - 1)));
}

Feed execution::randomPrompts(uint64_t seed, int64_t prompts, int64_t context,
                              int64_t vocabulary) {
  RandomStream stream(seed, "tokens");
  Feed feed = emptyFeed(prompts * context);
  for (int64_t row = 0; row < prompts * context; ++row) {
    feed.tokens.ints()[row] = draw(stream, row, vocabulary);
    feed.positions.ints()[row] = int32_t(row % context);
  }
  return feed;
}

std::vector<Feed> execution::randomSteps(uint64_t seed,
                                         const std::vector<int64_t> &first,
                                         int64_t steps, int64_t vocabulary) {
  RandomStream stream(seed, "steps");
  auto prompts = int64_t(first.size());
  std::vector<Feed> feeds;
  for (int64_t step = 0; step < steps; ++step) {
    Feed &feed = feeds.emplace_back(emptyFeed(prompts));
    for (int64_t p = 0; p < prompts; ++p) {
      feed.tokens.ints()[p] = draw(stream, step * prompts + p, vocabulary);
      feed.positions.ints()[p] = int32_t(first[p] + step);
    }
  }
  return feeds;
}

Feed execution::promptsOf(const Tensor &tokens, int64_t context) {
  int64_t prompts = tokens.shape()[0], length = tokens.shape()[1];
  Feed feed = emptyFeed(prompts * context);
  for (int64_t p = 0; p < prompts; ++p)
    for (int64_t i = 0; i < context; ++i) {
      feed.tokens.ints()[p * context + i] = tokens.ints()[p * length + i];
      feed.positions.ints()[p * context + i] = int32_t(i);
    }
  return feed;
}

std::vector<Feed> execution::stepsOf(const Tensor &tokens, int64_t first) {
  int64_t prompts = tokens.shape()[0], length = tokens.shape()[1];
  std::vector<Feed> feeds;
  for (int64_t i = first; i < length; ++i) {
    Feed &feed = feeds.emplace_back(emptyFeed(prompts));
    for (int64_t p = 0; p < prompts; ++p) {
      feed.tokens.ints()[p] = tokens.ints()[p * length + i];
      feed.positions.ints()[p] = int32_t(i);
    }
  }
  return feeds;
}
