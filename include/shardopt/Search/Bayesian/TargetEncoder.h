//===- TargetEncoder.h - What a critic learns of an evaluation --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_TARGETENCODER_H
#define SHARDOPT_SEARCH_BAYESIAN_TARGETENCODER_H

#include "shardopt/Search/Bayesian/EditPolicy.h"
#include "shardopt/Search/Bayesian/Targets.h"
#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Simulator.h"

#include <optional>

namespace shardopt::search {

/// Turns evaluations into the logarithms that a critic learns, and what it
/// predicts back into a score.
///
///   targets[Latency] = log(latency / SLO), at most 3; without an SLO
///                      log(latency / ms)
///   targets[Memory]  = log(memory / capacity), within [-3, 3]; 0 if either is
///                      unknown
///   targets[Rate]    = log(throughput * latency * devices / batch), which is
///                      constant where throughput is batch / latency / devices
///
/// Logarithms of latencies and rates are within [-50, 50]: what a black box
/// answers may be any double, and one absurd answer must not drown the others.
/// A product becomes a sum, and where a limit is exceeded the
/// targets still say by how much. A limit of 0 or infinity is none. With a free
/// model they are the differences to those of that model, which is added back
/// in the score.
class TargetEncoder {
public:
  enum Target : size_t { Latency, Memory, Rate };

  /// `freeModel` may be null; it outlives the encoder.
  TargetEncoder(const Objective &objective, const Simulator *freeModel)
      : objective(objective), freeModel(freeModel) {}

  /// None if the evaluation has no logarithms: structural, failed, or zero.
  std::optional<Targets> encode(const Strategy &strategy,
                                const Evaluation &evaluation) const;

  /// What the targets of `strategy` are relative to: those of the free model;
  /// zeros without one, or where it has none.
  Targets origin(const Strategy &strategy) const;

  struct Opinion {
    /// The logarithm of the goal, more being better, plus that of the SLO;
    /// less a penalty for limits that are exceeded.
    double score;
    Slack slack; ///< as far as it is predicted
  };

  /// How the targets of strategies of `degrees` make a score, where they are
  /// relative to none.
  struct Weights {
    double offset;       ///< of all strategies of these degrees
    double limitPenalty; ///< of an excess, as its logarithm
    double rate;         ///< 1 where the goal is throughput, else 0
    bool hasSlo;

    double score(const Targets &targets) const;
  };
  Weights weightsOf(const Degrees &degrees) const;

  /// What `predicted` says of `strategy`.
  Opinion decode(const Strategy &strategy, const Targets &predicted) const;

private:
  Targets logarithms(const Strategy &strategy,
                     const Evaluation &evaluation) const;

  const Objective objective;
  const Simulator *freeModel;
};

inline double TargetEncoder::Weights::score(const Targets &targets) const {
  double latency = hasSlo ? targets[Latency] : 0;
  double excess =
      (latency > 0 ? latency : 0) + (targets[Memory] > 0 ? targets[Memory] : 0);
  return offset - targets[Latency] + rate * targets[Rate] -
         limitPenalty * excess;
}

/// The slack of an evaluated strategy.
Slack slackOf(const Evaluation &evaluation, const Objective &objective);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_TARGETENCODER_H
