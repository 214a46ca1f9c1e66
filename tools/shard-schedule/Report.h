//===- Report.h - What was found, for people and programs -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SCHEDULE_REPORT_H
#define SHARDOPT_TOOLS_SCHEDULE_REPORT_H

#include "shardopt/Solvers/Schedule/Solver.h"

struct Options;
struct ScheduleTask;
struct Variant;

/// The table of the standard output.
std::string makeSummary(const ScheduleTask &problem,
                        const shardopt::schedule::SolverResult &result);

/// What was found for a variant.
struct Answer {
  const Variant *variant;
  shardopt::schedule::SolverResult result;
};

/// Whether a back-end that was asked for found nothing, so that the schedule is
/// that with which all begin.
bool isFallback(const Options &options,
                const shardopt::schedule::SolverResult &result);

/// A row for each variant.
std::string makeComparison(const std::vector<Answer> &answers);

/// The content of --report: of one answer, or of several and which is the best.
std::string makeReport(const Options &options,
                       const std::vector<Answer> &answers, size_t best,
                       double seconds);

#endif // SHARDOPT_TOOLS_SCHEDULE_REPORT_H
