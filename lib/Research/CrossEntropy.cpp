//===- CrossEntropy.cpp - searcher=cross-entropy --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"
#include "Searchers.h"

#include <algorithm>
#include <numeric>

namespace shardopt::search {

static constexpr size_t populationSize = 100;
static constexpr size_t numElites = 10;
/// How far a distribution moves towards the frequencies among the elites.
static constexpr double smoothing = 0.2;
/// Where every variable has a value this likely, draws hardly differ.
static constexpr double converged = 0.99;

namespace {

/// The cross-entropy method (Rubinstein, 1999) with independent variables. A
/// distribution that has converged is forgotten, and the search starts again.
class CrossEntropy : public GenerationSearcher {
public:
  explicit CrossEntropy(const SearcherContext &context)
      : GenerationSearcher(context), probabilities(uniform()) {}

private:
  size_t begin() override { return populationSize; }

  Point draw() override {
    Point point;
    for (const std::vector<double> &distribution : probabilities)
      point.push_back(rng.weighted(distribution));
    space.repair(point, space.batch(), rng);
    return point;
  }

  void learn(const std::vector<Point> &points,
             const std::vector<Evaluation> &evaluations) override {
    std::vector<size_t> order(points.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return objective.better(evaluations[a], evaluations[b]);
    });
    for (std::vector<double> &distribution : probabilities)
      for (double &probability : distribution)
        probability *= 1 - smoothing;
    for (size_t rank = 0; rank < numElites; ++rank)
      for (size_t variable = 0; variable < probabilities.size(); ++variable)
        probabilities[variable][points[order[rank]][variable]] +=
            smoothing / numElites;
    if (hasConverged())
      probabilities = uniform();
  }

  bool hasConverged() const {
    return std::all_of(probabilities.begin(), probabilities.end(),
                       [](const std::vector<double> &distribution) {
                         return *std::max_element(distribution.begin(),
                                                  distribution.end()) >=
                                converged;
                       });
  }

  std::vector<std::vector<double>> uniform() const {
    std::vector<std::vector<double>> distributions;
    for (size_t variable = 0; variable < space.numVariables(); ++variable) {
      size_t size = space.domainSize(variable);
      distributions.emplace_back(size, 1.0 / size);
    }
    return distributions;
  }

  std::vector<std::vector<double>> probabilities; ///< of each variable's values
};

} // namespace

SearcherPtr makeCrossEntropy(const SearcherContext &context) {
  return std::make_unique<CrossEntropy>(context);
}

} // namespace shardopt::search
