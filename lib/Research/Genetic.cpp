//===- Genetic.cpp - searcher=genetic -------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"
#include "Moves.h"
#include "Searchers.h"

#include <algorithm>

namespace shardopt::search {

static constexpr size_t populationSize = 50;
static constexpr size_t tournamentSize = 3;
static constexpr size_t numElites = 2;

namespace {

struct Individual {
  Point point;
  Evaluation evaluation;
};

/// A generational genetic algorithm. The population is sorted, best first; its
/// elites survive as they are, without another evaluation.
class Genetic : public GenerationSearcher {
public:
  explicit Genetic(const SearcherContext &context)
      : GenerationSearcher(context), variables(freeVariables(space)) {}

private:
  size_t begin() override {
    return population.empty() ? populationSize : populationSize - numElites;
  }

  Point draw() override {
    return population.empty() ? space.sample(rng) : breed();
  }

  void learn(const std::vector<Point> &points,
             const std::vector<Evaluation> &evaluations) override {
    population.resize(std::min(population.size(), numElites));
    for (size_t i = 0; i < points.size(); ++i)
      population.push_back({points[i], evaluations[i]});
    std::stable_sort(population.begin(), population.end(),
                     [&](const Individual &a, const Individual &b) {
                       return objective.better(a.evaluation, b.evaluation);
                     });
  }

  /// Uniform crossover of two parents, then one mutation expected a child.
  Point breed() {
    Point child = select();
    const Point &other = select();
    for (size_t variable : variables)
      if (rng.below(2))
        child[variable] = other[variable];
    for (size_t variable : variables)
      if (rng.below(variables.size()) == 0)
        redraw(space, variable, child, rng);
    space.repair(child, space.batch(), rng);
    return child;
  }

  /// The best of a tournament: the population is sorted, so the first.
  const Point &select() {
    size_t winner = rng.below(population.size());
    for (size_t i = 1; i < tournamentSize; ++i)
      winner = std::min<size_t>(winner, rng.below(population.size()));
    return population[winner].point;
  }

  const std::vector<size_t> variables;
  std::vector<Individual> population; ///< empty before the first generation
};

} // namespace

SearcherPtr makeGenetic(const SearcherContext &context) {
  return std::make_unique<Genetic>(context);
}

} // namespace shardopt::search
