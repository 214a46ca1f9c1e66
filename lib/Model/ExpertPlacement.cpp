//===- ExpertPlacement.cpp - The fullest rank of experts ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/ExpertPlacement.h"

#include <algorithm>
#include <numeric>

using namespace shardopt;
using namespace shardopt::cost;

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// Chances that a token visits the slots of a rank, by rank.
using Ranks = std::vector<std::vector<double>>;

/// Experts in their order, as evenly as can be.
static Ranks inOrder(const std::vector<double> &chances, int64_t ranks) {
  Ranks placed;
  placed.resize(size_t(ranks));
  auto experts = int64_t(chances.size());
  for (int64_t rank = 0; rank < ranks; ++rank)
    placed[size_t(rank)].assign(chances.begin() + rank * experts / ranks,
                                chances.begin() + (rank + 1) * experts / ranks);
  return placed;
}

/// The chances of replicas that fill `slots`, descending.
static std::vector<double> replicated(const std::vector<double> &chances,
                                      size_t slots) {
  std::vector<std::pair<double, size_t>> heap; ///< of a replica, its expert
  for (size_t e = 0; e < chances.size(); ++e)
    heap.emplace_back(chances[e], e);
  std::make_heap(heap.begin(), heap.end());
  std::vector<size_t> count(chances.size(), 1);
  for (size_t more = chances.size(); more < slots; ++more) {
    std::pop_heap(heap.begin(), heap.end());
    size_t expert = heap.back().second;
    heap.back().first = chances[expert] / double(++count[expert]);
    std::push_heap(heap.begin(), heap.end());
  }
  std::vector<double> replicas;
  for (auto [chance, expert] : heap)
    replicas.insert(replicas.end(), count[expert], chance);
  std::sort(replicas.begin(), replicas.end(), std::greater<>());
  return replicas;
}

static Ranks balanced(const std::vector<double> &chances, int64_t ranks,
                      int64_t slots) {
  Ranks placed;
  placed.resize(size_t(ranks));
  // The least loaded rank comes first.
  std::vector<std::pair<double, size_t>> open;
  for (size_t rank = 0; rank < placed.size(); ++rank)
    open.emplace_back(0, rank);
  std::greater<> later;
  for (double chance : replicated(chances, size_t(ranks * slots))) {
    std::pop_heap(open.begin(), open.end(), later);
    std::vector<double> &rank = placed[open.back().second];
    rank.push_back(chance);
    open.back().first += chance;
    if (rank.size() == size_t(slots))
      open.pop_back();
    else
      std::push_heap(open.begin(), open.end(), later);
  }
  return placed;
}

//===----------------------------------------------------------------------===//
// The fullest rank
//===----------------------------------------------------------------------===//

namespace {
/// What ranks have, each in the mean and with its variance.
struct Loads {
  explicit Loads(size_t ranks) : mean(ranks), variance(ranks) {}
  void add(size_t rank, double more, double moreVariance) {
    mean[rank] += more;
    variance[rank] += moreVariance;
  }
  std::vector<double> mean, variance;
};
} // namespace

/// The load that the largest of all is below with Blom's chance, where they are
/// normal and deviations count `spread` times.
static double largestOf(const Loads &loads, double spread) {
  constexpr double blom = 0.5264;
  double reach = spread * deviationsOfLargest(double(loads.mean.size()));
  double low = 0, high = 0;
  bool areAlike = true;
  for (size_t rank = 0; rank < loads.mean.size(); ++rank) {
    low = std::max(low, loads.mean[rank]);
    high = std::max(high,
                    loads.mean[rank] + reach * std::sqrt(loads.variance[rank]));
    areAlike &= loads.mean[rank] == loads.mean[0] &&
                loads.variance[rank] == loads.variance[0];
  }
  if (areAlike)
    return high;
  constexpr int halvings = 14;
  for (int i = 0; i < halvings; ++i) {
    double middle = (low + high) / 2, chance = 1;
    for (size_t rank = 0; rank < loads.mean.size() && chance > blom; ++rank) {
      double deviation = spread * std::sqrt(loads.variance[rank]);
      double away = middle - loads.mean[rank];
      if (away < 4 * deviation)
        chance *= std::erfc(-away / (deviation * std::sqrt(2.0))) / 2;
    }
    (chance > blom ? high : low) = middle;
  }
  return high;
}

/// Tokens of a node.
static double tokensOf(size_t node) { return std::exp2(double(node) / 2); }
static constexpr size_t numNodes = 2 * 26 + 1;

namespace {
/// Slots of the ranks of one layer whose tokens double from node to node but
/// one.
class Slots {
public:
  explicit Slots(const Ranks &ranks) : ranks(ranks) {
    for (const std::vector<double> &rank : ranks)
      for (double chance : rank) {
        double missed = 1 - std::min(chance, 1.0);
        missedBy[0].push_back(missed);
        missedBy[1].push_back(std::pow(missed, tokensOf(1)));
      }
  }
  /// Adds the slots with tokens of the next node to `loads`.
  void addNext(Loads &loads, double weight) {
    std::vector<double> &missed = missedBy[node++ % 2];
    size_t slot = 0;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      double mean = 0, variance = 0;
      for (size_t end = slot + ranks[rank].size(); slot < end; ++slot) {
        double idle = missed[slot];
        mean += 1 - idle;
        variance += idle * (1 - idle);
        missed[slot] *= missed[slot];
      }
      loads.add(rank, weight * mean, weight * variance);
    }
  }

private:
  const Ranks &ranks;
  std::vector<double> missedBy[2];
  size_t node = 0;
};
} // namespace

ExpertPlacement::ExpertPlacement(const ExpertShares &shares, int64_t experts,
                                 int64_t topK, const Degrees &degrees,
                                 double reach, double spread)
    : experts(experts), topK(topK), degrees(degrees), ranks(degrees.ep),
      slots(expertSlots(experts, degrees)), reach(reach),
      deviations(spread * deviationsOfLargest(double(degrees.ep))),
      nodes(numNodes) {
  bool isBalanced = degrees.hasEplb();
  std::vector<std::vector<double>> layers =
      shares.chances(experts, topK, /*isOrdered=*/!isBalanced);
  auto count = size_t(ranks);
  double weight = 1 / double(layers.size());
  Loads loads(count);
  std::vector<Loads> active(numNodes, Loads(count));
  for (const std::vector<double> &chances : layers) {
    Ranks placed =
        isBalanced ? balanced(chances, ranks, slots) : inOrder(chances, ranks);
    auto sum = [](const std::vector<double> &rank) {
      return std::accumulate(rank.begin(), rank.end(), 0.0);
    };
    // Ranks of different layers count together where they are as full.
    std::sort(placed.begin(), placed.end(),
              [&](const std::vector<double> &a, const std::vector<double> &b) {
                return sum(a) > sum(b);
              });
    for (size_t rank = 0; rank < count; ++rank)
      loads.add(rank, weight * sum(placed[rank]), weight * sum(placed[rank]));
    Slots of(placed);
    for (Loads &at : active)
      of.addNext(at, weight);
  }
  full = loads.mean.front() * double(ranks) / double(topK);
  double most = 1;
  for (size_t i = 0; i < numNodes; ++i) {
    Loads scaled = loads;
    for (std::vector<double> *each : {&scaled.mean, &scaled.variance})
      for (double &value : *each)
        value *= tokensOf(i);
    const Loads &at = active[i];
    most = std::max(most, std::min(double(slots), largestOf(at, spread)));
    nodes[i].copies = largestOf(scaled, spread);
    nodes[i].active = most;
    nodes[i].fraction = std::accumulate(at.mean.begin(), at.mean.end(), 0.0) /
                        double(ranks * slots);
  }
}

/// Between nodes as a T + b sqrt(T), which is exact where ranks are alike, and
/// rises, as both are positive.
double ExpertPlacement::copiesAt(double tokens) const {
  double place = std::clamp(2 * std::log2(tokens), 0.0, double(numNodes - 2));
  auto node = size_t(place);
  double low = tokensOf(node), high = tokensOf(node + 1);
  double atLow = nodes[node].copies / std::sqrt(low),
         atHigh = nodes[node + 1].copies / std::sqrt(high);
  double a = (atHigh - atLow) / (std::sqrt(high) - std::sqrt(low));
  double b = atLow - a * std::sqrt(low);
  return a * tokens + b * std::sqrt(tokens);
}

Routing ExpertPlacement::route(double tokens) const {
  Routing routing;
  routing.experts = experts;
  routing.topK = topK;
  routing.localExperts = slots;
  routing.meanCopies = tokens * double(topK) / double(ranks);
  routing.copies =
      std::min(copiesAt(tokens), tokens * double(std::min(topK, slots)));
  routing.imbalance = routing.copies / routing.meanCopies;
  double place = std::clamp(2 * std::log2(tokens), 0.0, double(numNodes - 1));
  size_t node = std::min(size_t(place), numNodes - 2);
  double part = place - double(node);
  const Node &low = nodes[node], &high = nodes[node + 1];
  // That tokens of a batch reach the same experts, `reach` and the shares both
  // say.
  routing.activeExperts =
      std::min(low.active + part * (high.active - low.active),
               makeRouting(experts, topK, tokens / double(degrees.dp), degrees,
                           std::nullopt, reach, deviations)
                   .activeExperts);
  routing.activeFraction = low.fraction + part * (high.fraction - low.fraction);
  return routing;
}

const ExpertPlacement &ExpertPlacements::of(int64_t experts, int64_t topK,
                                            const Degrees &degrees) {
  auto key = std::tuple(experts, topK, degrees.ep, degrees.eplb);
  auto found = known.find(key);
  if (found == known.end())
    found = known
                .emplace(key, ExpertPlacement(*shares, experts, topK, degrees,
                                              reach, spread))
                .first;
  return found->second;
}
