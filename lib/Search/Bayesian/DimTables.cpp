//===- DimTables.cpp - What a critic says of all dims of a tuple ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/DimTables.h"

#include <algorithm>
#include <cmath>

namespace shardopt::search {

/// What certain refusal costs in the score, far more than any difference in
/// the goal; and how likely a refusal has to look to cost anything.
static constexpr double costOfRefusal = 20;
static constexpr double likelyRefusal = .25;
/// Smaller improvements are rounding.
static constexpr double leastGain = 1e-6;

DimPairs::DimPairs(const StrategySpace &space) {
  size_t first = space.firstDim();
  size_t numOps = space.numVariables() - first;
  for (size_t op = 0; op < numOps; ++op) {
    sizes.push_back(uint8_t(space.domainSize(first + op)));
    begins.push_back(uint32_t(entries));
    entries += sizes.back();
  }
  of.resize(numOps);
  double total = 0;
  for (uint32_t i = 0; i < numOps; ++i)
    for (uint32_t j = i + 1; j < numOps && j <= i + reach; ++j) {
      of[i].push_back(uint32_t(all.size()));
      of[j].push_back(uint32_t(all.size()));
      all.push_back({i, j, uint32_t(entries), 1. / (j - i)});
      total += all.back().weight;
      entries += size_t(sizes[i]) * sizes[j];
    }
  for (Pair &pair : all)
    pair.weight /= total;
}

double scoreOf(const Channels &channels,
               const TargetEncoder::Weights &weights) {
  const auto &[latency, memory, rate, refused] = channels;
  double risk = refused - likelyRefusal;
  return weights.score({latency, memory, rate}) -
         (risk > 0 ? costOfRefusal * risk : 0);
}

static void accumulate(Channels &sum, const Channels &other) {
  for (size_t c = 0; c < numChannels; ++c)
    sum[c] += other[c];
}

Channels DimTables::predict(const DimIndices &dims) const {
  Channels sum = base;
  for (size_t op = 0; op < dims.size(); ++op)
    accumulate(sum, entries[layout->single(op, dims[op])]);
  for (const DimPairs::Pair &pair : layout->pairs())
    accumulate(
        sum, entries[layout->entry(pair, dims[pair.first], dims[pair.second])]);
  return sum;
}

Channels DimTables::change(const DimIndices &dims, size_t op,
                           uint8_t dim) const {
  const Channels &to = entries[layout->single(op, dim)];
  const Channels &from = entries[layout->single(op, dims[op])];
  Channels sum;
  for (size_t c = 0; c < numChannels; ++c)
    sum[c] = to[c] - from[c];
  for (uint32_t number : layout->pairsOf(op)) {
    const DimPairs::Pair &pair = layout->pairs()[number];
    bool isFirst = pair.first == op;
    uint8_t other = dims[isFirst ? pair.second : pair.first];
    auto at = [&](uint8_t mine) -> const Channels & {
      return entries[isFirst ? layout->entry(pair, mine, other)
                             : layout->entry(pair, other, mine)];
    };
    const Channels &after = at(dim), &before = at(dims[op]);
    for (size_t c = 0; c < numChannels; ++c)
      sum[c] += after[c] - before[c];
  }
  return sum;
}

static bool isFree(const std::vector<bool> &pinned, size_t op) {
  return pinned.empty() || !pinned[op];
}

double DimTables::descend(DimIndices &dims,
                          const std::vector<bool> &pinned) const {
  Channels now = predict(dims);
  double best = scoreOf(now);
  for (bool isBetter = true; isBetter;) {
    isBetter = false;
    for (size_t op = 0; op < dims.size(); ++op)
      for (uint8_t dim = 0; isFree(pinned, op) && dim < layout->numDims(op);
           ++dim) {
        if (dim == dims[op])
          continue;
        Channels then = change(dims, op, dim);
        accumulate(then, now);
        if (double score = scoreOf(then); score > best + leastGain) {
          dims[op] = dim;
          now = then;
          best = score;
          isBetter = true;
        }
      }
  }
  return best;
}

/// Makes the first change of two ops near each other that improves the score;
/// whether there is one.
bool DimTables::changePair(DimIndices &dims,
                           const std::vector<bool> &pinned) const {
  constexpr size_t farthest = 2;
  Channels start = predict(dims);
  double best = scoreOf(start);
  for (size_t op = 0; op + 1 < dims.size(); ++op) {
    uint8_t before = dims[op];
    for (uint8_t dim = 0; isFree(pinned, op) && dim < layout->numDims(op);
         ++dim) {
      if (dim == before)
        continue;
      Channels now = change(dims, op, dim);
      accumulate(now, start);
      dims[op] = dim;
      size_t end = std::min(op + 1 + farthest, dims.size());
      for (size_t next = op + 1; next < end; ++next)
        for (uint8_t other = 0;
             isFree(pinned, next) && other < layout->numDims(next); ++other) {
          if (other == dims[next])
            continue;
          Channels then = change(dims, next, other);
          accumulate(then, now);
          if (scoreOf(then) > best + leastGain) {
            dims[next] = other;
            return true;
          }
        }
      dims[op] = before;
    }
  }
  return false;
}

double DimTables::descendFar(DimIndices &dims, size_t kicks, Rng &rng,
                             const std::vector<bool> &pinned) const {
  constexpr size_t longestKick = 5;
  size_t numOps = dims.size();
  double best = descend(dims, pinned);
  for (size_t i = 0; numOps > 0 && i < kicks; ++i) {
    DimIndices other = dims;
    size_t length = 2 + rng.below(longestKick - 1);
    size_t begin = rng.below(numOps);
    for (size_t op = begin; op < std::min(begin + length, numOps); ++op)
      if (isFree(pinned, op))
        other[op] = uint8_t(rng.below(layout->numDims(op)));
    if (double score = descend(other, pinned); score > best) {
      best = score;
      dims = std::move(other);
    }
  }
  while (changePair(dims, pinned))
    best = descend(dims, pinned);
  return best;
}

} // namespace shardopt::search
