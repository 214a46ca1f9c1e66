//===- RandomProblem.h - Small problems and their optima --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SOLVERS_SELECTION_RANDOMPROBLEM_H
#define SHARDOPT_UNITTESTS_SOLVERS_SELECTION_RANDOMPROBLEM_H

#include "shardopt/Solvers/Selection/Graph.h"

namespace shardopt::solve {

/// What random problems are like.
struct RandomProblemOptions {
  int nodes = 7;
  int mostStrategies = 4;
  int edges = 10;
  int widestEdge = 2;        ///< most nodes of an edge
  int forbiddenPercent = 20; ///< of the entries of edges
  int equalityPercent = 20;  ///< of the edges: 0 or infinite costs
  int freePercent = 30;      ///< of the nodes: those that use no memory
  double tightness = 0.4;    ///< of the limit, from least (0) to most (1)
};

/// A problem that is valid; the same for the same seed.
Problem makeRandomProblem(uint64_t seed,
                          const RandomProblemOptions &options = {});

/// A graph that is reduced just so far that messages can be passed on it.
Graph makeTidyGraph(const Problem &problem);

/// The least cost of all solutions that fit, by enumeration.
std::optional<Int128> findOptimum(const Problem &problem);

/// The same of what is left of a graph, each of its solutions expanded and
/// judged by the problem.
std::optional<Int128> findOptimum(const Problem &problem, const Graph &graph);

} // namespace shardopt::solve

#endif // SHARDOPT_UNITTESTS_SOLVERS_SELECTION_RANDOMPROBLEM_H
