//===- PenaltySearch.cpp - A weight on the memory of each node ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Research/PenaltySearch.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::solve;

/// The least of the scales from which the paper starts.
static constexpr double firstScale = 0.1;

PenaltySearch::PenaltySearch(const Network &network, uint64_t seed,
                             bool polishes)
    : network(network), trees(network), rng(seed), polishes(polishes),
      peaks(network.numStrategies(), 0.0), weights(network.numNodes(), 0.0),
      bestCost(std::numeric_limits<double>::infinity()), scale(firstScale) {
  for (size_t i = 0; i < network.numNodes(); ++i)
    for (const Network::Run &run : network.runsOf(int32_t(i)))
      for (int32_t s = 0; s < network.sizes[i]; ++s) {
        double &peak = peaks[network.first[i] + s];
        peak = std::max(peak, double(network.usages[run.usage + s]));
      }
}

/// The same weight for all nodes, but for a perturbation of a few percent.
void PenaltySearch::setWeights(double scale) {
  for (double &weight : weights)
    weight = scale * (0.95 + 0.1 * rng.real());
}

Assignment PenaltySearch::solveRelaxed() {
  constexpr int numSweeps = 15;
  std::vector<double> unary = network.unary;
  for (size_t i = 0; i < network.numNodes(); ++i)
    for (int32_t s = 0; s < network.sizes[i]; ++s) {
      size_t at = network.first[i] + s;
      unary[at] += weights[i] * peaks[at];
    }
  Assignment best, decoded;
  double bestCost = std::numeric_limits<double>::infinity();
  for (int sweep = 0; sweep < 2 * numSweeps; ++sweep) {
    trees.sweep(unary, sweep % 2 == 0, decoded);
    double cost = computeCost(network, decoded);
    for (size_t i = 0; i < network.numNodes(); ++i)
      cost += weights[i] * peaks[network.first[i] + decoded[i]];
    if (best.empty() || cost < bestCost) {
      bestCost = cost;
      best = decoded;
    }
  }
  visited +=
      numSweeps * (2000 + network.tables.size() + 4 * network.numStrategies());
  return best;
}

/// Exchanges the strategy of one node after the other for the cheapest one that
/// fits, until that helps nowhere.
void PenaltySearch::polish(Assignment &assignment) {
  std::vector<int64_t> usage = computeUsage(network, assignment);
  auto fitsAt = [&](int32_t node, int32_t strategy) {
    for (const Network::Run &run : network.runsOf(node)) {
      int64_t change = network.usages[run.usage + strategy] -
                       network.usages[run.usage + assignment[node]];
      for (int32_t t = run.begin; change > 0 && t < run.end; ++t)
        if (usage[t] + change > network.slack[t])
          return false;
    }
    return true;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    visited += network.tables.size() / 8 + network.numStrategies();
    for (int32_t i = 0; i < int32_t(network.numNodes()); ++i) {
      const double *own = network.unary.data() + network.first[i];
      std::vector<double> costs(own, own + network.sizes[i]);
      for (const Network::Link &link : network.linksOf(i)) {
        const double *row =
            network.tableFrom(network.edges[link.edge], link.other) +
            size_t(assignment[link.other]) * costs.size();
        for (size_t s = 0; s < costs.size(); ++s)
          costs[s] += row[s];
      }
      int32_t best = assignment[i];
      for (int32_t s = 0; s < network.sizes[i]; ++s)
        if (costs[s] < costs[best] && fitsAt(i, s))
          best = s;
      if (best == assignment[i])
        continue;
      for (const Network::Run &run : network.runsOf(i))
        for (int32_t t = run.begin; t < run.end; ++t)
          usage[t] += network.usages[run.usage + best] -
                      network.usages[run.usage + assignment[i]];
      assignment[i] = best;
      changed = true;
    }
  }
}

void PenaltySearch::adapt(const std::vector<int64_t> &usage) {
  constexpr double fall = 0.97, rise = 1.1;
  if (fits(network, usage)) {
    for (double &weight : weights)
      weight *= fall;
    return;
  }
  std::vector<int32_t> exceeded{0}; // how many of the times before
  for (size_t t = 0; t < usage.size(); ++t)
    exceeded.push_back(exceeded.back() + (usage[t] > network.slack[t]));
  for (size_t i = 0; i < network.numNodes(); ++i)
    for (const Network::Run &run : network.runsOf(int32_t(i)))
      if (exceeded[run.end] > exceeded[run.begin]) {
        weights[i] *= rise;
        break;
      }
}

void PenaltySearch::step(Incumbent &incumbent) {
  constexpr int fewestScales = 4; // 0.1, 1, 10, 100
  constexpr double largestScale = 1e15;
  if (!adapting)
    setWeights(scale);
  Assignment assignment = solveRelaxed();
  std::vector<int64_t> usage = computeUsage(network, assignment);
  bool isFeasible =
      fits(network, usage) && computeCost(network, assignment) <
                                  std::numeric_limits<double>::infinity();
  if (isFeasible) {
    if (polishes)
      polish(assignment);
    incumbent.improve(network, assignment);
  }
  if (adapting)
    return adapt(usage);

  double cost = computeCost(network, assignment);
  if (isFeasible && cost < bestCost) {
    bestCost = cost;
    bestWeights = weights;
  }
  scale *= 10;
  ++numScales;
  bool isFound = numScales >= fewestScales && !bestWeights.empty();
  adapting = isFound || scale > largestScale;
  if (isFound)
    weights = bestWeights;
}
