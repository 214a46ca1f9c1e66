//===- Model.cpp - A model as the cost model sees it ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Model.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

int64_t Model::numLayers() const {
  int64_t layers = 0;
  for (const Segment &segment : segments)
    layers += static_cast<int64_t>(segment.windows.size());
  return layers;
}

bool Model::sharesTable(Dim embed, Dim head) const {
  // The table is [vocab, hidden] and the head's weight its transpose.
  const bool alike = (embed == Dim::Zero && head == Dim::One) ||
                     (embed == Dim::One && head == Dim::Zero) ||
                     (embed == Dim::None && head == Dim::None);
  return tiedEmbeddings && alike;
}

unsigned Model::numVariables() const {
  size_t variables = 2; // embedding and head
  for (const Body &body : bodies)
    variables += body.nodes.size();
  return static_cast<unsigned>(variables);
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

std::optional<std::string> Model::structuralError(const Degrees &degrees,
                                                  int64_t maxDevices) const {
  auto excess = [](const char *what, int64_t found, const char *limit,
                   int64_t most) {
    return std::string(what) + " " + std::to_string(found) + " exceeds the " +
           limit + " " + std::to_string(most);
  };
  if (maxDevices && degrees.devices() > maxDevices)
    return excess("tp * ep * pp", degrees.devices(), "device limit",
                  maxDevices);
  if (degrees.pp > numLayers())
    return excess("pp", degrees.pp, "number of layers", numLayers());
  int64_t experts = degrees.ep;
  for (const Body &body : bodies)
    if (body.experts)
      experts = std::min(experts, body.experts);
  if (degrees.ep > experts)
    return excess("ep", degrees.ep, "number of experts", experts);
  return std::nullopt;
}
