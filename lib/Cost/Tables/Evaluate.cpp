//===- Evaluate.cpp - Metrics of one strategy -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/Evaluate.h"

#include <algorithm>
#include <cassert>

using namespace shardopt;
using namespace shardopt::cost;

/// Walks `dims` through the trellis; none if one of them is illegal, or none of
/// its op's.
static std::optional<LayerChoice> walk(const Trellis &trellis,
                                       Span<const Dim> dims) {
  LayerChoice choice;
  choice.anchor = trellis.anchors[int(dims[trellis.steps.front().variable])];
  unsigned state = 0;
  for (const Trellis::Step &step : trellis.steps) {
    Dim dim = dims[step.variable];
    if (unsigned(dim) >= step.numDims || !trellis.edge(step, state, dim).legal)
      return std::nullopt;
    const Edge &edge = trellis.edge(step, state, dim);
    choice.seconds += edge.seconds;
    choice.bytes += edge.bytes;
    if (!trellis.liveBytes.empty())
      choice.liveBytes =
          std::max(choice.liveBytes, trellis.liveBytes[step.edge(state, dim)]);
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

using Layers = InlineVector<LayerChoice, Model::maxBodies>;

/// The layers that `dims` make; none if something is impossible.
static std::optional<Layers> chooseLayers(const Tables &tables,
                                          Span<const Dim> dims) {
  const Model &model = tables.costs().model();
  assert(dims.size() == model.numVariables() && "one dim for every op");
  if (tables.isStructurallyInvalid() ||
      !hasChoice(*model.embed.op, dims[model.embed.variable]) ||
      !hasChoice(*model.head.op, dims[model.head.variable]))
    return std::nullopt;
  Layers layers;
  for (size_t body = 0; body < model.bodies.size(); ++body) {
    std::optional<LayerChoice> layer = walk(tables.trellis(body), dims);
    if (!layer)
      return std::nullopt;
    layers.push_back(*layer);
  }
  return layers;
}

Evaluation cost::evaluate(const Tables &tables, Span<const Dim> dims) {
  std::optional<Layers> layers = chooseLayers(tables, dims);
  if (!layers)
    return Evaluation();
  const Model &model = tables.costs().model();
  Pipeline pipeline = tables.assemble(dims[model.embed.variable],
                                      dims[model.head.variable], *layers);
  return judge(pipeline, tables.context(), tables.costs().limits());
}

Evaluation cost::evaluate(const CostModel &costs, const Strategy &strategy) {
  return evaluate(Tables(costs, strategy.degrees), strategy.dims);
}

StageCut cost::chooseStages(const CostModel &costs, const Strategy &strategy) {
  const Degrees &degrees = strategy.degrees;
  if (!costs.balancesStages(degrees) || !costs.hasTrellises())
    return degrees.stages;
  Tables tables(costs, degrees);
  std::optional<Layers> layers = chooseLayers(tables, strategy.dims);
  if (!layers)
    return {};
  const Model &model = costs.model();
  StageCut cut = tables.balance(strategy.dims[model.embed.variable],
                                strategy.dims[model.head.variable], *layers);
  return cut.isEven() ? StageCut() : cut;
}
