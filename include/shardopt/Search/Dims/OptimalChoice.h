//===- OptimalChoice.h - The best dims, by strategy selection ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_OPTIMALCHOICE_H
#define SHARDOPT_SEARCH_DIMS_OPTIMALCHOICE_H

#include "shardopt/Search/Dims/OptimalDims.h"
#include "shardopt/Search/Dims/ScaledProblem.h"

#include <functional>

namespace shardopt::selection {

/// What strategy selection knows of the dims of given degrees.
struct ChoiceResult {
  /// The best that was found, with the evaluation of the naive model
  /// (`cost::breakdown`); none if nothing is feasible, or as good as what was
  /// known before.
  std::optional<cost::Optimum> best;
  /// No dims are better, but for rounding: 1e-11 of the value.
  bool proved = false;
  /// At least the throughput, or at most the latency (ms), of any dims that are
  /// as good as what was known before; none if there are no such dims.
  std::optional<double> bound;
  int problems = 0; ///< that were solved
};

/// The best dims of `graph`. What several stages take is minimised as a
/// sequence of problems: the term that is the largest in the best choice so far
/// (the seconds of one stage times the micro-batches, or those of all stages)
/// is minimised, where all other terms may take no more than that choice. Once
/// the largest term is the one that was minimised, or nothing is left below it,
/// the choice is proved.
///
/// `incumbent` (tokens/s per device, or ms) is what has to be reached.
ChoiceResult optimalChoice(const StrategyGraph &graph, Goal goal,
                           std::optional<double> incumbent = {});

/// At least the throughput, or at most the latency (ms), of any dims and any
/// division of the layers of `graph` over as many stages: the slowest takes no
/// less than the mean. `sending` are the seconds by which what stages send may
/// differ between divisions. The memory of stages is not limited.
double boundForAnyCut(const StrategyGraph &graph, Goal goal, double sending);

} // namespace shardopt::selection

#endif // SHARDOPT_SEARCH_DIMS_OPTIMALCHOICE_H
