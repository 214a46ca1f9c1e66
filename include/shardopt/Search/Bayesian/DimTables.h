//===- DimTables.h - What a critic says of all dims of a tuple ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_DIMTABLES_H
#define SHARDOPT_SEARCH_BAYESIAN_DIMTABLES_H

#include "shardopt/Search/Bayesian/TargetEncoder.h"
#include "shardopt/Search/StrategySpace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardopt::search {

/// The dims of all ops, as indices into their domains.
using DimIndices = std::vector<uint8_t>;

/// Which single ops and pairs of ops a table has entries for: every op, and the
/// pairs of ops that are at most `reach` apart. The entries of an op, and of a
/// pair, are in a row, dims of the first op slowest.
class DimPairs {
public:
  static constexpr size_t reach = 6;

  struct Pair {
    uint32_t first, second; ///< ops, first < second
    uint32_t begin;         ///< of its entries
    double weight;          ///< falls with the distance; all sum to 1
  };

  explicit DimPairs(const StrategySpace &space);

  size_t numOps() const { return sizes.size(); }
  size_t numDims(size_t op) const { return sizes[op]; }
  size_t numEntries() const { return entries; }
  size_t single(size_t op, size_t dim) const { return begins[op] + dim; }
  size_t entry(const Pair &pair, size_t first, size_t second) const {
    return pair.begin + first * sizes[pair.second] + second;
  }
  const std::vector<Pair> &pairs() const { return all; }
  /// The pairs that `op` is in, by number.
  const std::vector<uint32_t> &pairsOf(size_t op) const { return of[op]; }

private:
  std::vector<uint8_t> sizes;
  std::vector<uint32_t> begins;
  std::vector<Pair> all;
  std::vector<std::vector<uint32_t>> of;
  size_t entries = 0;
};

/// What is predicted of a strategy: the targets, and 1 more that is 1 where
/// there are no metrics.
constexpr size_t numChannels = numTargets + 1;
using Channels = std::array<float, numChannels>;

/// What predictions are worth; more is better.
double scoreOf(const Channels &channels, const TargetEncoder::Weights &weights);

/// A prediction for all strategies of one tuple of degrees: a sum of entries,
/// of each op one and of each pair of ops near each other one.
class DimTables {
public:
  DimTables(const DimPairs &layout, const Channels &base,
            std::vector<Channels> entries,
            const TargetEncoder::Weights &weights)
      : layout(&layout), base(base), entries(std::move(entries)),
        weights(weights) {}

  Channels predict(const DimIndices &dims) const;
  double score(const DimIndices &dims) const { return scoreOf(predict(dims)); }
  double scoreOf(const Channels &channels) const {
    return search::scoreOf(channels, weights);
  }

  /// Changes single dims as long as that improves the score; those of `pinned`
  /// ops (empty: none) stay. Returns the score.
  double descend(DimIndices &dims, const std::vector<bool> &pinned = {}) const;

  /// The same, from `dims` and after it from `kicks` others that differ in a
  /// few neighbouring ops from the best so far; then two ops near each other
  /// are changed together as long as that improves.
  double descendFar(DimIndices &dims, size_t kicks, Rng &rng,
                    const std::vector<bool> &pinned = {}) const;

  /// By how much the channels change where `op` gets `dim`.
  Channels change(const DimIndices &dims, size_t op, uint8_t dim) const;

private:
  bool changePair(DimIndices &dims, const std::vector<bool> &pinned) const;

  const DimPairs *layout;
  Channels base;
  std::vector<Channels> entries;
  TargetEncoder::Weights weights;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_DIMTABLES_H
