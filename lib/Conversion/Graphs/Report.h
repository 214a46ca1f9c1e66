//===- Report.h - What was chosen for a function ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_REPORT_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_REPORT_H

#include "FactorGraph.h"
#include "shardopt/Solvers/Selection/Solver.h"

namespace shardopt::graphs {

/// What tells how the choice was made.
struct RunFacts {
  int64_t layers = 1;     ///< that share their strategies
  double wallSeconds = 0; ///< to read, cost and solve the function
};

/// A JSON object: the mesh, cost and bound, and for each argument and op its
/// factors, its sharding, and what it and the reshards of its operands cost.
/// `instance` is what `result` solves.
std::string reportOf(FactorGraph &graph, const FactorMap &factors,
                     const Mesh &mesh, const solve::Problem &instance,
                     const solve::SolverResult &result, const RunFacts &run);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_REPORT_H
