//===- ScaledProblem.h - A graph of strategies in integers ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_SCALEDPROBLEM_H
#define SHARDOPT_SEARCH_DIMS_SCALEDPROBLEM_H

#include "shardopt/Search/Dims/StrategyGraph.h"
#include "shardopt/Solvers/Selection/Problem.h"

#include <limits>

namespace shardopt::selection {

/// A sum over stages that may not exceed `most`.
struct Resource {
  enum class Kind : uint8_t { Seconds, Bytes };

  std::string name; ///< "memory of stage 0"
  Kind kind = Kind::Bytes;
  std::vector<double> weights; ///< by stage of StrategyGraph::stages
  double most = 0;             ///< above 0
};

/// What is minimised, under which limits.
struct Aim {
  std::vector<double> weights; ///< of the seconds of each stage
  std::vector<Resource> resources;
  /// More than that is of no use: what takes more alone is forbidden.
  double worthwhile = std::numeric_limits<double>::infinity();
  /// A device's for the values between ops (Activations.h), each of whose
  /// moments is a resource then; none: there are as many as it takes.
  std::optional<double> activationBytes = {};
};

/// Those of `resources`, of one kind and one limit, that can be used up before
/// all others.
std::vector<Resource> withoutCovered(const StrategyGraph &graph,
                                     const std::vector<Resource> &resources);

/// The memory of a device of each stage that can be the fullest.
std::vector<Resource> memoryResources(const StrategyGraph &graph);

/// The limit on values between ops, if there is one.
std::optional<double> activationLimit(const StrategyGraph &graph);

/// The seconds of all stages, under the limits of memory, of values between ops
/// and of the SLO: what a token, or a prompt, takes through an empty pipeline.
Aim aimAtSum(const StrategyGraph &graph);

/// A graph as a problem of strategy selection. Its nodes come first, in their
/// order; each resource is a time. A node that uses several resources has a
/// twin, bound to it by an edge, for each beyond the first.
///
/// Seconds and uses are rounded down to integers, so whatever fits, fits here;
/// and the cost of a choice here, times `secondsPerUnit`, is at most what it
/// takes, and less by at most one unit a node.
struct ScaledProblem {
  solve::Problem problem;
  double secondsPerUnit = 1;       ///< a power of two
  std::vector<Resource> resources; ///< by time
  std::vector<size_t> twinOf; ///< by node of the problem: that of the graph

  /// The first nodes of `solution`.
  Choice choiceOf(const StrategyGraph &graph,
                  const std::vector<int32_t> &solution) const;
  /// `choice`, and what follows from it for the twins.
  std::vector<int32_t> solutionOf(const Choice &choice) const;
};

ScaledProblem makeProblem(const StrategyGraph &graph, const Aim &aim);

/// What nodes, strategies and times of a problem mean, as JSON.
std::string meaningJson(const StrategyGraph &graph,
                        const ScaledProblem &scaled);

} // namespace shardopt::selection

#endif // SHARDOPT_SEARCH_DIMS_SCALEDPROBLEM_H
