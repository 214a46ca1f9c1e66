//===- KernelRidge.cpp - Ridge regression on single variables and pairs ---===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/KernelRidge.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shardopt::search {

Regressor::~Regressor() = default;

KernelRidge::KernelRidge(const StrategySpace &space, const Options &options)
    : options(options), numVariables(space.numVariables()) {
  for (size_t i = 0; i < numVariables; ++i) {
    offsets.push_back(static_cast<uint32_t>(numCells));
    numCells += space.domainSize(i);
  }
  similarity.assign(numCells * numCells, 0);
  for (size_t i = 0; i < numVariables; ++i)
    for (size_t a = 0; a < space.domainSize(i); ++a)
      for (size_t b = 0; b < space.domainSize(i); ++b) {
        double distance = a > b ? double(a - b) : double(b - a);
        bool isDegree = i < StrategySpace::FirstDim;
        similarity[(offsets[i] + a) * numCells + offsets[i] + b] =
            isDegree ? std::exp(-distance / 2) : a == b;
      }
}

double KernelRidge::kernel(const Sample &a, const Sample &b) const {
  double sum = 0;
  for (size_t i = 0; i < numVariables; ++i)
    sum += similarity[a.cells[i] * numCells + b.cells[i]];
  sum /= double(numVariables);
  return options.single * sum + (1 - options.single) * sum * sum;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Four partial sums: one would make every addition wait for the one before.
static double dot(const double *a, const double *b, size_t n) {
  double sums[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (size_t lane = 0; lane < 4; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  for (; i < n; ++i)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void KernelRidge::appendRow(const Sample &sample) {
  size_t n = factor.size();
  std::vector<double> row(n + 1);
  for (size_t i = 0; i < n; ++i)
    row[i] =
        (kernel(sample, samples[i]) - dot(row.data(), factor[i].data(), i)) /
        factor[i][i];
  double rest =
      kernel(sample, sample) + options.noise - dot(row.data(), row.data(), n);
  row[n] = std::sqrt(std::max(rest, options.noise));
  for (size_t target = 0; target < numTargets; ++target)
    whitened[target].push_back(
        (sample.targets[target] - dot(row.data(), whitened[target].data(), n)) /
        row[n]);
  whitenedOnes.push_back((1 - dot(row.data(), whitenedOnes.data(), n)) /
                         row[n]);
  factor.push_back(std::move(row));
}

void KernelRidge::add(const Point &point, const Targets &targets,
                      double badness) {
  if (samples.size() >= options.maxSamples)
    dropSamples();
  Sample sample{point, targets, badness};
  for (size_t i = 0; i < numVariables; ++i)
    sample.cells[i] += offsets[i];
  appendRow(sample);
  samples.push_back(std::move(sample));
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

  std::vector<Sample> all = std::move(samples);
  samples.clear();
  factor.clear();
  for (std::vector<double> &values : whitened)
    values.clear();
  whitenedOnes.clear();
  for (size_t i : order) {
    appendRow(all[i]);
    samples.push_back(std::move(all[i]));
  }
}

//===----------------------------------------------------------------------===//
// Fitting
//===----------------------------------------------------------------------===//

void KernelRidge::fit() {
  for (size_t target = 0; target < numTargets; ++target) {
    std::vector<double> alpha = solve(target);
    if (models[target].deviation > 0)
      buildTable(target, alpha);
  }
}

std::vector<double> KernelRidge::solve(size_t target) {
  size_t n = samples.size();
  Model &model = models[target];
  model = {};
  if (n == 0)
    return {};
  for (const Sample &sample : samples)
    model.mean += sample.targets[target] / double(n);
  double variance = 0;
  for (const Sample &sample : samples) {
    double difference = sample.targets[target] - model.mean;
    variance += difference * difference / double(n);
  }
  // What rounding leaves of a constant is not worth learning.
  constexpr double leastDeviation = 1e-9;
  if (std::sqrt(variance) < leastDeviation)
    return {};
  model.deviation = std::sqrt(variance);

  std::vector<double> alpha(n);
  for (size_t i = 0; i < n; ++i)
    alpha[i] =
        (whitened[target][i] - model.mean * whitenedOnes[i]) / model.deviation;
  for (size_t i = n; i-- > 0;) {
    const std::vector<double> &row = factor[i];
    alpha[i] /= row[i];
    for (size_t j = 0; j < i; ++j)
      alpha[j] -= alpha[i] * row[j];
  }
  return alpha;
}

/// s(x) = sum_v similarity(x_v, x'_v) / n, so with C the sum over samples of
/// alpha times the one-hot vector (outer product), S the similarity,
///   sum_i alpha_i s_i(x)   = sum_v (S c)[x_v] / n,
///   sum_i alpha_i s_i(x)^2 = sum_vu (S C S)[x_v, x_u] / n^2.
void KernelRidge::buildTable(size_t target, const std::vector<double> &alpha) {
  std::vector<double> counts(numCells), pairs(numCells * numCells);
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::vector<uint32_t> &cells = samples[i].cells;
    for (uint32_t a : cells) {
      counts[a] += alpha[i];
      for (uint32_t b : cells)
        pairs[a * numCells + b] += alpha[i];
    }
  }
  // S is block diagonal and the identity outside the degrees' cells.
  size_t numDegreeCells = offsets[StrategySpace::FirstDim];
  auto smoothed = [&](const std::vector<double> &matrix, size_t columns) {
    std::vector<double> product(matrix);
    for (size_t a = 0; a < numDegreeCells; ++a)
      for (size_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (size_t b = 0; b < numDegreeCells; ++b)
          sum += similarity[a * numCells + b] * matrix[b * columns + column];
        product[a * columns + column] = sum;
      }
    return product;
  };
  auto transposed = [&](const std::vector<double> &matrix) {
    std::vector<double> result(matrix.size());
    for (size_t a = 0; a < numCells; ++a)
      for (size_t b = 0; b < numCells; ++b)
        result[b * numCells + a] = matrix[a * numCells + b];
    return result;
  };
  Model &model = models[target];
  model.single = smoothed(counts, 1);
  // C is symmetric, so S C S = S (S C)^T.
  model.pair = smoothed(transposed(smoothed(pairs, numCells)), numCells);
  double n = double(numVariables);
  for (double &value : model.single)
    value *= options.single / n;
  for (double &value : model.pair)
    value *= (1 - options.single) / (n * n);
}

Targets KernelRidge::predict(const Point &point) const {
  Targets targets{};
  for (size_t target = 0; target < numTargets; ++target) {
    const Model &model = models[target];
    targets[target] = model.mean;
    if (model.deviation == 0)
      continue;
    double sum = 0;
    for (size_t i = 0; i < numVariables; ++i) {
      size_t a = offsets[i] + point[i];
      const double *row = model.pair.data() + a * numCells;
      double twice = 0;
      for (size_t j = 0; j < i; ++j)
        twice += row[offsets[j] + point[j]];
      sum += model.single[a] + row[a] + 2 * twice;
    }
    targets[target] += model.deviation * sum;
  }
  return targets;
}

} // namespace shardopt::search
