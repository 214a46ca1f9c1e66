//===- JointProcess.cpp - A Gaussian process over degrees and dims --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/JointProcess.h"
#include "Lanes.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace shardopt::search {

static constexpr double smoothScale = 4, smoothLength = 8;
static constexpr double idleScale = 4, roughScale = .05;
static constexpr double dimScale = 1, tpLength = 2, otherLength = 6;
static constexpr double singleShare = .15;
/// Deviations below it are what rounding leaves of a constant.
static constexpr double leastSpread = 1e-9;
/// Values of kernels that are kept, 16 bytes each.
static constexpr size_t mostKept = size_t(1) << 22;

JointProcess::JointProcess(const StrategySpace &space, const DimPairs &layout,
                           const Options &options)
    : space(space), layout(layout), options(options),
      weights(layout.numEntries()), factor(options.noise) {
  for (size_t op = 0; op < layout.numOps(); ++op) {
    slotWeights.push_back(
        float(dimScale * singleShare / double(layout.numOps())));
    for (size_t dim = 0; dim < layout.numDims(op); ++dim)
      weights[layout.single(op, dim)] = slotWeights.back();
  }
  for (const DimPairs::Pair &pair : layout.pairs()) {
    slotWeights.push_back(float(dimScale * (1 - singleShare) * pair.weight));
    for (size_t a = 0; a < layout.numDims(pair.first); ++a)
      for (size_t b = 0; b < layout.numDims(pair.second); ++b)
        weights[layout.entry(pair, a, b)] = slotWeights.back();
  }
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

JointProcess::Tuple JointProcess::tupleAt(const Point &point) const {
  Tuple tuple;
  tuple.relevance = 1;
  for (size_t i = 0; i < space.firstDim(); ++i) {
    Degree degree = space.openDegrees()[i];
    int64_t value = space.degreeDomain(degree)[point[i]];
    tuple.logarithms.push_back(std::log2(double(value)));
    if (degree == Degree::Tp && value == 1)
      tuple.relevance = 0;
  }
  return tuple;
}

double JointProcess::degreeKernel(const Tuple &a, const Tuple &b) const {
  double squares = 0, sum = 0;
  for (size_t i = 0; i < a.logarithms.size(); ++i) {
    double distance = std::abs(a.logarithms[i] - b.logarithms[i]);
    squares += distance * distance;
    sum += distance;
  }
  double r = std::sqrt(5 * squares) / smoothLength;
  // What dims cost on the average is not paid where they cut nothing.
  double scale =
      smoothScale + idleScale * (1 - a.relevance) * (1 - b.relevance);
  return scale * (1 + r + r * r / 3) * std::exp(-r) +
         roughScale * std::exp(-sum / 2);
}

double JointProcess::dimKernel(const Tuple &a, const Tuple &b) const {
  double squares = 0;
  for (size_t i = 0; i < a.logarithms.size(); ++i) {
    bool isTp = space.openDegrees()[i] == Degree::Tp;
    double distance =
        (a.logarithms[i] - b.logarithms[i]) / (isTp ? tpLength : otherLength);
    squares += distance * distance;
  }
  double r = std::sqrt(3 * squares);
  return a.relevance * b.relevance * (1 + r) * std::exp(-r);
}

void JointProcess::complete(Tuple &tuple) {
  for (size_t i = tuple.ofDegrees.size(); i < tuples.size(); ++i) {
    tuple.ofDegrees.push_back(degreeKernel(tuples[i], tuple));
    tuple.ofDims.push_back(dimKernel(tuples[i], tuple));
  }
}

const JointProcess::Tuple &JointProcess::placeOf(const Point &point) {
  if (numKept > mostKept) {
    places.clear();
    numKept = 0;
  }
  Tuple tuple = tupleAt(point);
  Tuple &place = places.try_emplace(tuple.logarithms, tuple).first->second;
  numKept += tuples.size() - place.ofDegrees.size();
  complete(place);
  return place;
}

uint32_t JointProcess::findTuple(const Point &point) {
  Tuple tuple = tupleAt(point);
  auto [it, isNew] =
      numberOf.emplace(tuple.logarithms, uint32_t(tuples.size()));
  if (isNew) {
    tuples.push_back(std::move(tuple));
    complete(tuples.back());
  }
  return it->second;
}

double JointProcess::kernel(const Sample &a, const Sample &b) const {
  const Tuple &later = tuples[std::max(a.tuple, b.tuple)];
  uint32_t earlier = std::min(a.tuple, b.tuple);
  double ofDegrees = later.ofDegrees[earlier];
  double ofDims = later.ofDims[earlier];
  if (ofDims == 0)
    return ofDegrees;
  return ofDegrees + ofDims * weightOfEqual(a.entries.data(), b.entries.data(),
                                            slotWeights.data(),
                                            slotWeights.size());
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

template <typename Dims>
std::vector<uint32_t> JointProcess::entriesOf(const Dims &dims) const {
  std::vector<uint32_t> entries;
  for (size_t op = 0; op < layout.numOps(); ++op)
    entries.push_back(uint32_t(layout.single(op, dims[op])));
  for (const DimPairs::Pair &pair : layout.pairs())
    entries.push_back(
        uint32_t(layout.entry(pair, dims[pair.first], dims[pair.second])));
  return entries;
}

JointProcess::Sample JointProcess::sampleAt(const Point &point,
                                            std::vector<double> values,
                                            double badness) {
  const uint32_t *dims = point.data() + space.firstDim();
  return {findTuple(point), entriesOf(dims), point, std::move(values), badness};
}

void JointProcess::add(const Point &point, const std::vector<double> &values,
                       double badness) {
  assert(values.size() <= numChannels && "a channel a value");
  dropBelieved();
  if (samples.size() >= options.maxSamples)
    dropSamples();
  models.resize(values.size());
  samples.push_back(sampleAt(point, values, badness));
}

void JointProcess::dropSamples() {
  std::vector<size_t> order(samples.size() - options.keptRecent);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return samples[a].badness < samples[b].badness;
  });
  std::vector<bool> isSeen(tuples.size());
  std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    bool isFirst = !isSeen[samples[i].tuple];
    isSeen[samples[i].tuple] = true;
    return isFirst;
  });
  order.resize(
      std::min(order.size(), options.keptSamples - options.keptRecent));
  for (size_t i = samples.size() - options.keptRecent; i < samples.size(); ++i)
    order.push_back(i);
  std::sort(order.begin(), order.end());
  std::vector<Sample> kept;
  for (size_t i : order)
    kept.push_back(std::move(samples[i]));
  samples = std::move(kept);
  factor.cut(0);
}

//===----------------------------------------------------------------------===//
// Fitting
//===----------------------------------------------------------------------===//

void JointProcess::dropBelieved() {
  samples.resize(samples.size() - numBelieved);
  factor.cut(std::min(factor.size(), samples.size()));
  numBelieved = 0;
}

void JointProcess::fit(const std::vector<Point> &believed) {
  dropBelieved();
  fitSamples();
  if (believed.empty() || samples.empty())
    return;
  std::vector<Sample> imagined;
  for (const Point &point : believed) {
    imagined.push_back(sampleAt(point, {}, 0));
    imagined.back().values = predict(imagined.back());
  }
  numBelieved = imagined.size();
  std::move(imagined.begin(), imagined.end(), std::back_inserter(samples));
  fitSamples();
}

void JointProcess::fitSamples() {
  factor.grow(samples.size(), [this](size_t i, size_t j) {
    return kernel(samples[i], samples[j]);
  });
  double n = double(samples.size());
  alphas.assign(samples.size(), {});
  for (size_t c = 0; c < models.size(); ++c) {
    Model &model = models[c];
    model = {};
    for (const Sample &sample : samples)
      model.mean += sample.values[c] / n;
    double variance = 0;
    for (const Sample &sample : samples)
      variance +=
          (sample.values[c] - model.mean) * (sample.values[c] - model.mean) / n;
    // Not a number is no deviation either.
    if (!(std::sqrt(variance) >= leastSpread))
      continue;
    model.deviation = std::sqrt(variance);
    std::vector<double> solution;
    for (const Sample &sample : samples)
      solution.push_back((sample.values[c] - model.mean) / model.deviation);
    factor.solve(solution);
    for (size_t i = 0; i < samples.size(); ++i)
      alphas[i][c] = solution[i];
  }
}

std::vector<double> JointProcess::predict(const Sample &sample) {
  Channels sum = {};
  std::vector<Channels> entries(layout.numEntries());
  addTables(sample.point, 0, sum, entries);
  for (uint32_t entry : sample.entries)
    for (size_t c = 0; c < models.size(); ++c)
      sum[c] += entries[entry][c];
  return std::vector<double>(sum.begin(), sum.begin() + models.size());
}

JointProcess::Weights JointProcess::sumOfDegrees(const Tuple &here) const {
  assert(alphas.size() == samples.size() && "fit what was added");
  Weights sum = {};
  for (size_t i = 0; i < samples.size(); ++i) {
    double ofDegrees = here.ofDegrees[samples[i].tuple];
    for (size_t c = 0; c < numChannels; ++c)
      sum[c] += alphas[i][c] * ofDegrees;
  }
  return sum;
}

void JointProcess::addTables(const Point &point, size_t channel, Channels &base,
                             std::vector<Channels> &entries) {
  const Tuple &here = placeOf(point);
  Weights sum = sumOfDegrees(here);
  std::vector<Channels> products(layout.numEntries());
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample &sample = samples[i];
    double ofDims = here.ofDims[sample.tuple];
    if (ofDims == 0)
      continue;
    Channels scaled;
    for (size_t c = 0; c < numChannels; ++c)
      scaled[c] = float(alphas[i][c] * ofDims);
    for (uint32_t entry : sample.entries)
      for (size_t c = 0; c < numChannels; ++c)
        products[entry][c] += scaled[c];
  }
  for (size_t c = 0; c < models.size(); ++c) {
    float deviation = float(models[c].deviation);
    base[channel + c] += float(models[c].mean + models[c].deviation * sum[c]);
    for (size_t e = 0; e < products.size(); ++e)
      entries[e][channel + c] += products[e][c] * weights[e] * deviation;
  }
}

JointProcess::Echoes
JointProcess::echoesOf(const std::vector<DimIndices> &dims) const {
  Echoes echoes(tuples.size());
  for (const Sample &sample : samples)
    echoes[sample.tuple].resize(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    std::vector<uint32_t> entries = entriesOf(dims[d]);
    for (size_t i = 0; i < samples.size(); ++i) {
      double equal = weightOfEqual(samples[i].entries.data(), entries.data(),
                                   slotWeights.data(), slotWeights.size());
      Echo &echo = echoes[samples[i].tuple][d];
      for (size_t c = 0; c < numChannels; ++c)
        echo.sum[c] += float(alphas[i][c] * equal);
      echo.equal = std::max(echo.equal, float(equal));
    }
  }
  return echoes;
}

std::vector<double> JointProcess::addPredictions(const Point &point,
                                                 size_t channel,
                                                 const Echoes &echoes,
                                                 std::vector<Channels> &sums) {
  const Tuple &here = placeOf(point);
  Weights base = sumOfDegrees(here);
  std::vector<Echo> all(sums.size());
  for (size_t t = 0; t < tuples.size(); ++t) {
    float ofDims = float(here.ofDims[t]);
    for (size_t d = 0; ofDims != 0 && d < echoes[t].size(); ++d) {
      const Echo &echo = echoes[t][d];
      for (size_t c = 0; c < numChannels; ++c)
        all[d].sum[c] += ofDims * echo.sum[c];
      all[d].equal = std::max(all[d].equal, ofDims * echo.equal);
    }
  }
  std::vector<double> doubts;
  for (size_t d = 0; d < sums.size(); ++d) {
    for (size_t c = 0; c < models.size(); ++c)
      sums[d][channel + c] += float(
          models[c].mean + models[c].deviation * (base[c] + all[d].sum[c]));
    double k = all[d].equal;
    doubts.push_back(here.relevance *
                     std::sqrt(std::max(dimScale - k * k / dimScale, 0.)));
  }
  return doubts;
}

} // namespace shardopt::search
