//===- RandomWalk.cpp - searcher=random-walk ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"
#include "Moves.h"
#include "Searchers.h"

namespace shardopt::search {

namespace {

class RandomWalk : public GenerationSearcher {
public:
  explicit RandomWalk(const SearcherContext &context)
      : GenerationSearcher(context), variables(freeVariables(space)),
        position(space.sample(rng)) {}

private:
  // The walk never looks at an evaluation; a generation is any part of it.
  size_t begin() override { return 256; }

  Point draw() override {
    Point point = position;
    changeOne(space, variables, position, rng);
    return point;
  }

  void learn(const std::vector<Point> &points,
             const std::vector<Evaluation> &evaluations) override {}

  const std::vector<size_t> variables;
  Point position; ///< the next point to propose
};

} // namespace

SearcherPtr makeRandomWalk(const SearcherContext &context) {
  return std::make_unique<RandomWalk>(context);
}

} // namespace shardopt::search
