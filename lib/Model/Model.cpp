//===- Model.cpp - A model as the cost model sees it ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Model.h"

#include "shardopt/Model/Context.h"
#include "shardopt/Model/Ops/MlaAttention.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

int64_t Model::numLayers() const {
  int64_t layers = 0;
  for (const Segment &segment : segments)
    layers += int64_t(segment.windows.size());
  return layers;
}

bool Model::sharesTable(Dim embed, Dim head) const {
  // The table is [vocab, hidden] and the head's weight its transpose.
  bool alike = (embed == Dim::Zero && head == Dim::One) ||
               (embed == Dim::One && head == Dim::Zero) ||
               (embed == Dim::None && head == Dim::None);
  return tiedEmbeddings && alike;
}

unsigned Model::numVariables() const {
  size_t variables = 2; // embedding and head
  for (const Body &body : bodies)
    variables += body.nodes.size();
  return unsigned(variables);
}

std::vector<const Node *> Model::nodesByVariable() const {
  std::vector<const Node *> nodes{&embed};
  for (const Body &body : bodies)
    for (const Node &node : body.nodes)
      nodes.push_back(&node);
  nodes.push_back(&head);
  std::sort(nodes.begin(), nodes.end(), [](const Node *a, const Node *b) {
    return a->variable < b->variable;
  });
  return nodes;
}

std::vector<std::string> Model::opNames() const {
  std::vector<std::string> names;
  for (const Node *node : nodesByVariable())
    names.push_back(node->name);
  return names;
}

int64_t Model::amountOf(Divides what) const {
  int64_t experts = 0;
  switch (what) {
  case Divides::Nothing:
    break;
  case Divides::Layers:
    return numLayers();
  case Divides::Experts:
    for (const Body &body : bodies)
      if (body.experts && (!experts || body.experts < experts))
        experts = body.experts;
    return experts;
  }
  return 0;
}

std::optional<DegreeExcess> Model::findExcess(const Degrees &degrees,
                                              int64_t maxDevices) const {
  if (maxDevices && degrees.devices() > maxDevices)
    return DegreeExcess{"devices", devicesFormula(degrees.dp != degrees.ep),
                        degrees.devices(), "device limit", maxDevices};
  struct Words {
    Divides what;
    const char *part, *limit;
  };
  for (const Words &words :
       {Words{Divides::Layers, "stages", "number of layers"},
        Words{Divides::Experts, "experts", "number of experts"}}) {
    int64_t most = amountOf(words.what);
    for (const DegreeInfo &info : degreeTable)
      if (info.divides == words.what && most && degrees.*info.field > most)
        return DegreeExcess{words.part, info.name, degrees.*info.field,
                            words.limit, most};
  }
  if (int64_t experts = amountOf(Divides::Experts);
      experts && degrees.hasEplb())
    if (int64_t slots = expertSlots(experts, degrees); slots > experts)
      return DegreeExcess{"experts", "the number of expert slots of a rank",
                          slots, "number of experts", experts};
  return std::nullopt;
}

bool Model::hasExperts() const {
  return std::any_of(bodies.begin(), bodies.end(),
                     [](const Body &body) { return body.experts > 0; });
}

bool Model::hasGrid(const Degrees &degrees) const {
  return shardopt::hasGrid(degrees, hasExperts());
}

bool Model::hasStages(const Degrees &degrees) const {
  return degrees.stages.isEmpty() ||
         !stageCutError(degrees.stages, degrees.pp, numLayers());
}

std::optional<std::string> Model::structuralError(const Degrees &degrees,
                                                  int64_t maxDevices) const {
  std::optional<DegreeExcess> excess = findExcess(degrees, maxDevices);
  if (!excess && !hasGrid(degrees))
    return gridError(degrees, hasExperts());
  if (!excess)
    return stageCutError(degrees.stages, degrees.pp, numLayers());
  return excess->what + " " + std::to_string(excess->found) + " exceeds the " +
         excess->limit + " " + std::to_string(excess->most);
}

bool cost::hasLatentAttention(const Model &model) {
  for (const Body &body : model.bodies)
    for (const Node &node : body.nodes)
      if (dynamic_cast<const MlaAttention *>(node.op.get()))
        return true;
  return false;
}

OpTypes cost::typesOf(const Model &model) {
  OpTypes all;
  auto take = [](auto &known, const auto &found) {
    if (!known)
      known = found;
  };
  for (const Body &body : model.bodies)
    for (const Node &node : body.nodes) {
      OpTypes found = node.op->types();
      take(all.attention, found.attention);
      take(all.dense, found.dense);
      take(all.experts, found.experts);
      take(all.cacheBytes, found.cacheBytes);
    }
  return all;
}

Model cost::retyped(Model model, const OpTypes &types) {
  for (Body &body : model.bodies)
    for (Node &node : body.nodes)
      if (std::shared_ptr<const OpModel> other = node.op->retyped(types))
        node.op = std::move(other);
  return model;
}
