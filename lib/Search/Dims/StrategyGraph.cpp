//===- StrategyGraph.cpp - Sharding dims as strategies of nodes -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/StrategyGraph.h"

#include "GraphWriter.h"

using namespace shardopt;
using namespace shardopt::selection;

StrategyGraph::StrategyGraph(const cost::CostModel &costs,
                             const Degrees &degrees,
                             Span<const cost::DimSet> domains)
    : model(&costs), outer(costs.context(degrees)),
      stageList(costs.layers().stages(degrees)) {
  GraphWriter(*this, domains).write();
}

cost::Pipeline StrategyGraph::pipeline(const Choice &choice) const {
  cost::Pipeline pipeline;
  size_t numStages = stageList.size();
  for (size_t stage = 0; stage < numStages; ++stage) {
    double seconds = 0, bytes = 0;
    for (size_t i = 0; i < nodeList.size(); ++i) {
      size_t at = size_t(choice[i]) * numStages + stage;
      seconds += nodeList[i].seconds[at];
      if (!nodeList[i].bytes.empty())
        bytes += nodeList[i].bytes[at];
    }
    pipeline.addStages(stageList[stage].repeats, seconds, bytes);
  }
  return pipeline;
}

std::vector<Dim> StrategyGraph::dims(const Choice &choice) const {
  std::vector<Dim> dims(model->model().numVariables(), Dim::None);
  for (size_t i = 0; i < nodeList.size(); ++i)
    if (nodeList[i].variable)
      dims[*nodeList[i].variable] =
          Dim(nodeList[i].value(size_t(choice[i]), 0));
  return dims;
}

std::optional<Choice> StrategyGraph::follow(Span<const Dim> dims) const {
  // For each node, the links that end there and begin before.
  std::vector<std::vector<Link>> before(nodeList.size());
  for (const Link &link : linkList)
    if (link.a.node < link.b.node)
      before[link.b.node].push_back(link);
    else
      before[link.a.node].push_back({link.b, link.a});
  Choice choice(nodeList.size(), -1);
  auto agrees = [&](size_t node, size_t strategy) {
    const GraphNode &at = nodeList[node];
    if (at.variable && Dim(at.value(strategy, 0)) != dims[*at.variable])
      return false;
    for (const Link &link : before[node]) {
      const GraphNode &other = nodeList[link.a.node];
      if (other.value(size_t(choice[link.a.node]), link.a.port) !=
          at.value(strategy, link.b.port))
        return false;
    }
    return true;
  };
  // Nodes in order, the next strategy of each; back where there is none, as
  // only the last of a sum knows whether all summands lie alike.
  size_t node = 0;
  while (node < nodeList.size()) {
    size_t strategy = size_t(choice[node] + 1);
    while (strategy < nodeList[node].numStrategies() && !agrees(node, strategy))
      ++strategy;
    if (strategy < nodeList[node].numStrategies()) {
      choice[node++] = int32_t(strategy);
      continue;
    }
    choice[node] = -1;
    if (node-- == 0)
      return std::nullopt;
  }
  return choice;
}

/// "T" or, of several, "{T,P}".
static std::string spellCopies(int32_t copies) {
  std::string text;
  for (cost::Layout layout : cost::allLayouts)
    if (copies >> int(layout) & 1)
      text += (text.empty() ? "" : ",") + std::string(cost::spell(layout));
  return "{" + text + "}";
}

static std::string spellValue(PortKind kind, int32_t value) {
  switch (kind) {
  case PortKind::Layout:
    return cost::spell(cost::Layout(value));
  case PortKind::Copies:
    return spellCopies(value);
  case PortKind::Dim:
    return Dim(value) == Dim::None ? "none" : std::to_string(value);
  case PortKind::Request:
  case PortKind::Sum:
    return std::to_string(value);
  }
  return "";
}

std::string StrategyGraph::describe(size_t node, size_t strategy) const {
  const GraphNode &at = nodeList[node];
  std::string text;
  for (size_t port = 0; port < at.ports.size(); ++port)
    text += (text.empty() ? "" : ", ") + at.ports[port].name + " " +
            spellValue(at.ports[port].kind, at.value(strategy, port));
  return text;
}
