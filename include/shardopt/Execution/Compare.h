//===- Compare.h - Whether a sharded program computed the same --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_COMPARE_H
#define SHARDOPT_EXECUTION_COMPARE_H

#include "shardopt/Execution/Run.h"

namespace shardopt::execution {

/// How far a result is from what it should be, over all steps and ranks.
struct ResultError {
  std::string name;
  bool isInteger = false;
  double maxAbs = 0;   ///< NaN where one of the two is not a number
  double maxRel = 0;   ///< of the largest magnitude of the result
  int64_t unequal = 0; ///< integers that differ
  int64_t count = 0;   ///< of elements compared
  std::string where;   ///< of the largest error: "step 2, rank 3, at [0, 4]"

  bool isWithin(double tolerance) const;
};

/// What is right: global results by step, and caches.
struct Expected {
  /// By step, result; those of the last stage.
  std::vector<std::vector<tensors::Tensor>> results;
  NamedTensors caches; ///< by argument
};

/// The outcome of a program on one device.
Expected collect(const ProgramInterface &interface, RankOutcome outcome);

/// Puts together what the ranks of a program have; of copies the last one.
/// Errors: a part of another shape than its slice.
ErrorOr<Expected> assemble(const ProgramInterface &interface,
                           const std::vector<RankOutcome> &outcomes,
                           const RunRequest &request);

/// Compares what every rank has with its slice of what is right: one entry a
/// result, and one for each cache. Errors: a result of another shape.
ErrorOr<std::vector<ResultError>>
compare(const Expected &expected, const ProgramInterface &interface,
        const std::vector<RankOutcome> &outcomes, const RunRequest &request);

/// Adds the elements of one tensor to `error`.
void accumulate(const tensors::Tensor &expected, const tensors::Tensor &found,
                double scale, const std::string &where, ResultError &error);

/// The largest magnitude; 0 for integers.
double largest(const tensors::Tensor &tensor);

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_COMPARE_H
