//===- Report.h - What a search found, for programs -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SOLVE_REPORT_H
#define SHARDOPT_TOOLS_SOLVE_REPORT_H

#include "shardopt/Solvers/Selection/Solver.h"

#include <string>

struct Options;

/// A whole number: as such if it fits 64 bits, otherwise its digits as a
/// string.
std::string makeReport(const Options &options,
                       const shardopt::solve::Problem &problem,
                       const shardopt::solve::SolverResult &result,
                       double readingSeconds, double seconds);

/// A line of the trace, with its end.
std::string makeTraceLine(const shardopt::solve::Progress &progress);

/// The most memory that the program had so far.
int64_t peakMemoryBytes();

#endif // SHARDOPT_TOOLS_SOLVE_REPORT_H
