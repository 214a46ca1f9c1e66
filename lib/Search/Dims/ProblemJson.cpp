//===- ProblemJson.cpp - What nodes and strategies mean -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StrategyJson.h"
#include "shardopt/Search/Dims/ScaledProblem.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;
using namespace shardopt::selection;

static void writeNode(json::Writer &writer, const StrategyGraph &graph,
                      const ScaledProblem &scaled, size_t number) {
  size_t original = scaled.twinOf[number];
  const GraphNode &node = graph.nodes()[original];
  writer.beginObject().member("node", node.name);
  if (number != original) {
    writer.member("twin_of", uint64_t(original)).endObject();
    return;
  }
  if (node.variable)
    writer.member("variable", uint64_t(*node.variable));
  writer.key("strategies").beginArray();
  for (size_t i = 0; i < node.numStrategies(); ++i)
    writer.value(graph.describe(number, i));
  writer.endArray().endObject();
}

std::string selection::meaningJson(const StrategyGraph &graph,
                                   const ScaledProblem &scaled) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Style::Block).member("schema", 1);
  const Degrees &degrees = graph.context().degrees;
  writer.key("degrees").beginObject();
  for (Degree degree : allDegrees)
    writer.member(spell(degree), degrees[degree]);
  writeStages(writer, degrees.stages);
  writer.endObject();
  writer.member("seconds_per_unit", scaled.secondsPerUnit);
  writer.key("stages").beginArray();
  for (const cost::Stage &stage : graph.stages())
    writer.value(stage.repeats);
  writer.endArray();
  writer.key("times").beginArray(json::Style::Block);
  for (const Resource &resource : scaled.resources) {
    bool isBytes = resource.kind == Resource::Kind::Bytes;
    writer.beginObject()
        .member("resource", resource.name)
        .member("unit", isBytes ? "bytes" : "seconds")
        .member("limit", resource.most)
        .endObject();
  }
  writer.endArray();
  writer.key("nodes").beginArray(json::Style::Block);
  for (size_t i = 0; i < scaled.twinOf.size(); ++i)
    writeNode(writer, graph, scaled, i);
  writer.endArray().endObject();
  return text + "\n";
}
