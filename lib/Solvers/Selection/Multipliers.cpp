//===- Multipliers.cpp - Prices of memory over time -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Multipliers.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::solve;

std::vector<double> Multipliers::strategyPrices() const {
  std::vector<double> before{0.0}; // the sum of the prices of earlier times
  for (double price : prices)
    before.push_back(before.back() + price);
  std::vector<double> result(network.numStrategies(), 0.0);
  for (size_t i = 0; i < network.numNodes(); ++i)
    for (const Network::Run &run : network.runsOf(int32_t(i))) {
      double price = before[run.end] - before[run.begin];
      for (int32_t s = 0; s < network.sizes[i]; ++s)
        result[network.first[i] + s] +=
            price * double(network.usages[run.usage + s]);
    }
  return result;
}

void Multipliers::carryOver(const Multipliers &before, const Network &old) {
  if (prices.empty())
    return;
  setAll(0);
  size_t next = 0; // the first time that is not before the old one
  for (size_t t = 0; t < old.numTimes(); ++t) {
    while (next + 1 < prices.size() && network.times[next] < old.times[t])
      ++next;
    prices[next] += before.prices[t];
  }
  // A price of 0 would stay one.
  double largest = *std::max_element(prices.begin(), prices.end());
  for (double &price : prices)
    price = std::max(price, 0x1p-40 * largest);
}

double Multipliers::slackPrice() const {
  double sum = 0;
  for (size_t t = 0; t < prices.size(); ++t)
    sum += prices[t] * double(network.slack[t]);
  return sum;
}

void Multipliers::adapt(const std::vector<double> &usage, double rate) {
  constexpr double steepness = 40, memory = 0.8;
  for (size_t t = 0; t < prices.size(); ++t) {
    average[t] =
        isFirst ? usage[t] : memory * average[t] + (1 - memory) * usage[t];
    double excess =
        steepness * (average[t] - double(network.slack[t])) / network.limit;
    prices[t] *= std::exp(rate * std::clamp(excess, -1.0, 1.0));
  }
  isFirst = false;
}
