//===- Evaluate.cpp - Metrics of one strategy -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Evaluate.h"

#include <cassert>

using namespace shardopt;
using namespace shardopt::cost;

/// Walks `dims` through the trellis; none if one of them is illegal, or none of
/// its op's.
static std::optional<LayerChoice> walk(const Trellis &trellis,
                                       Span<const Dim> dims) {
  LayerChoice choice;
  choice.anchor =
      trellis.anchors[static_cast<int>(dims[trellis.steps.front().variable])];
  unsigned state = 0;
  for (const Trellis::Step &step : trellis.steps) {
    const Dim dim = dims[step.variable];
    if (unsigned(dim) >= step.numDims || !trellis.edge(step, state, dim).legal)
      return std::nullopt;
    const Edge &edge = trellis.edge(step, state, dim);
    choice.seconds += edge.seconds;
    choice.bytes += edge.bytes;
    state = edge.next;
  }
  choice.exit = &trellis.exits[state];
  return choice;
}

static bool hasChoice(const OpModel &op, Dim dim) {
  for (const DimChoice &choice : op.choices())
    if (choice.dim == dim)
      return true;
  return false;
}

Evaluation cost::evaluate(const Tables &tables, Span<const Dim> dims) {
  const Model &model = tables.costs().model();
  assert(dims.size() == model.numVariables() && "one dim for every op");
  if (tables.isStructurallyInvalid() ||
      !hasChoice(*model.embed.op, dims[model.embed.variable]) ||
      !hasChoice(*model.head.op, dims[model.head.variable]))
    return Evaluation();

  InlineVector<LayerChoice, Model::maxBodies> layers;
  for (size_t body = 0; body < model.bodies.size(); ++body) {
    std::optional<LayerChoice> layer = walk(tables.trellis(body), dims);
    if (!layer)
      return Evaluation();
    layers.push_back(*layer);
  }
  const Pipeline pipeline = tables.assemble(dims[model.embed.variable],
                                            dims[model.head.variable], layers);
  return judge(pipeline, tables.context(), tables.costs().limits());
}

Evaluation cost::evaluate(const CostModel &costs, const Strategy &strategy) {
  return evaluate(Tables(costs, strategy.degrees), strategy.dims);
}
