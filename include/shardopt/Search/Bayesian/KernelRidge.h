//===- KernelRidge.h - Ridge regression on pairs ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_KERNELRIDGE_H
#define SHARDOPT_SEARCH_BAYESIAN_KERNELRIDGE_H

#include "shardopt/Search/Bayesian/Cells.h"
#include "shardopt/Search/Bayesian/GrowingCholesky.h"
#include "shardopt/Search/Bayesian/Targets.h"

#include <vector>

namespace shardopt::search {

/// Kernel ridge regression on what single variables and pairs of them say.
///
/// With the similarity of two strategies
///
///   s = (sum over degrees of exp(-|i - i'| / 2) + number of equal dims)
///       / number of variables,
///
/// i the index in the domain, the kernel is k = single * s + (1 - single) *
/// s^2. The targets are standardised; alpha = (K + noise I)^-1 y by a Cholesky
/// factor that grows by a row with each sample. A target that does not vary is
/// predicted to be what it is.
///
/// Because k is a polynomial in a sum over variables, a prediction needs no
/// sample: it is a sum of table entries, one for each variable and each pair.
class KernelRidge {
public:
  struct Options {
    double single = .3; ///< weight of single variables; the rest is of pairs
    double noise = 1e-3;
    /// At so many samples the worst are dropped.
    size_t maxSamples = 1024;
    size_t keptSamples = 640; ///< of them so many stay:
    size_t keptRecent = 128;  ///< so many last ones, and the least bad others
  };

  KernelRidge(const StrategySpace &space, const Options &options);

  /// Adds a sample. Where not all can be kept, those of the least `badness`
  /// are.
  void add(const Point &point, const Targets &targets, double badness);

  /// Takes the samples added so far into account, and for this fit alone the
  /// `believed` points, as if each had the targets that are predicted of it.
  void fit(const std::vector<Point> &believed = {});

  /// The targets of `point` after the last `fit`; zeros before the first.
  Targets predict(const Point &point) const;

private:
  struct Sample {
    std::vector<uint32_t> cells;
    Targets targets;
    double badness;
  };
  using Vectors = std::array<std::vector<double>, numTargets>;

  double kernel(const Sample &a, const Sample &b) const;
  void dropSamples();
  /// Leaves the factor its first `rows` rows.
  void cutFactor(size_t rows);
  void fitSamples();
  /// Gives the factor a row for every sample, and whitens by it.
  void growFactor();
  /// Sets mean and deviation of a target.
  void standardise(size_t target);
  /// alpha of each target, none of one that is constant.
  Vectors solve() const;
  void buildTable(size_t target, const std::vector<double> &alpha);
  /// The product of the similarity with a matrix of `columns` columns.
  std::vector<double> smoothed(const std::vector<double> &matrix,
                               size_t columns) const;

  const Options options;
  const Cells cells;
  /// Similarity of two cells of one variable; 0 of two variables.
  std::vector<double> similarity;

  std::vector<Sample> samples;
  /// Of K + noise I: rows of the first samples, and after a fit of all.
  GrowingCholesky factor;
  /// L^-1 y of each target, and L^-1 1, a value for each row.
  Vectors whitened;
  std::vector<double> whitenedOnes;

  struct Model {
    double mean = 0, deviation = 0; ///< deviation 0: constant
    std::vector<double> single;     ///< by cell
    std::vector<double> pair;       ///< by cell and cell
  };
  std::array<Model, numTargets> models;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_KERNELRIDGE_H
