//===- Report.h - What was found, for people and programs -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SCHEDULE_REPORT_H
#define SHARDOPT_TOOLS_SCHEDULE_REPORT_H

#include "shardopt/Schedule/Solver.h"

struct Options;
struct Problem;

/// The table of the standard output.
std::string makeSummary(const Problem &problem,
                        const shardopt::schedule::SolverResult &result);

/// The content of --report.
std::string makeReport(const Options &options, const Problem &problem,
                       const shardopt::schedule::SolverResult &result,
                       double seconds);

#endif // SHARDOPT_TOOLS_SCHEDULE_REPORT_H
