//===- ProblemWriter.cpp - Problems as files ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/ProblemReader.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;
using namespace shardopt::solve;

template <typename T>
static void writeRows(json::Writer &writer, const char *key,
                      const Rows<T> &rows) {
  writer.key(key).beginArray(json::Style::Block);
  for (size_t i = 0; i < rows.size(); ++i) {
    writer.beginArray();
    for (T value : rows[i])
      writer.value(int64_t(value));
    writer.endArray();
  }
  writer.endArray();
}

std::string solve::toJson(const Problem &problem) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block);
  writer.key("problem").beginObject(json::Style::Block);
  if (!problem.name.empty())
    writer.member("name", problem.name);
  writer.key("nodes").beginObject(json::Style::Block);
  writer.key("intervals").beginArray(json::Style::Block);
  for (const Interval &interval : problem.intervals)
    writer.beginArray().value(interval.begin).value(interval.end).endArray();
  writer.endArray();
  writeRows(writer, "costs", problem.costs);
  writeRows(writer, "usages", problem.usages);
  writer.endObject();
  writer.key("edges").beginObject(json::Style::Block);
  writeRows(writer, "nodes", problem.edgeNodes);
  writeRows(writer, "costs", problem.edgeCosts);
  writer.endObject();
  if (problem.usageLimit)
    writer.member("usage_limit", *problem.usageLimit);
  writer.endObject().endObject();
  return text + "\n";
}
