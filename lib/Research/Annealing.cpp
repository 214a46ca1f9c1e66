//===- Annealing.cpp - searcher=annealing ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"
#include "Moves.h"
#include "Searchers.h"
#include "shardopt/Search/RawPerformance.h"
#include "shardopt/Support/Constants.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace shardopt::search {

namespace {

struct AnnealingConstants {
  /// In units of the energy. With that of the score, a factor of e^0.5 of the
  /// objective is lost at the start as easily as not.
  double initialTemperature = 0.5;
  bool raw = false;
  double invalid = -1000;

  ConstantTable table() {
    ConstantTable table("'agent-options' of searcher 'annealing'");
    table.real("initial-temperature", initialTemperature, 0, 1e12,
               "Temperature at the start, in units of the energy; it falls as "
               "half a cosine.");
    table.flag("raw-energy", raw,
               "Whether the energy is the raw performance (tokens/s per "
               "device), and that of invalid strategies `invalid-energy`; else "
               "its logarithm, and below that of all valid strategies by the "
               "violation.");
    table.real("invalid-energy", invalid, -1e9, 0,
               "Energy of an invalid strategy with `raw-energy`.");
    return table;
  }
};

/// Metropolis walk of one-variable moves under a temperature that falls with
/// the budget as half a cosine. The energy is the score, a logarithm, so that
/// one temperature suits objectives of any size, unless the raw performance is
/// asked for. Of several pending moves each is judged by the position at its
/// turn.
class Annealing : public GenerationSearcher {
public:
  Annealing(const SearcherContext &context, const AnnealingConstants &constants)
      : GenerationSearcher(context), variables(freeVariables(space)),
        budget(std::max<uint64_t>(1, context.budget)), constants(constants) {}

private:
  size_t begin() override { return 1; }

  Point draw() override {
    if (!current)
      return space.sample(rng);
    Point point = position;
    changeOne(space, variables, point, rng);
    return point;
  }

  void learn(const std::vector<Point> &points,
             const std::vector<Evaluation> &evaluations) override {
    const Evaluation &proposed = evaluations.front();
    if (proposed.valid)
      worstScore =
          std::min(worstScore.value_or(INFINITY), objective.score(proposed));
    if (!current || accepts(energy(proposed) - energy(*current))) {
      position = points.front();
      current = proposed;
    }
    ++step;
  }

  bool accepts(double gain) {
    if (gain >= 0)
      return true;
    double progress = std::min(1.0, double(step) / budget);
    double temperature =
        constants.initialTemperature * 0.5 * (1 + std::cos(M_PI * progress));
    return temperature > 0 && rng.real() < std::exp(gain / temperature);
  }

  /// More is better. Of logarithms, that of an invalid point lies below every
  /// valid one seen, by one unit and its violation.
  double energy(const Evaluation &evaluation) const {
    if (constants.raw)
      return evaluation.valid ? rawPerformance(objective, evaluation)
                              : constants.invalid;
    if (evaluation.valid)
      return objective.score(evaluation);
    return worstScore.value_or(0) - 1 - objective.violation(evaluation);
  }

  const std::vector<size_t> variables;
  const uint64_t budget;
  const AnnealingConstants constants;
  uint64_t step = 0;
  Point position;
  std::optional<Evaluation> current; ///< of `position`; none before the first
  std::optional<double> worstScore;  ///< of the valid points seen
};

} // namespace

std::string describeAnnealingConstants() {
  return AnnealingConstants().table().markdown();
}

ErrorOr<SearcherPtr> makeAnnealing(const SearcherContext &context) {
  AnnealingConstants constants;
  if (std::optional<Error> error =
          constants.table().set(context.options.constants))
    return *error;
  return SearcherPtr(std::make_unique<Annealing>(context, constants));
}

} // namespace shardopt::search
