//===- Descent.cpp - Multipliers that approach their best -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solve/Descent.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::solve;

Descent::Descent(const Network &network)
    : network(network), trees(network), prices(network) {}

Descent::Descent(const Network &network, const Descent &before,
                 const Network &old)
    : Descent(network) {
  started = before.started;
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

double Descent::sweep(bool forward, Incumbent &incumbent) {
  double bound = trees.sweep(unary, forward, decoded);
  incumbent.improve(network, decoded);
  return bound;
}

void Descent::step(Incumbent &incumbent, double hurry) {
  constexpr double firstRate = 0.2, lastRate = 0.004;
  constexpr double highestPrice = 0x1p60;
  if (!started)
    prices.setAll(firstPrice);
  unary = pricedCosts();
  sweep(/*forward=*/true, incumbent);
  sweep(/*forward=*/false, incumbent);
  visited += workOfStep();
  if (!started) {
    firstPrice *= 2;
    started = incumbent.exists() || firstPrice > highestPrice;
    return;
  }
  double rate = firstRate * std::pow(lastRate / firstRate, done);
  ++steps;
  done = std::min(1.0, std::max(done + 1 / double(numSteps), hurry));
  if (done < 1)
    prices.adapt(computeUsage(network, decoded), rate);
}
