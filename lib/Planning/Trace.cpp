//===- Trace.cpp - One evaluation of a search as JSON ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Trace.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;

std::string shardopt::traceLine(const search::TraceEntry &entry,
                                const Scenario &scenario, search::Goal goal) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject().member("evaluation", int64_t(entry.index));
  writer.key("strategy");
  writeStrategy(writer, entry.strategy, scenario.opNames());
  writeMetrics(writer, entry.evaluation, scenario.latencyKey());
  writer.member("repeated", entry.repeated)
      .member("infeasible", entry.hopeless)
      .member("budgeted_evaluations", int64_t(entry.charged))
      .member("rejected", int64_t(entry.rejected))
      .key("best");
  if (entry.best)
    writer.value(scenario.objective(goal).value(*entry.best));
  else
    writer.null();
  writer.endObject();
  text += '\n';
  return text;
}
