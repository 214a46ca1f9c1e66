//===- Trace.h - One evaluation of a search as JSON -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_TRACE_H
#define SHARDOPT_PLANNING_TRACE_H

#include "shardopt/Planning/Scenario.h"
#include "shardopt/Search/Driver.h"

#include <string>

namespace shardopt {

/// `entry` as a line of a trace (docs/Search.md), with its line break.
std::string traceLine(const search::TraceEntry &entry, const Scenario &scenario,
                      search::Goal goal);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_TRACE_H
