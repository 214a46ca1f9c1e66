//===- ExpertLoads.cpp - Sampled routing of tokens to experts -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/ExpertLoads.h"
#include "shardopt/Model/ExpertShares.h"
#include "shardopt/Support/Rng.h"

#include <algorithm>
#include <numeric>

using namespace shardopt;
using namespace shardopt::simulation;

ExpertLoads::ExpertLoads(int64_t experts, int64_t topK, double exponent,
                         uint64_t seed)
    : experts(experts), topK(topK) {
  auto count = size_t(experts);
  Rng rng(seed);
  for (unsigned sample = 0; sample < numSamples; ++sample) {
    std::vector<int64_t> ranks(count);
    std::iota(ranks.begin(), ranks.end(), 1);
    rng.shuffle(ranks);
    std::vector<double> weights(count);
    for (size_t e = 0; e < count; ++e)
      weights[e] = std::pow(double(ranks[e]), -exponent);
    chances[sample] = cost::boundedChances(weights, double(topK));
    for (std::vector<double> &values : noise[sample]) {
      values.resize(count);
      for (double &value : values)
        value = rng.normal();
    }
  }
}

cost::Routing ExpertLoads::route(int64_t rows, int64_t dp, int64_t ep,
                                 unsigned sample,
                                 unsigned microBatchClass) const {
  const std::vector<double> &chance = chances[sample];
  const std::vector<double> &scatter = noise[sample][microBatchClass];
  auto tokens = double(rows * dp);
  auto drawn = [&](size_t e) {
    double spread = std::sqrt(tokens * chance[e] * (1 - chance[e]));
    return std::clamp(tokens * chance[e] + spread * scatter[e], 0.0, tokens);
  };

  // Every token visits topK experts; noise must not change that.
  double total = 0;
  for (size_t e = 0; e < chance.size(); ++e)
    total += drawn(e);
  double scale = total > 0 ? tokens * double(topK) / total : 0;

  cost::Routing routing;
  routing.experts = experts;
  routing.topK = topK;
  routing.localExperts = cost::ceilDiv(experts, ep);
  routing.meanCopies = double(rows * topK);
  if (dp != ep)
    routing.meanCopies *= double(dp) / double(ep);
  routing.copies = routing.meanCopies;
  double active = 0, mostActive = 1;
  for (int64_t group = 0; group * routing.localExperts < experts; ++group) {
    int64_t begin = group * routing.localExperts;
    int64_t end = std::min(begin + routing.localExperts, experts);
    double copies = 0, used = 0;
    for (int64_t e = begin; e < end; ++e) {
      double load = std::min(tokens, scale * drawn(size_t(e)));
      copies += load;
      used += load >= 0.5 ? 1 : 0;
    }
    routing.copies = std::max(routing.copies, copies);
    mostActive = std::max(mostActive, used);
    active += used;
  }
  routing.imbalance = routing.copies / routing.meanCopies;
  routing.activeFraction = active / double(experts);
  routing.activeExperts = mostActive;
  return routing;
}
