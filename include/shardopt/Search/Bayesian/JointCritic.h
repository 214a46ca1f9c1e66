//===- JointCritic.h - What is known of degrees and dims ------ -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_JOINTCRITIC_H
#define SHARDOPT_SEARCH_BAYESIAN_JOINTCRITIC_H

#include "shardopt/Search/Bayesian/JointProcess.h"
#include "shardopt/Search/Bayesian/TargetEncoder.h"
#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Simulator.h"

#include <optional>
#include <utility>
#include <vector>

namespace shardopt::search {

/// Learns latency, memory and rate, and which strategies have no metrics,
/// should there be any, and says it of all dims of a tuple of degrees at once.
class JointCritic {
public:
  JointCritic(const StrategySpace &space, const Objective &objective);

  void tell(const Point &point, const Evaluation &evaluation);

  /// Takes into account what was told, and what is `pending` at its predicted
  /// value.
  void fit(const std::vector<Point> &pending);

  /// What is predicted of the strategies with the degrees of `point`.
  DimTables tablesAt(const Point &point);

  /// What the last fit predicts of dims at any degrees, for many of these.
  class Predictor {
  public:
    Predictor(JointCritic &critic, const std::vector<DimIndices> &dims);
    struct Forecast {
      Channels expected;
      double doubt; ///< about the latency, in its logarithm
    };
    /// Of all the dims, at the degrees of `point`.
    std::vector<Forecast> at(const Point &point) const;

  private:
    JointCritic &critic;
    size_t numDims;
    JointProcess::Echoes ofMetrics, ofRefusals;
  };
  /// What predictions at the degrees of `point` are worth.
  TargetEncoder::Weights weightsAt(const Point &point) const {
    return encoder.weightsOf(space.degreesAt(point));
  }

  /// The score of an evaluated strategy, in the unit of `DimTables::score`;
  /// the worst of all without metrics.
  double scoreOf(const Point &point, const Evaluation &evaluation) const;

  const DimPairs &pairs() const { return layout; }

private:
  const StrategySpace &space;
  const Objective objective;
  const TargetEncoder encoder;
  const DimPairs layout;
  JointProcess metrics;
  std::optional<JointProcess> refusals; ///< none while all had metrics
  /// What was told before the first refusal, with its badness.
  std::vector<std::pair<Point, double>> accepted;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_JOINTCRITIC_H
