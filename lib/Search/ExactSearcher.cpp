//===- ExactSearcher.cpp - searcher=exact ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Searchers.h"
#include "shardopt/Search/ExactSearch.h"

#include <cmath>

namespace shardopt::search {

/// How far the decomposition and the simulator may differ by rounding,
/// relative.
static constexpr double agreement = 1e-9;

namespace {

/// Finds the optimum before the first evaluation, which then only checks it.
class ExactSearcher : public Searcher {
public:
  explicit ExactSearcher(const SearcherContext &context) : context(context) {}

  std::vector<Strategy> ask(size_t n) override {
    asked = true;
    result = findOptimum(*context.space, *context.decomposition,
                         context.objective.goal, context.threads,
                         context.stopRequested, context.bounded);
    if (!result.best)
      return {};
    return {result.best->strategy};
  }

  /// The simulator has the last word: where it disagrees, nothing is proved.
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override {
    for (size_t i = 0; i < strategies.size(); ++i)
      if (result.best && strategies[i] == result.best->strategy)
        check(evaluations[i]);
  }

  bool done() const override { return asked; }

  Certificate certificate() const override {
    return {result.bound, result.proved};
  }

private:
  void check(const Evaluation &evaluation) {
    double claimed = context.objective.value(result.best->evaluation);
    double checked = context.objective.value(evaluation);
    if (evaluation.valid && std::abs(claimed - checked) <= agreement * checked)
      return;
    result.proved = false;
    result.bound = std::nullopt;
  }

  const SearcherContext context;
  ExactResult result;
  bool asked = false;
};

} // namespace

SearcherPtr makeExact(const SearcherContext &context) {
  return std::make_unique<ExactSearcher>(context);
}

} // namespace shardopt::search
