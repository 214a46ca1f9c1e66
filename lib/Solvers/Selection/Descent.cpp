//===- Descent.cpp - Multipliers that approach their best -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Descent.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::solve;

Descent::Descent(const Network &network)
    : network(network), trees(network), prices(network) {}

Descent::Descent(const Network &network, const Descent &before,
                 const Network &old)
    : Descent(network) {
  started = before.started;
  forBound = before.forBound;
  firstPrice = before.firstPrice;
  steps = before.steps;
  numSteps = before.numSteps;
  done = before.done;
  prices.carryOver(before.prices, old);
  trees.carryOver(before.trees, old);
}

void Descent::restart(double part, double spread, Rng &rng) {
  for (double &price : prices.prices)
    price *= std::exp(spread * (2 * rng.real() - 1));
  done = part;
}

uint64_t Descent::workOfStep() const {
  // Each table is read once in each direction; small ones take their time too.
  constexpr uint64_t overhead = 2000;
  return overhead + network.tables.size() + 4 * network.numStrategies() +
         2 * network.numTimes();
}

std::vector<double> Descent::pricedCosts() const {
  std::vector<double> costs = prices.strategyPrices();
  for (size_t s = 0; s < costs.size(); ++s)
    costs[s] += network.unary[s];
  return costs;
}

std::vector<double> Descent::meanUsage(double bound, double part) const {
  // What costs a twentieth of a node more is taken an e-th as often; in the
  // end, what costs a two-hundredth.
  constexpr double least = 1e-300;
  double share = 0.05 * std::pow(0.1, part);
  double scale =
      std::max(least, share * std::abs(bound) / double(network.numNodes()));
  std::vector<double> above = trees.rises(unary);
  std::vector<double> usage(network.numTimes() + 1, 0.0), weights;
  for (size_t i = 0; i < network.numNodes(); ++i) {
    double sum = 0;
    weights.clear();
    for (int32_t s = 0; s < network.sizes[i]; ++s) {
      weights.push_back(std::exp(-above[network.first[i] + s] / scale));
      sum += weights.back();
    }
    for (const Network::Run &run : network.runsOf(int32_t(i))) {
      double mean = 0;
      for (int32_t s = 0; s < network.sizes[i]; ++s)
        mean += weights[s] * double(network.usages[run.usage + s]);
      usage[run.begin] += mean / sum;
      usage[run.end] -= mean / sum;
    }
  }
  for (size_t t = 1; t < usage.size(); ++t)
    usage[t] += usage[t - 1];
  usage.pop_back();
  return usage;
}

double Descent::sweep(bool forward, Incumbent &incumbent) {
  double bound = trees.sweep(unary, forward, decoded);
  incumbent.improve(network, decoded);
  return bound;
}

void Descent::step(Incumbent &incumbent, double hurry) {
  constexpr double firstRate = 0.2, lastRate = 0.004;
  constexpr double highestPrice = 0x1p60;
  constexpr double partForSolutions = 0.5;
  if (!started)
    prices.setAll(firstPrice);
  unary = pricedCosts();
  sweep(/*forward=*/true, incumbent);
  double bound = sweep(/*forward=*/false, incumbent);
  visited += workOfStep();
  if (!started) {
    firstPrice *= 2;
    started = incumbent.exists() || firstPrice > highestPrice;
    return;
  }
  // Rates fall twice where both are looked for, the bound last.
  bool isForBound = forBound && done >= partForSolutions;
  double part = !forBound ? done
                : isForBound
                    ? (done - partForSolutions) / (1 - partForSolutions)
                    : done / partForSolutions;
  double rate = firstRate * std::pow(lastRate / firstRate, part);
  ++steps;
  done = std::min(1.0, std::max(done + 1 / double(numSteps), hurry));
  if (done >= 1)
    return;
  if (isForBound)
    return prices.adapt(meanUsage(bound, part), rate);
  std::vector<int64_t> usage = computeUsage(network, decoded);
  prices.adapt(std::vector<double>(usage.begin(), usage.end()), rate);
}
