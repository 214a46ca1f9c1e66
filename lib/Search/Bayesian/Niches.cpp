//===- Niches.cpp - What is known of each tuple of degrees ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/Niches.h"

#include <algorithm>
#include <cmath>

namespace shardopt::search {

/// A gain of the score below it does not count.
static constexpr double leastProgress = 1e-3;
static constexpr double staleWeight = .15, staleUnit = 15;
/// The chance that a rank is passed over for the next one.
static constexpr double nicheDecay = .8, valueDecay = .65;
/// More tuples than these are drawn, not listed.
static constexpr size_t mostListed = 5000, numDrawn = 2000;

double Niche::promise() const {
  return best()->score - staleWeight * std::log1p(double(stale) / staleUnit);
}

Niches::Niches(const StrategySpace &space, Rng &rng) : space(space) {
  Strategy strategy = space.strategyAt(Point(space.numVariables(), 0));
  if (space.numGrids() * space.numBatches() <= mostListed) {
    for (const Degrees &degrees : space.degreeTuples()) {
      strategy.degrees = degrees;
      find(*space.pointOf(strategy));
    }
    return;
  }
  for (size_t i = 0; i < numDrawn; ++i)
    find(space.sample(rng));
}

size_t Niches::find(const Point &point) {
  Point degrees = point;
  std::fill(degrees.begin() + space.firstDim(), degrees.end(), 0);
  auto [it, isNew] = numberOf.emplace(degrees, niches.size());
  if (isNew) {
    niches.emplace_back();
    niches.back().degrees = std::move(degrees);
  }
  return it->second;
}

void Niches::tell(const Point &point, const Evaluation &evaluation,
                  double score) {
  Niche &niche = niches[find(point)];
  ++niche.calls;
  ++niche.stale;
  std::optional<Niche::Elite> &elite =
      evaluation.valid ? niche.valid : niche.invalid;
  if (elite && elite->score >= score)
    return;
  bool isNew = evaluation.valid ? !niche.valid : !niche.best();
  bool isFirst = evaluation.valid || !niche.valid;
  if (isNew || (isFirst && score > elite->score + leastProgress))
    niche.stale = 0;
  elite = Niche::Elite{dimsOf(point), evaluation, score};
}

std::vector<size_t> Niches::ranked() const {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < niches.size(); ++i)
    if (niches[i].best() && !niches[i].isDead)
      order.emplace_back(-niches[i].promise(), i);
  std::sort(order.begin(), order.end());
  std::vector<size_t> numbers;
  for (const auto &[promise, number] : order)
    numbers.push_back(number);
  return numbers;
}

/// A number below `n`, each next one less likely by `decay`.
static size_t drawRank(size_t n, double decay, Rng &rng) {
  double total = 1 - std::pow(decay, double(n));
  double rank = std::log1p(-rng.real() * total) / std::log(decay);
  return std::min(size_t(rank), n - 1);
}

size_t Niches::drawParent(const std::vector<size_t> &ranked, Rng &rng) const {
  if (rng.real() < .5)
    return ranked[drawRank(ranked.size(), nicheDecay, rng)];
  // The degree of tensor parallelism is drawn twice as often as others.
  size_t numDegrees = space.firstDim();
  size_t drawn = rng.below(numDegrees + 1);
  size_t degree = drawn == numDegrees ? 0 : drawn;
  std::vector<size_t> firsts; // of each value, the best
  std::vector<bool> isSeen(space.domainSize(degree));
  for (size_t number : ranked) {
    uint32_t value = niches[number].degrees[degree];
    if (!isSeen[value])
      firsts.push_back(number);
    isSeen[value] = true;
  }
  return firsts[drawRank(firsts.size(), valueDecay, rng)];
}

Point Niches::pointOf(size_t niche, const DimIndices &dims) const {
  Point point = niches[niche].degrees;
  std::copy(dims.begin(), dims.end(), point.begin() + space.firstDim());
  return point;
}

DimIndices Niches::dimsOf(const Point &point) const {
  return DimIndices(point.begin() + space.firstDim(), point.end());
}

} // namespace shardopt::search
