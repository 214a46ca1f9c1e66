//===- JointProcess.h - A Gaussian process over degrees and dims -*- C++ -*-==//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_JOINTPROCESS_H
#define SHARDOPT_SEARCH_BAYESIAN_JOINTPROCESS_H

#include "shardopt/Search/Bayesian/DimTables.h"
#include "shardopt/Search/Bayesian/GrowingCholesky.h"
#include "shardopt/Search/StrategySpace.h"

#include <array>
#include <map>
#include <vector>

namespace shardopt::search {

/// Regression of several values by a Gaussian process whose kernel is
///
///   k = 4 (1 + v v') M5(r / 8) + exp(-|r|_1 / 2) / 20
///       + u u' M3(|r / l|) (.15 S1 + .85 S2),
///
/// r the difference of the base-2 logarithms of the degrees, M5 and M3 the
/// Matérn kernels of smoothness 5/2 and 3/2, l = 2 for tp and 6 for the others.
/// S1 is the share of ops with equal dims, S2 the weighted share of the pairs
/// of `DimPairs` that both have. u is 0 where tp is 1, because dims cut
/// nothing there: all of them are one strategy; and 1 elsewhere. v is 1 - u:
/// what dims cost on the average is not paid there.
///
/// So dims add to a smooth function of the degrees what single ops and pairs of
/// them say, and neighbouring tuples of degrees share it. A value that does not
/// vary is predicted to be what it is.
class JointProcess {
public:
  /// How many samples stay where there are too many: the last ones, the least
  /// bad of each tuple of degrees, and the least bad ones.
  struct Options {
    size_t maxSamples = 900, keptSamples = 600, keptRecent = 150;
    double noise = 1e-4;
  };

  JointProcess(const StrategySpace &space, const DimPairs &layout,
               const Options &options);

  /// Adds a sample with its values, as many as in every other one and at most
  /// `numChannels`.
  void add(const Point &point, const std::vector<double> &values,
           double badness);

  /// Takes into account the samples added, and for this fit alone the
  /// `believed` points as if each had the values that are predicted of it.
  void fit(const std::vector<Point> &believed = {});

  /// Adds what is predicted at the degrees of `point` to a table, value 0 to
  /// channel `channel`, and so on.
  void addTables(const Point &point, size_t channel, Channels &base,
                 std::vector<Channels> &entries);

  /// What the samples of a tuple of degrees say of some dims.
  struct Echo {
    Channels sum = {}; ///< of their weights, each times the share that is equal
    float equal = 0;   ///< the largest of these shares
  };
  /// Of each tuple of degrees that has samples, an echo of each of some dims.
  using Echoes = std::vector<std::vector<Echo>>;
  Echoes echoesOf(const std::vector<DimIndices> &dims) const;
  /// Adds what is predicted at the degrees of `point` of the dims of `echoes`
  /// to `sums`, one each: as tables say, for a fraction of their time. Returns
  /// by how many deviations of a value each may be off: sqrt(1 - k^2), k the
  /// kernel of dims with the sample that is most like it. That is the posterior
  /// deviation of what dims add, given this sample alone; 0 where they add
  /// nothing.
  std::vector<double> addPredictions(const Point &point, size_t channel,
                                     const Echoes &echoes,
                                     std::vector<Channels> &sums);
  /// The standard deviation of a value over all samples; 0 without samples.
  double deviationOf(size_t value) const {
    return value < models.size() ? models[value].deviation : 0;
  }

private:
  /// A tuple of degrees, and the kernel with the first ones that samples have.
  struct Tuple {
    std::vector<double> logarithms;
    double relevance; ///< of dims
    std::vector<double> ofDegrees, ofDims;
  };
  struct Sample {
    uint32_t tuple;
    std::vector<uint32_t> entries; ///< of the tables
    Point point;
    std::vector<double> values;
    double badness;
  };
  struct Model {
    double mean = 0, deviation = 0;
  };
  /// Of a sample in what is predicted of each value; 0 if that does not vary.
  using Weights = std::array<double, numChannels>;

  Tuple tupleAt(const Point &point) const;
  double degreeKernel(const Tuple &a, const Tuple &b) const;
  double dimKernel(const Tuple &a, const Tuple &b) const;
  /// Computes the kernel with all tuples that samples have, where it lacks it.
  void complete(Tuple &tuple);
  /// The degrees of `point`, with the kernel with all tuples that samples have.
  const Tuple &placeOf(const Point &point);
  uint32_t findTuple(const Point &point);
  Sample sampleAt(const Point &point, std::vector<double> values,
                  double badness);
  /// Where tables have what they say of `dims`: DimIndices, or part of a point.
  template <typename Dims>
  std::vector<uint32_t> entriesOf(const Dims &dims) const;
  /// Forgets what was believed for the last fit alone.
  void dropBelieved();
  double kernel(const Sample &a, const Sample &b) const;
  void dropSamples();
  void fitSamples();
  std::vector<double> predict(const Sample &sample);
  /// What the degrees of all samples say of those of `here`, of each value.
  Weights sumOfDegrees(const Tuple &here) const;

  const StrategySpace &space;
  const DimPairs &layout;
  const Options options;
  std::vector<float> weights;     ///< of the entries of tables
  std::vector<float> slotWeights; ///< of the ops, then of the pairs
  std::vector<Tuple> tuples;      ///< that samples have or had
  std::map<std::vector<double>, uint32_t> numberOf; ///< by logarithms
  std::map<std::vector<double>, Tuple> places; ///< asked about, by logarithms
  size_t numKept = 0;          ///< values of the kernels of `places`
  std::vector<Sample> samples; ///< those that are believed last
  size_t numBelieved = 0;
  GrowingCholesky factor;
  std::vector<Model> models;
  std::vector<Weights> alphas; ///< of the samples
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_JOINTPROCESS_H
