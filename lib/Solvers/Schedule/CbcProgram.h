//===- CbcProgram.h - A mixed-integer program for CBC -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_CBCPROGRAM_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_CBCPROGRAM_H

#include "Deciding.h"

namespace shardopt::schedule {

/// Variables with bounds, rows "sum <= most", and a sum that is made small.
class CbcProgram {
public:
  int32_t addVariable(double least, double most, bool isInteger,
                      double cost = 0);
  void addRow(const std::vector<std::pair<int32_t, double>> &terms,
              double most);
  void raiseLeast(int32_t variable, double least) { lower[variable] = least; }
  void lowerMost(int32_t variable, double most) { upper[variable] = most; }

  struct Outcome {
    Answer answer = Answer::Unknown; ///< whether there is a solution
    std::vector<double> values;      ///< of the best one
    double bound = 0;                ///< of the sum
  };
  /// Runs until the best is found, the budget is over or after so many nodes.
  Outcome solve(const Budget &budget, int64_t nodes) const;

private:
  /// In this process; nothing ends it but its own clock.
  Outcome solveHere(double seconds, int64_t nodes) const;

  std::vector<double> lower, upper, costs;
  std::vector<char> integers;
  std::vector<int32_t> rowStarts = {0};
  std::vector<int32_t> columns;
  std::vector<double> factors, limits;
};

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_CBCPROGRAM_H
