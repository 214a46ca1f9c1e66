//===- BodyIndex.cpp - Which values of a layer are needed when ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/BodyIndex.h"

using namespace shardopt;
using namespace shardopt::cost;

/// For each result of `node`, the operand that it passes on, or -1. Which one
/// depends neither on the dim nor on the context.
static std::vector<int> passedOperands(const Node &node) {
  std::vector<Placement> incoming(node.operands.size());
  Context context = makeContext({Phase::Decode, 1}, Degrees());
  Rule rule = node.op->rule(Dim::None, incoming, context);
  std::vector<int> passed(node.results.size(), -1);
  for (size_t i = 0; i < passed.size(); ++i)
    passed[i] = rule.results[i].passes;
  return passed;
}

BodyIndex::BodyIndex(const Body &body) : values(body.numValues) {
  for (ValueId v = 0; v < body.numValues; ++v)
    values[v].root = v;

  // The last op that reads a value; the layer's exit comes after all.
  int exit = int(body.nodes.size());
  std::vector<int> lastUse(body.numValues, -1);
  std::vector<int> uses(body.numValues, 0);
  for (int i = 0; i < exit; ++i) {
    const Node &node = body.nodes[i];
    for (ValueId operand : node.operands) {
      lastUse[operand] = i;
      // The first op takes the residual as it lies.
      if (i != 0)
        ++uses[operand];
    }
    std::vector<int> passed = passedOperands(node);
    for (size_t r = 0; r < passed.size(); ++r)
      if (passed[r] >= 0)
        values[node.results[r]].root = values[node.operands[passed[r]]].root;
  }
  for (ValueId v : body.exitResiduals)
    lastUse[v] = exit;
  for (ValueId v : body.exitOutputs)
    lastUse[v] = exit;
  for (ValueId v = 0; v < body.numValues; ++v)
    values[v].fansOut = uses[v] > 1;

  std::vector<bool> made(body.numValues, false);
  made[body.residual] = true;
  for (int i = 0; i < exit; ++i) {
    for (ValueId result : body.nodes[i].results)
      made[result] = true;
    std::vector<ValueId> live;
    for (ValueId v = 0; v < body.numValues; ++v)
      if (made[v] && lastUse[v] > i)
        live.push_back(v);
    liveAfter.push_back(std::move(live));
  }
}
