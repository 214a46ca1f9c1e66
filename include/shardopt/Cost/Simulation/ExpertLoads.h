//===- ExpertLoads.h - Sampled routing of tokens to experts -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SIMULATION_EXPERTLOADS_H
#define SHARDOPT_COST_SIMULATION_EXPERTLOADS_H

#include "shardopt/Model/Context.h"

#include <cstdint>
#include <vector>

namespace shardopt::simulation {

/// How many tokens each expert of a stack gets. The chance of an expert follows
/// Zipf's law, rank^-exponent, with another order of the experts in every
/// *sample* (a layer); counts scatter about it as those of independent tokens
/// do, differently in every *class* (of micro-batches). All of it is drawn
/// once; nothing is drawn when it is asked.
class ExpertLoads {
public:
  static constexpr unsigned numSamples = 2, numClasses = 2;

  ExpertLoads(int64_t experts, int64_t topK, double exponent, uint64_t seed);

  /// The routing of `rows` tokens of each of `dp` replicas to `ep` groups:
  /// copies and experts with tokens of the slowest group. All others wait for
  /// it. Experts are divided over the groups in order.
  cost::Routing route(int64_t rows, int64_t dp, int64_t ep, unsigned sample,
                      unsigned microBatchClass) const;

  /// The chance that a token visits `expert`; they add up to topK.
  double chance(unsigned sample, int64_t expert) const {
    return chances[sample][size_t(expert)];
  }

private:
  const int64_t experts, topK;
  std::vector<double> chances[numSamples];           ///< by expert
  std::vector<double> noise[numSamples][numClasses]; ///< by expert, normal
};

} // namespace shardopt::simulation

#endif // SHARDOPT_COST_SIMULATION_EXPERTLOADS_H
