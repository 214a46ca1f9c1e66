//===- PlanGraphReader.h - Graphs in files ----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_PLANGRAPHREADER_H
#define SHARDOPT_SOLVERS_SCHEDULE_PLANGRAPHREADER_H

#include "shardopt/Solvers/Schedule/Patterns.h"

namespace shardopt::schedule {

/// Reads and checks a graph (docs/Schedule.md has the format). `placement`:
/// Free leaves groups without a device free; Linear, V and Wave put stages on
/// devices; Bidirectional is an error. Errors name the place in the file.
ErrorOr<PlanGraph> readPlanGraph(const std::string &path, Placement placement);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_PLANGRAPHREADER_H
