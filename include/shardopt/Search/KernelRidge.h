//===- KernelRidge.h - Ridge regression on single variables and pairs *- C++
//-*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_KERNELRIDGE_H
#define SHARDOPT_SEARCH_KERNELRIDGE_H

#include "shardopt/Search/Regressor.h"

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
/// factor that grows by a row with each sample.
///
/// Because k is a polynomial in a sum over variables, a prediction needs no
/// sample: it is a sum of table entries, one for each variable and each pair.
class KernelRidge final : public Regressor {
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

  void add(const Point &point, const Targets &targets, double badness) override;
  void fit() override;
  Targets predict(const Point &point) const override;

private:
  struct Sample {
    std::vector<uint32_t> cells; ///< of each variable: offset + index
    Targets targets;
    double badness;
  };

  double kernel(const Sample &a, const Sample &b) const;
  void appendRow(const Sample &sample);
  void dropSamples();
  /// alpha of a target, none if it is constant; sets its mean and deviation.
  std::vector<double> solve(size_t target);
  void buildTable(size_t target, const std::vector<double> &alpha);

  const Options options;
  const size_t numVariables;
  std::vector<uint32_t> offsets; ///< first cell of each variable
  size_t numCells = 0;           ///< (variable, value) pairs
  /// Similarity of two cells of one variable; 0 of two variables.
  std::vector<double> similarity;

  std::vector<Sample> samples;
  /// Rows of the lower Cholesky factor L of K + noise I.
  std::vector<std::vector<double>> factor;
  /// L^-1 y of each target, and L^-1 1, a value for each sample.
  std::array<std::vector<double>, numTargets> whitened;
  std::vector<double> whitenedOnes;

  struct Model {
    double mean = 0, deviation = 0; ///< deviation 0: constant
    std::vector<double> single;     ///< by cell
    std::vector<double> pair;       ///< by cell and cell
  };
  std::array<Model, numTargets> models;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_KERNELRIDGE_H
