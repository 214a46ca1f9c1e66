//===- AlikeLayers.cpp - Layers that may share their dims -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/AlikeLayers.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

static bool areAlike(const Node &a, const Node &b) {
  return a.op == b.op && a.operands == b.operands && a.results == b.results;
}

static bool areAlike(const Body &a, const Body &b) {
  return std::equal(
             a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
             [](const Node &x, const Node &y) { return areAlike(x, y); }) &&
         a.residual == b.residual && a.exitResiduals == b.exitResiduals &&
         a.exitOutputs == b.exitOutputs && a.experts == b.experts &&
         a.topK == b.topK;
}

std::optional<AlikeLayers> cost::joinAlikeLayers(const Model &model) {
  AlikeLayers joined{model, std::vector<unsigned>(model.numVariables())};
  std::vector<Body> &kept = joined.model.bodies;
  kept.clear();
  unsigned next = 0;
  joined.variables[model.embed.variable] = joined.model.embed.variable = next++;
  std::vector<unsigned> keptOf;
  for (const Body &body : model.bodies) {
    auto known = std::find_if(kept.begin(), kept.end(), [&](const Body &other) {
      return areAlike(body, other);
    });
    if (known == kept.end()) {
      known = kept.insert(known, body);
      for (Node &node : known->nodes)
        node.variable = next++;
    }
    keptOf.push_back(unsigned(known - kept.begin()));
    for (size_t i = 0; i < body.nodes.size(); ++i)
      joined.variables[body.nodes[i].variable] = known->nodes[i].variable;
  }
  joined.variables[model.head.variable] = joined.model.head.variable = next++;
  if (kept.size() == model.bodies.size())
    return std::nullopt;
  for (Segment &segment : joined.model.segments)
    segment.body = keptOf[segment.body];
  return joined;
}
