//===- LargeNeighbourhood.cpp - Improving regions of an assignment --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/LargeNeighbourhood.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::solve;

LargeNeighbourhood::LargeNeighbourhood(const Network &network, const Rng &rng)
    : network(network), elimination(network), rng(rng),
      prices(network.numStrategies(), 0.0), unary(network.unary),
      seen(network.numNodes(), 0), inside(network.numNodes(), 0),
      usageChange(network.numTimes() + 1, 0) {}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// A node, more often one whose strategy is expensive, or that uses memory when
/// it is short.
int32_t LargeNeighbourhood::drawSeed() {
  constexpr int candidates = 8;
  int32_t n = int32_t(network.numNodes());
  int32_t node = int32_t(rng.below(n));
  if (!rises.empty() && rng.below(2)) {
    for (int k = 1; k < candidates; ++k) {
      int32_t other = int32_t(rng.below(n));
      if (riseOf(other) > riseOf(node))
        node = other;
    }
    return node;
  }
  if (network.numTimes() == 0 || rng.below(2))
    return node;
  for (int attempt = 0; attempt < 20; ++attempt) {
    for (const Network::Run &run : network.runsOf(node)) {
      int32_t time =
          run.begin + int32_t(rng.below(uint64_t(run.end - run.begin)));
      int64_t left = network.slack[time] - best.usage[time];
      if (double(left) < 0.01 * network.limit)
        return node;
      if (rng.below(4) == 0)
        break;
    }
    node = int32_t(rng.below(n));
  }
  return node;
}

int32_t LargeNeighbourhood::drawDifference(const Assignment &partner) {
  constexpr int attempts = 200;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    int32_t node = int32_t(rng.below(network.numNodes()));
    if (partner[node] != best.assignment[node])
      return node;
  }
  return -1;
}

bool LargeNeighbourhood::isLeaf(int32_t node) const {
  int count = 0;
  for (const Network::Link &link : network.linksOf(node))
    count += inside[link.other] == numRegions;
  return count <= 1;
}

void LargeNeighbourhood::drawRegion(size_t size, bool forest,
                                    const Assignment *partner) {
  ++numRegions;
  region.clear();
  std::vector<int32_t> frontier;
  auto reach = [&](int32_t node) {
    if (node < 0 || seen[node] == numRegions ||
        (partner && (*partner)[node] == best.assignment[node]))
      return;
    seen[node] = numRegions;
    frontier.push_back(node);
  };
  auto draw = [&] { return partner ? drawDifference(*partner) : drawSeed(); };
  reach(draw());
  if (rng.below(4) == 0)
    reach(draw());
  while (region.size() < size && !frontier.empty()) {
    size_t pick = rng.below(frontier.size());
    int32_t node = frontier[pick];
    frontier[pick] = frontier.back();
    frontier.pop_back();
    if (!forest || isLeaf(node)) {
      region.push_back(node);
      inside[node] = numRegions;
      for (const Network::Link &link : network.linksOf(node))
        reach(link.other);
    }
    if (frontier.empty())
      reach(draw());
  }
}

void LargeNeighbourhood::drawDomains(size_t most) {
  constexpr double chance = 1.5; // of ranks: factors of up to e^chance
  domains.strategies.clear();
  domains.first.assign(1, 0);
  for (int32_t i : region) {
    ranked.clear();
    for (int32_t s = 0; s < network.sizes[i]; ++s) {
      double rise =
          rises[network.first[i] + s] * std::exp(chance * (2 * rng.real() - 1));
      ranked.push_back({s == best.assignment[i] ? -1 : rise, s});
    }
    size_t kept = std::min(most, ranked.size());
    std::partial_sort(ranked.begin(), ranked.begin() + kept, ranked.end());
    std::vector<int32_t> &strategies = domains.strategies;
    for (size_t k = 0; k < kept; ++k)
      strategies.push_back(ranked[k].second);
    std::sort(strategies.end() - kept, strategies.end());
    domains.first.push_back(strategies.size());
  }
}

void LargeNeighbourhood::drawDomains(const Assignment &partner) {
  domains.strategies.clear();
  domains.first.assign(1, 0);
  for (int32_t i : region) {
    auto [low, high] = std::minmax(best.assignment[i], partner[i]);
    domains.strategies.insert(domains.strategies.end(), {low, high});
    domains.first.push_back(domains.strategies.size());
  }
}

void LargeNeighbourhood::addPartner(const Assignment &partner) {
  constexpr size_t most = 4;
  if (partners.size() == most)
    partners.erase(partners.begin());
  partners.push_back(partner);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

double
LargeNeighbourhood::costChange(const std::vector<int32_t> &changed) const {
  double change = 0;
  for (int32_t i : changed) {
    change += network.unary[network.first[i] + candidate[i]] -
              network.unary[network.first[i] + best.assignment[i]];
    for (const Network::Link &link : network.linksOf(i)) {
      bool isTwice = candidate[link.other] != best.assignment[link.other];
      if (isTwice && link.other < i)
        continue;
      const Network::Edge &edge = network.edges[link.edge];
      change +=
          network.cost(edge, candidate[edge.u], candidate[edge.v]) -
          network.cost(edge, best.assignment[edge.u], best.assignment[edge.v]);
    }
  }
  return change;
}

bool LargeNeighbourhood::fitsAfter(const std::vector<int32_t> &changed) {
  std::fill(usageChange.begin() + changeBegin, usageChange.begin() + changeEnd,
            0);
  changeBegin = int32_t(network.numTimes());
  changeEnd = 0;
  for (int32_t i : changed)
    for (const Network::Run &run : network.runsOf(i)) {
      int64_t change = network.usages[run.usage + candidate[i]] -
                       network.usages[run.usage + best.assignment[i]];
      usageChange[run.begin] += change;
      usageChange[run.end] -= change;
      changeBegin = std::min(changeBegin, run.begin);
      changeEnd = std::max(changeEnd, run.end + 1);
    }
  if (changeBegin >= changeEnd) {
    changeBegin = changeEnd = 0;
    return true;
  }
  visited += size_t(changeEnd - changeBegin);
  int64_t change = 0;
  for (int32_t t = changeBegin; t < changeEnd - 1; ++t) {
    change += usageChange[t];
    if (change > 0 && best.usage[t] + change > network.slack[t])
      return false;
  }
  return true;
}

/// Minimises the region with memory at `factor` times its price. `exceeds` says
/// that the result does not fit.
bool LargeNeighbourhood::attempt(double factor, bool &exceeds) {
  exceeds = false;
  for (int32_t i : elimination.eliminated())
    for (int32_t s = 0; s < network.sizes[i]; ++s) {
      size_t at = network.first[i] + s;
      unary[at] = network.unary[at] + factor * prices[at];
    }
  visited += elimination.numEntries();
  if (!elimination.minimize(unary, candidate))
    return false;
  std::vector<int32_t> changed;
  for (int32_t i : elimination.eliminated())
    if (candidate[i] != best.assignment[i])
      changed.push_back(i);
  return accept(changed, exceeds);
}

bool LargeNeighbourhood::accept(const std::vector<int32_t> &changed,
                                bool &exceeds) {
  double change = costChange(changed);
  bool isNoDearer = !(change > 0);
  exceeds = isNoDearer && !fitsAfter(changed);
  if (!isNoDearer || exceeds) {
    for (int32_t i : changed)
      candidate[i] = best.assignment[i];
    return false;
  }
  int64_t sum = 0;
  for (int32_t t = changeBegin; t < changeEnd - 1; ++t) {
    sum += usageChange[t];
    best.usage[t] += sum;
  }
  for (int32_t i : changed)
    best.assignment[i] = candidate[i];
  best.cost += change;
  return change < 0;
}

void LargeNeighbourhood::fuse(const Incumbent &other) {
  candidate = best.assignment;
  ++numRegions;
  for (int32_t i = 0; i < int32_t(network.numNodes()); ++i) {
    if (seen[i] == numRegions || other.assignment[i] == best.assignment[i])
      continue;
    std::vector<int32_t> part{i};
    seen[i] = numRegions;
    for (size_t next = 0; next < part.size(); ++next)
      for (const Network::Link &link : network.linksOf(part[next]))
        if (seen[link.other] != numRegions &&
            other.assignment[link.other] != best.assignment[link.other]) {
          seen[link.other] = numRegions;
          part.push_back(link.other);
        }
    for (int32_t node : part)
      candidate[node] = other.assignment[node];
    bool exceeds;
    accept(part, exceeds);
  }
}

bool LargeNeighbourhood::move() {
  constexpr size_t sizes[] = {16, 32, 64, 128, 256};
  constexpr double caps[] = {2e4, 5e4, 1e5, 2e5, 4e5};
  candidate = best.assignment;
  // Few strategies of many nodes, or all of some; without cycles, all of many.
  int kind = int(rng.below(8));
  bool forest = kind < 2, few = kind < 4 && !forest && !rises.empty();
  const Assignment *partner = nullptr;
  if (kind == 4 && !partners.empty())
    partner = &partners[rng.below(partners.size())];
  size_t size = sizes[rng.below(std::size(sizes))];
  drawRegion(forest || partner ? 4 * size
             : few             ? 2 * size
                               : size,
             forest, partner);
  if (partner)
    drawDomains(*partner);
  else if (few)
    drawDomains(2 + rng.below(2));
  elimination.plan(region, size_t(caps[rng.below(std::size(caps))]),
                   few || partner ? &domains : nullptr);
  visited += 2000 + 50 * region.size();
  double factor = rng.below(2) ? 1.0 : std::exp(3 * rng.real() - 1.5);
  bool improved = false, exceeds = false;
  for (int tries = 0; tries < 3; ++tries) {
    improved |= attempt(factor, exceeds);
    if (!exceeds)
      break;
    factor *= 1.5;
  }
  return improved;
}
