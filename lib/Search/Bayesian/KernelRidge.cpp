//===- KernelRidge.cpp - Ridge regression on single variables and pairs ---===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/KernelRidge.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace shardopt::search {

/// Deviations below it are what rounding leaves of a constant.
static constexpr double leastDeviation = 1e-9;

/// exp(-1/2), of neighbours in the domain of a degree.
static const double decay = std::exp(-.5);

KernelRidge::KernelRidge(const StrategySpace &space, const Options &options)
    : options(options), cells(space), similarity(cells.size() * cells.size()),
      factor(options.noise) {
  assert(options.keptRecent <= options.keptSamples &&
         options.keptSamples < options.maxSamples &&
         "some samples are dropped");
  for (size_t i = 0; i < cells.numVariables(); ++i)
    for (size_t a = cells.begin(i); a < cells.begin(i + 1); ++a)
      for (size_t b = cells.begin(i); b < cells.begin(i + 1); ++b) {
        double distance = a > b ? double(a - b) : double(b - a);
        bool isDegree = i < cells.numDegrees();
        similarity[a * cells.size() + b] =
            isDegree ? std::exp(-distance / 2) : a == b;
      }
}

double KernelRidge::kernel(const Sample &a, const Sample &b) const {
  double sum = 0;
  for (size_t i = 0; i < cells.numVariables(); ++i)
    sum += similarity[a.cells[i] * cells.size() + b.cells[i]];
  sum /= double(cells.numVariables());
  return options.single * sum + (1 - options.single) * sum * sum;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

void KernelRidge::add(const Point &point, const Targets &targets,
                      double badness) {
  if (samples.size() >= options.maxSamples)
    dropSamples();
  samples.push_back({cells.of(point), targets, badness});
}

void KernelRidge::dropSamples() {
  std::vector<size_t> order(samples.size() - options.keptRecent);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return samples[a].badness < samples[b].badness;
  });
  order.resize(options.keptSamples - options.keptRecent);
  for (size_t i = samples.size() - options.keptRecent; i < samples.size(); ++i)
    order.push_back(i);
  std::sort(order.begin(), order.end());

  std::vector<Sample> kept;
  for (size_t i : order)
    kept.push_back(std::move(samples[i]));
  samples = std::move(kept);
  cutFactor(0);
}

void KernelRidge::cutFactor(size_t rows) {
  factor.cut(rows);
  for (std::vector<double> &values : whitened)
    values.resize(rows);
  whitenedOnes.resize(rows);
}

//===----------------------------------------------------------------------===//
// Cholesky factor
//===----------------------------------------------------------------------===//

void KernelRidge::growFactor() {
  size_t begin = factor.size();
  factor.grow(samples.size(), [this](size_t i, size_t j) {
    return kernel(samples[i], samples[j]);
  });
  for (size_t i = begin; i < samples.size(); ++i) {
    for (size_t target = 0; target < numTargets; ++target)
      whitened[target].push_back(factor.solveEntry(
          i, samples[i].targets[target], whitened[target].data()));
    whitenedOnes.push_back(factor.solveEntry(i, 1, whitenedOnes.data()));
  }
}

//===----------------------------------------------------------------------===//
// Fitting
//===----------------------------------------------------------------------===//

void KernelRidge::fit(const std::vector<Point> &believed) {
  fitSamples();
  if (believed.empty())
    return;
  size_t numTold = samples.size();
  for (const Point &point : believed)
    samples.push_back({cells.of(point), predict(point), /*badness=*/0});
  fitSamples();
  samples.resize(numTold);
  cutFactor(numTold);
}

void KernelRidge::fitSamples() {
  growFactor();
  for (size_t target = 0; target < numTargets; ++target)
    standardise(target);
  Vectors alpha = solve();
  for (size_t target = 0; target < numTargets; ++target)
    if (models[target].deviation > 0)
      buildTable(target, alpha[target]);
}

void KernelRidge::standardise(size_t target) {
  double n = double(samples.size());
  Model &model = models[target];
  model = {};
  for (const Sample &sample : samples)
    model.mean += sample.targets[target] / n;
  double variance = 0;
  for (const Sample &sample : samples) {
    double difference = sample.targets[target] - model.mean;
    variance += difference * difference / n;
  }
  // Not a number is no deviation either.
  double deviation = std::sqrt(variance);
  model.deviation = deviation >= leastDeviation ? deviation : 0;
}

KernelRidge::Vectors KernelRidge::solve() const {
  Vectors alphas;
  std::vector<std::vector<double> *> varying;
  for (size_t target = 0; target < numTargets; ++target) {
    const Model &model = models[target];
    if (model.deviation == 0)
      continue;
    varying.push_back(&alphas[target]);
    for (size_t i = 0; i < samples.size(); ++i)
      alphas[target].push_back(
          (whitened[target][i] - model.mean * whitenedOnes[i]) /
          model.deviation);
  }
  factor.solveTransposed(varying);
  return alphas;
}

/// The transpose of a square matrix.
static std::vector<double> transposed(const std::vector<double> &matrix,
                                      size_t size) {
  std::vector<double> result(matrix.size());
  for (size_t a = 0; a < size; ++a)
    for (size_t b = 0; b < size; ++b)
      result[b * size + a] = matrix[a * size + b];
  return result;
}

/// s(x) = sum_v similarity(x_v, x'_v) / n, so with C the sum over samples of
/// alpha times the one-hot vector (outer product), S the similarity,
///   sum_i alpha_i s_i(x)   = sum_v (S c)[x_v] / n,
///   sum_i alpha_i s_i(x)^2 = sum_vu (S C S)[x_v, x_u] / n^2.
void KernelRidge::buildTable(size_t target, const std::vector<double> &alpha) {
  size_t size = cells.size();
  std::vector<double> counts(size), pairs(size * size);
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::vector<uint32_t> &on = samples[i].cells;
    for (size_t v = 0; v < on.size(); ++v) {
      counts[on[v]] += alpha[i];
      double *row = pairs.data() + on[v] * size;
      for (size_t u = 0; u <= v; ++u)
        row[on[u]] += alpha[i];
    }
  }
  for (size_t a = 0; a < size; ++a)
    for (size_t b = 0; b < a; ++b)
      pairs[b * size + a] = pairs[a * size + b];
  Model &model = models[target];
  model.single = smoothed(counts, 1);
  // C is symmetric, so S C S = S (S C)^T.
  model.pair = smoothed(transposed(smoothed(pairs, size), size), size);
  double n = double(cells.numVariables());
  for (double &value : model.single)
    value *= options.single / n;
  for (double &value : model.pair)
    value *= (1 - options.single) / (n * n);
}

/// S is block diagonal, and the identity outside the degrees' cells. Within
/// those of a degree it is decay^|a - b|, so that a row is what is before it,
/// once more decayed, and what is behind it.
std::vector<double> KernelRidge::smoothed(const std::vector<double> &matrix,
                                          size_t columns) const {
  std::vector<double> product(matrix), behind(columns);
  for (size_t v = 0; v < cells.numDegrees(); ++v) {
    size_t begin = cells.begin(v), end = cells.begin(v + 1);
    for (size_t i = (begin + 1) * columns; i < end * columns; ++i)
      product[i] += decay * product[i - columns];
    std::fill(behind.begin(), behind.end(), 0);
    for (size_t a = end - 1; a-- > begin;)
      for (size_t column = 0; column < columns; ++column) {
        behind[column] =
            decay * (behind[column] + matrix[(a + 1) * columns + column]);
        product[a * columns + column] += behind[column];
      }
  }
  return product;
}

Targets KernelRidge::predict(const Point &point) const {
  std::vector<uint32_t> on = cells.of(point);
  Targets targets{};
  for (size_t target = 0; target < numTargets; ++target) {
    const Model &model = models[target];
    targets[target] = model.mean;
    if (model.deviation == 0)
      continue;
    double sum = 0;
    for (size_t i = 0; i < on.size(); ++i) {
      const double *row = model.pair.data() + on[i] * cells.size();
      double twice = 0;
      for (size_t j = 0; j < i; ++j)
        twice += row[on[j]];
      sum += model.single[on[i]] + row[on[i]] + 2 * twice;
    }
    targets[target] += model.deviation * sum;
  }
  return targets;
}

} // namespace shardopt::search
