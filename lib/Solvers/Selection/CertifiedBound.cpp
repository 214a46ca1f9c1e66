//===- CertifiedBound.cpp - Bounds that rounding cannot break -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/CertifiedBound.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::solve;

namespace {

/// Costs in units of 2^-bits, all of them integers.
///
/// A reparametrisation: a node gives equal shares of its costs, with messages,
/// to the edges to its earlier nodes, which pay the messages; the sum over all
/// nodes and edges is the same for every assignment as before, however shares
/// and messages are rounded. The sum of the least of each bounds it.
class Reparametrisation {
public:
  Reparametrisation(const Network &network, const TreeReweighted &trees,
                    const Multipliers &multipliers)
      : network(network), trees(trees), multipliers(multipliers) {}

  /// False if numbers are too large.
  bool compute();

  /// In units of 2^-bits, without the constant.
  Int128 bound = 0;
  int bits = 0;
  /// How much the bound rises if a strategy is taken.
  std::vector<Int128> rises;

private:
  bool chooseBits();
  void addPrices();
  void addNode(int32_t node);
  void addEdge(const Network::Link &link, int32_t node, int64_t divisor);
  int64_t toFixed(double value) const {
    return int64_t(std::llround(std::ldexp(value, bits)));
  }

  const Network &network;
  const TreeReweighted &trees;
  const Multipliers &multipliers;
  std::vector<Int128> costs;   ///< of strategies, with prices
  std::vector<Int128> beliefs; ///< of one node
  std::vector<Int128> ownLeast, otherLeast;
};

} // namespace

static constexpr int mostBits = 20;
/// Fixed-point numbers stay below this, so that sums of many fit 128 bits.
static constexpr int mostMagnitude = 60;

/// Raises `largest` to the largest finite magnitude.
static void noteLargest(const std::vector<double> &values, double &largest) {
  for (double value : values)
    if (std::abs(value) < std::numeric_limits<double>::infinity())
      largest = std::max(largest, std::abs(value));
}

bool Reparametrisation::chooseBits() {
  double largest = 1;
  noteLargest(network.unary, largest);
  noteLargest(network.tables, largest);
  noteLargest(trees.messages, largest);
  double largestPrice = 0;
  noteLargest(multipliers.prices, largestPrice);
  bits = std::min(mostBits, mostMagnitude - 2 - int(std::log2(largest)));
  // Prices have 20 more bits, and usages at most 63.
  return bits >= 0 && largestPrice < std::ldexp(1.0, mostMagnitude - bits - 20);
}

void Reparametrisation::addPrices() {
  constexpr int extra = 20;
  std::vector<Int128> before{0};
  Int128 slackPrice = 0;
  for (size_t t = 0; t < network.numTimes(); ++t) {
    Int128 price =
        Int128(std::llround(std::ldexp(multipliers.prices[t], bits + extra)));
    price = std::max<Int128>(price, 0);
    before.push_back(before.back() + price);
    slackPrice += price * network.slack[t];
  }
  for (size_t i = 0; i < network.numNodes(); ++i)
    for (int32_t s = 0; s < network.sizes[i]; ++s) {
      Int128 price = 0;
      for (const Network::Run &run : network.runsOf(int32_t(i)))
        price += (before[run.end] - before[run.begin]) *
                 network.usages[run.usage + s];
      // Shifts round down, which is on the safe side for what is paid.
      costs.push_back((Int128(network.unary[network.first[i] + s]) << bits) +
                      (price >> extra));
    }
  bound -= (slackPrice >> extra) + 1;
}

void Reparametrisation::addEdge(const Network::Link &link, int32_t node,
                                int64_t divisor) {
  const Network::Edge &edge = network.edges[link.edge];
  size_t k = network.sizes[node], others = network.sizes[link.other];
  const double *table = network.tableFrom(edge, node);
  const double *toNode =
      trees.messages.data() + trees.messageTo(link.edge, node);
  const double *toOther =
      trees.messages.data() + trees.messageTo(link.edge, link.other);
  constexpr Int128 infinite = Int128(1) << 120;
  ownLeast.assign(k, infinite);
  otherLeast.assign(others, infinite);
  std::vector<int64_t> paid(others);
  for (size_t y = 0; y < others; ++y)
    paid[y] = toFixed(toOther[y]);
  Int128 least = infinite;
  for (size_t x = 0; x < k; ++x) {
    Int128 own = beliefs[x] / divisor - toFixed(toNode[x]);
    for (size_t y = 0; y < others; ++y) {
      double cost = table[x * others + y];
      if (!(cost < std::numeric_limits<double>::infinity()))
        continue;
      Int128 sum = own - paid[y] + (Int128(cost) << bits);
      ownLeast[x] = std::min(ownLeast[x], sum);
      otherLeast[y] = std::min(otherLeast[y], sum);
    }
    least = std::min(least, ownLeast[x]);
  }
  bound += least;
  for (size_t x = 0; x < k; ++x)
    rises[network.first[node] + x] += ownLeast[x] - least;
  for (size_t y = 0; y < others; ++y)
    rises[network.first[link.other] + y] += otherLeast[y] - least;
}

void Reparametrisation::addNode(int32_t node) {
  size_t k = network.sizes[node];
  const Int128 *own = costs.data() + network.first[node];
  beliefs.assign(own, own + k);
  int64_t earlier = 0, later = 0;
  for (const Network::Link &link : network.linksOf(node)) {
    const double *incoming =
        trees.messages.data() + trees.messageTo(link.edge, node);
    for (size_t x = 0; x < k; ++x)
      beliefs[x] += toFixed(incoming[x]);
    ++(link.other < node ? earlier : later);
  }
  int64_t divisor = std::max<int64_t>({earlier, later, 1});
  for (const Network::Link &link : network.linksOf(node))
    if (link.other < node)
      addEdge(link, node, divisor);
  for (size_t x = 0; x < k; ++x)
    beliefs[x] -= earlier * (beliefs[x] / divisor);
  Int128 least = *std::min_element(beliefs.begin(), beliefs.end());
  bound += least;
  for (size_t x = 0; x < k; ++x)
    rises[network.first[node] + x] += beliefs[x] - least;
}

bool Reparametrisation::compute() {
  if (!chooseBits())
    return false;
  rises.assign(network.numStrategies(), 0);
  addPrices();
  for (size_t i = 0; i < network.numNodes(); ++i)
    addNode(int32_t(i));
  return true;
}

std::optional<Certificate> solve::certify(const Network &network,
                                          const TreeReweighted &messages,
                                          const Multipliers &multipliers,
                                          Cost networkConstant) {
  Reparametrisation costs(network, messages, multipliers);
  if (!costs.compute())
    return std::nullopt;
  auto toCost = [&](Int128 fixed) {
    Int128 roundUp = (Int128(1) << costs.bits) - 1;
    return ((fixed + roundUp) >> costs.bits) + networkConstant;
  };
  Certificate certificate{toCost(costs.bound), {}};
  for (Int128 rise : costs.rises)
    certificate.bounds.push_back(toCost(costs.bound + rise));
  return certificate;
}

size_t solve::dropTooDear(Graph &graph, const Network &network,
                          const Certificate &certificate, Int128 upper) {
  size_t count = 0;
  for (size_t i = 0; i < network.numNodes(); ++i) {
    std::vector<char> keep;
    for (int32_t s = 0; s < network.sizes[i]; ++s)
      keep.push_back(certificate.bounds[network.first[i] + s] <= upper);
    count += graph.keepStrategies(network.graphNodes[i], keep);
  }
  return count;
}
