//===- Problem.h - What the options ask to schedule -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SCHEDULE_PROBLEM_H
#define SHARDOPT_TOOLS_SCHEDULE_PROBLEM_H

#include "shardopt/Schedule/Baselines.h"

struct Options;

struct Problem {
  shardopt::schedule::Instance instance;
  /// Of training pipelines.
  std::vector<shardopt::schedule::Baseline> baselines;
};

/// Reads the graph, or makes that of the pattern.
shardopt::ErrorOr<Problem> makeProblem(const Options &options);

#endif // SHARDOPT_TOOLS_SCHEDULE_PROBLEM_H
