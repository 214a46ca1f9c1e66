//===- MlpEnsemble.h - Small networks that take turns -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_MLPENSEMBLE_H
#define SHARDOPT_SEARCH_MLPENSEMBLE_H

#include "shardopt/Search/Mlp.h"
#include "shardopt/Search/Regressor.h"
#include "shardopt/Search/Rng.h"

#include <cstdint>
#include <vector>

namespace shardopt::search {

/// Networks, of which one, drawn at each fit, predicts: where they disagree,
/// each gets its chance to be wrong.
///
/// The loss is Huber's on targets standardised by
/// the samples of the first training in which they vary; a step of Adam takes
/// half of its batch from all samples and half from the best.
class MlpEnsemble final : public Regressor {
public:
  struct Options {
    size_t members = 5;
    size_t hidden = 64;
    size_t firstSteps = 128; ///< of the first training, at the first `fit`
    size_t interval = 16;    ///< samples between trainings
    size_t steps = 16;       ///< of every other one
    size_t batch = 64;
    size_t best = 256; ///< of which half of a batch is drawn
    double learningRate = 3e-3;
    double largestGradient = 5; ///< norm, of a member
  };

  MlpEnsemble(const StrategySpace &space, const Options &options,
              uint64_t seed);

  void add(const Point &point, const Targets &targets, double badness) override;
  void fit() override;
  Targets predict(const Point &point) const override;

private:
  struct Sample {
    Mlp::Input input;
    Targets targets;
    double badness;
  };
  struct Member {
    std::vector<double> weights, first, second; ///< and Adam's moments
    uint64_t steps = 0;
  };

  void step(Member &member, const std::vector<size_t> &best);
  void standardise(size_t target);

  const Options options;
  const Mlp network;
  Rng rng;
  std::vector<Sample> samples;
  std::vector<Member> members;
  size_t active = 0;
  size_t nextTraining = 1; ///< at so many samples
  bool isTrained = false;
  Targets mean{}, deviation{}; ///< deviation 0: never varied so far
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_MLPENSEMBLE_H
