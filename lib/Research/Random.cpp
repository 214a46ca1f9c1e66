//===- Random.cpp - searcher=random ---------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"
#include "Searchers.h"

namespace shardopt::search {

namespace {

class RandomSearcher : public GenerationSearcher {
public:
  explicit RandomSearcher(const SearcherContext &context)
      : GenerationSearcher(context) {}

private:
  // Nothing is learnt; a generation only has to be large enough to keep
  // several threads busy.
  size_t begin() override { return 256; }

  Point draw() override { return space.sample(rng); }

  void learn(const std::vector<Point> &points,
             const std::vector<Evaluation> &evaluations) override {}
};

} // namespace

SearcherPtr makeRandom(const SearcherContext &context) {
  return std::make_unique<RandomSearcher>(context);
}

} // namespace shardopt::search
