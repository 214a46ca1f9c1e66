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

uint64_t Descent::workOfStep() const {
  // Each table is read once in each direction; small ones take their time too.
  constexpr uint64_t overhead = 2000;
  return overhead + network.tables.size() + 4 * network.numStrategies() +
         2 * network.numTimes();
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
  unary = prices.strategyPrices();
  for (size_t s = 0; s < unary.size(); ++s)
    unary[s] += network.unary[s];
  sweep(/*forward=*/true, incumbent);
  sweep(/*forward=*/false, incumbent);
  visited += workOfStep();
  if (!started) {
    firstPrice *= 2;
    started = incumbent.exists() || firstPrice > highestPrice;
    return;
  }
  double rate = firstRate * std::pow(lastRate / firstRate, done);
  done = std::min(1.0, std::max(double(++steps) / double(numSteps), hurry));
  if (done < 1)
    prices.adapt(computeUsage(network, decoded), rate);
}
