//===- TreeSearch.cpp - Branch and bound ----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/TreeSearch.h"

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace shardopt;
using namespace shardopt::solve;

TreeSearch::TreeSearch(const Graph &graph, const Network &network,
                       const Descent &descent, uint64_t patience)
    : network(network),
      tightening(std::make_shared<PricedGraph>(graph.compact(), descent)),
      patience(patience), rootEntries(network.tables.size()),
      gains(network.numNodes()) {
  open.push_back({tightening.result(), -1, {}, 0});
}

Int128 TreeSearch::bound(const Incumbent &best) const {
  Int128 least = targetOf(best);
  for (const Branch &branch : open)
    least = std::min(least, branch.bound);
  return std::max(least, std::min(targetOf(best), tightening.bound()));
}

/// An assignment of a part of the tree, as one of the whole.
void TreeSearch::offer(const Graph &graph, const Network &partNetwork,
                       const Assignment &assignment, Incumbent &best) const {
  best.improve(network, expand(graph, partNetwork, assignment));
}

std::shared_ptr<const PricedGraph>
TreeSearch::explore(const Branch &branch, Incumbent &best, Int128 &bound,
                    std::vector<Int128> &bounds,
                    const std::function<bool()> &isOver) {
  constexpr int mostPasses = 4, mostSteps = 12;
  std::shared_ptr<const PricedGraph> before = branch.parent;
  Graph graph = before->graph;
  if (branch.node >= 0)
    graph.keepStrategies(branch.node, branch.keep);
  for (int pass = 0; pass < mostPasses; ++pass) {
    reduce(graph);
    visited += 20 * graph.countStrategies() + 4 * graph.slack.size();
    if (graph.isInfeasible)
      return nullptr;
    auto part = std::make_shared<PricedGraph>(std::move(graph), before->descent,
                                              before->network);
    part->descent.aimAtBound(false); // its few steps offer solutions too
    if (part->network.numNodes() == 0) {
      offer(part->graph, part->network, {}, best);
      return nullptr;
    }
    Incumbent found;
    found.cost = best.cost;
    uint64_t workBefore = part->descent.work();
    for (int step = 0; step < mostSteps && !interrupted; ++step) {
      part->descent.step(found, 0.5 + 0.4 * step / mostSteps);
      interrupted = isOver();
    }
    visited += part->descent.work() - workBefore;
    if (!found.assignment.empty())
      offer(part->graph, part->network, found.assignment, best);
    if (interrupted)
      return nullptr;

    std::optional<Certificate> certificate =
        certify(part->network, part->descent.messages(),
                part->descent.multipliers(), part->graph.constant);
    if (!certificate) { // numbers are too large for it
      bounds.clear();
      return part;
    }
    bound = std::max(bound, certificate->bound);
    Int128 target = targetOf(best);
    if (bound >= target)
      return nullptr;
    graph = part->graph;
    size_t dropped =
        dropTooDear(graph, part->network, *certificate, target - 1);
    bounds = std::move(certificate->bounds);
    if (graph.isInfeasible)
      return nullptr;
    before = part;
    bool isWorthwhile = dropped * 20 >= part->network.numStrategies();
    if (!isWorthwhile)
      break;
  }
  return before;
}

/// Branches on the node that raised bounds the most so far; those of many
/// neighbours are tried first.
void TreeSearch::split(std::shared_ptr<const PricedGraph> part, Int128 bound,
                       const std::vector<Int128> &bounds, Int128 target) {
  const Network &own = part->network;
  size_t mostLinks = 1;
  for (size_t i = 0; i < own.numNodes(); ++i)
    mostLinks = std::max(mostLinks, own.linksOf(int32_t(i)).size());
  int32_t chosen = -1;
  double bestScore = -1;
  for (int32_t i = 0; i < int32_t(own.numNodes()); ++i) {
    constexpr double weight = 2; // of what is expected, in branchings
    const Gain &gain = gains[own.graphNodes[i]];
    double expected = 0.5 * double(own.linksOf(i).size()) / double(mostLinks);
    double score =
        (gain.sum + weight * expected) / (double(gain.count) + weight);
    if (score > bestScore) {
      bestScore = score;
      chosen = i;
    }
  }
  size_t k = own.sizes[chosen];
  std::vector<int32_t> byBound(k);
  std::iota(byBound.begin(), byBound.end(), 0);
  auto boundOf = [&](int32_t s) {
    return bounds.empty() ? Int128(0) : bounds[own.first[chosen] + s];
  };
  std::stable_sort(byBound.begin(), byBound.end(), [&](int32_t a, int32_t b) {
    return boundOf(a) < boundOf(b);
  });
  Branch likely{part, own.graphNodes[chosen], std::vector<char>(k, 0), bound};
  Branch other{part, own.graphNodes[chosen], std::vector<char>(k, 1), bound};
  for (size_t s = 0; s < k / 2; ++s) {
    likely.keep[byBound[s]] = 1;
    other.keep[byBound[s]] = 0;
  }
  other.bound = std::max(bound, std::min(target, boundOf(byBound[k / 2])));
  open.push_back(std::move(other));
  open.push_back(std::move(likely));
}

bool TreeSearch::isTightening(const Incumbent &best) const {
  constexpr double close = 0.005; // of the cost
  if (visited < patience || tightening.isDone())
    return false;
  bool hasBegun = tightening.work() > 0;
  return hasBegun || !best.exists() ||
         double(targetOf(best) - bound(best)) > close * std::abs(best.cost);
}

void TreeSearch::tighten(Incumbent &best) {
  constexpr size_t mostGrowth = 4;
  uint64_t workBefore = tightening.work();
  tightening.step(network, best);
  visited += tightening.work() - workBefore;
  if (!tightening.isDone())
    return;
  std::shared_ptr<const PricedGraph> root = tightening.result();
  if (root && root->network.tables.size() > mostGrowth * rootEntries)
    return;
  open.clear();
  if (!root)
    return;
  gains.assign(root->graph.nodes.size(), {});
  open.push_back({root, -1, {}, tightening.bound()});
}

void TreeSearch::step(Incumbent &best, const std::function<bool()> &isOver) {
  if (isTightening(best))
    return tighten(best);
  interrupted = false;
  Branch branch = std::move(open.back());
  open.pop_back();
  if (branch.bound >= targetOf(best))
    return;
  ++parts;
  visited += 2000;
  Int128 bound = branch.bound;
  std::vector<Int128> bounds;
  std::shared_ptr<const PricedGraph> part =
      explore(branch, best, bound, bounds, isOver);
  if (interrupted)
    return open.push_back(std::move(branch));
  if (branch.node >= 0) {
    Int128 missing = targetOf(best) - branch.bound;
    bool isClosed = !part || missing <= 0;
    Gain &gain = gains[branch.node];
    gain.sum +=
        isClosed
            ? 1
            : std::min(1.0, double(bound - branch.bound) / double(missing));
    ++gain.count;
  }
  if (part)
    split(std::move(part), bound, bounds, targetOf(best));
}
