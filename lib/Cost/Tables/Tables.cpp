//===- Tables.cpp - All that strategies of given degrees can cost ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/Tables.h"

#include <algorithm>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;

Tables::Tables(const CostModel &costs, const TableRequest &request)
    : model(&costs), outer(costs.context(request.degrees, request.range)) {
  const Degrees &degrees = request.degrees;
  if (!costs.fits(degrees))
    return;
  if (request.shared)
    request.shared->makeRoom();
  for (unsigned body = 0; body < costs.model().bodies.size(); ++body)
    trellises.push_back(buildTrellis(costs, body, request));
  stages = costs.layers().stages(degrees);

  const TimeModel &time = costs.time();
  double rows = double(outer.rows);
  double rowBytes = costs.model().rowBytes;
  const OpModel &embed = *costs.model().embed.op;
  for (const DimChoice &choice : embed.choices()) {
    Dim dim = choice.dim;
    auto d = int(dim);
    Placement made = embed.rule(dim, {}, outer).results[0].placement;
    OpCost cost = embed.cost(dim, {}, outer);
    double busy = time.seconds(cost, degrees);
    for (Layout anchor : {Layout::R, Layout::T, Layout::H})
      embedSeconds[d][int(anchor)] =
          busy + time.reshard(made.layout, anchor, rows, made.rowBytes, degrees,
                              made.over);
    embedBytes[d] = cost.weightBytes;
  }
  const OpModel &head = *costs.model().head.op;
  Placement incoming{Layout::R, rowBytes};
  for (const DimChoice &choice : head.choices())
    headBytes[int(choice.dim)] =
        head.cost(choice.dim, Span<const Placement>(&incoming, 1), outer)
            .weightBytes;
  if (degrees.pp > 1)
    for (Layout anchor : {Layout::R, Layout::T, Layout::H})
      for (const Collective &collective :
           time.transfer(anchor, rows * rowBytes, degrees))
        transferSeconds[int(anchor)] += time.seconds(collective, degrees);
}

StageCut Tables::balance(Dim embed, Dim head,
                         Span<const LayerChoice> layers) const {
  const LayerIndex &index = model->layers();
  int64_t numLayers = index.numLayers();
  auto anchor = [&](int64_t layer) {
    return int(layers[index.kindOfLayer(layer).body].anchor);
  };
  auto e = int(embed), h = int(head);
  LayerChain chain(numLayers);
  double sum = 0;
  for (int64_t i = 0; i < numLayers; ++i) {
    const LayerChoice &layer = layers[index.kindOfLayer(i).body];
    double &seconds = chain.seconds[i], &bytes = chain.bytes[i];
    seconds = layer.seconds;
    bytes = layer.bytes;
    if (!layer.exit->variations.empty()) {
      const Variation &variation =
          layer.exit->variations[index.kindNumberOfLayer(i)];
      seconds += variation.seconds;
      bytes += variation.bytes;
    }
    if (i + 1 < numLayers) {
      seconds += layer.exit->leaveSeconds[anchor(i + 1)];
      chain.sendSeconds[i] = transferSeconds[anchor(i + 1)];
    }
    sum += seconds + bytes;
  }
  chain.embedSeconds = embedSeconds[e][anchor(0)];
  chain.embedBytes = embedBytes[e];
  chain.headSeconds = layers[index.lastBody()].exit->headSeconds[h];
  chain.headBytes = headBytes[h];
  sum += chain.embedSeconds + chain.headSeconds;
  // Nothing is better or worse where something is impossible.
  if (!(sum < std::numeric_limits<double>::infinity()))
    return evenCut(numLayers, outer.degrees.pp);
  return balancedCut(chain, outer, model->limits());
}

Pipeline Tables::assemble(Dim embed, Dim head,
                          Span<const LayerChoice> layers) const {
  if (!model->balancesStages(outer.degrees))
    return sumStages(stages, embed, head, layers);
  Degrees degrees = outer.degrees;
  degrees.stages = balance(embed, head, layers);
  return sumStages(model->layers().stages(degrees), embed, head, layers);
}

Pipeline Tables::sumStages(const std::vector<Stage> &stages, Dim embed,
                           Dim head, Span<const LayerChoice> layers) const {
  const LayerIndex &index = model->layers();
  auto e = int(embed), h = int(head);
  auto anchor = [&](unsigned body) { return int(layers[body].anchor); };

  Pipeline pipeline;
  for (const Stage &stage : stages) {
    double seconds = 0, bytes = 0;
    for (size_t k = 0; k < stage.kinds.size(); ++k) {
      const LayerChoice &layer = layers[index.kinds()[k].body];
      auto count = double(stage.kinds[k]);
      seconds += count * layer.seconds;
      bytes += count * layer.bytes;
      if (!layer.exit->variations.empty()) {
        seconds += count * layer.exit->variations[k].seconds;
        bytes += count * layer.exit->variations[k].bytes;
      }
    }
    for (size_t t = 0; t < stage.transitions.size(); ++t) {
      const Transition &transition = index.transitions()[t];
      seconds +=
          double(stage.transitions[t]) *
          layers[transition.body].exit->leaveSeconds[anchor(transition.next)];
    }
    if (stage.isFirst) {
      seconds += embedSeconds[e][anchor(index.firstBody())];
      bytes += embedBytes[e];
    }
    if (stage.isLast) {
      seconds += layers[index.lastBody()].exit->headSeconds[h];
      bool shares = stage.isFirst && model->model().sharesTable(embed, head);
      bytes += shares ? 0 : headBytes[h];
    } else {
      seconds += transferSeconds[anchor(stage.nextBody)];
    }
    pipeline.addStages(stage.repeats, seconds, bytes);
  }
  for (const LayerChoice &layer : layers)
    pipeline.activationBytes =
        std::max(pipeline.activationBytes, layer.liveBytes);
  return pipeline;
}
