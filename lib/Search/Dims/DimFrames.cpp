//===- DimFrames.cpp - Bounds on dims that are partly chosen --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimFrames.h"

#include "LayerPaths.h"

#include <algorithm>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;

static constexpr double infinity = std::numeric_limits<double>::infinity();

double cost::scoreOf(const Pipeline &pipeline, const Context &context,
                     const Limits &limits, Goal goal) {
  if (goal == Goal::Throughput)
    return throughput(pipeline, context, limits);
  return -latencySeconds(pipeline, context) * 1e3;
}

Reason cost::violatedLimit(const Pipeline &pipeline, const Context &context,
                           const Limits &limits) {
  if (pipeline.maxBytes > limits.memoryBytes * (1 + boundSlack))
    return Reason::Memory;
  if (latencySeconds(pipeline, context) >
      limits.latencySeconds * (1 + boundSlack))
    return Reason::Slo;
  return Reason::None;
}

//===----------------------------------------------------------------------===//
// Relaxed layers
//===----------------------------------------------------------------------===//

/// Numbers the different variations of `exits`.
static std::vector<unsigned>
numberVariations(const std::vector<Trellis::Exit> &exits) {
  auto same = [](const Variation &a, const Variation &b) {
    return a.seconds == b.seconds && a.bytes == b.bytes;
  };
  std::vector<unsigned> numbers;
  std::vector<const Trellis::Exit *> first; ///< exit of each number
  for (const Trellis::Exit &exit : exits) {
    auto alike = [&](const Trellis::Exit *other) {
      return std::equal(exit.variations.begin(), exit.variations.end(),
                        other->variations.begin(), other->variations.end(),
                        same);
    };
    auto found = std::find_if(first.begin(), first.end(), alike);
    numbers.push_back(unsigned(found - first.begin()));
    if (found == first.end())
      first.push_back(&exit);
  }
  return numbers;
}

/// Makes `relaxed` no worse than the walk of least seconds and that of least
/// bytes to `exit`. What a layer takes is counted where it is left: every layer
/// is left once, for another layer or for the head.
static void include(RelaxedLayer &relaxed, const Trellis::Exit &exit,
                    const LeastCost &least) {
  if (!relaxed.exists) {
    relaxed.exists = true;
    relaxed.choice.bytes = infinity;
    std::fill_n(relaxed.exit.leaveSeconds, numLayouts, infinity);
    std::fill_n(relaxed.exit.headSeconds, maxDims, infinity);
    relaxed.exit.variations = exit.variations;
  }
  auto lower = [](double &bound, double value) {
    bound = std::min(bound, value);
  };
  lower(relaxed.choice.bytes, least.bytes);
  for (unsigned i = 0; i < numLayouts; ++i)
    lower(relaxed.exit.leaveSeconds[i], least.seconds + exit.leaveSeconds[i]);
  for (unsigned i = 0; i < maxDims; ++i)
    lower(relaxed.exit.headSeconds[i], least.seconds + exit.headSeconds[i]);
}

void DimFrames::relax(unsigned body) {
  const Trellis &trellis = tables.trellis(body);
  variations[body] = numberVariations(trellis.exits);
  unsigned numVariations = 0;
  for (unsigned variation : variations[body])
    numVariations = std::max(numVariations, variation + 1);

  for (Dim anchor : dimsBelow(trellis.steps.front().numDims)) {
    std::vector<RelaxedLayer> &list = relaxed[body][int(anchor)];
    list.resize(numVariations);
    if (!contains(domain(trellis.steps.front().variable), anchor))
      continue;
    std::vector<LeastCost> least = leastCosts(trellis, anchor, domains);
    for (size_t exit = 0; exit < least.size(); ++exit)
      if (least[exit].seconds < infinity)
        include(list[variations[body][exit]], trellis.exits[exit], least[exit]);
    for (RelaxedLayer &layer : list) {
      layer.choice.anchor = trellis.anchors[int(anchor)];
      layer.choice.exit = &layer.exit;
    }
  }
}

/// Whether a legal step of `trellis` does not fit.
static bool exceedsActivations(const Trellis &trellis) {
  return std::any_of(trellis.edges.begin(), trellis.edges.end(),
                     [](const Edge &edge) { return edge.legal && !edge.fits; });
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

DimFrames::DimFrames(const Tables &tables, Span<const DimSet> domains,
                     Goal goal)
    : tables(tables), model(tables.costs().model()), domains(domains),
      goal(goal), variations(model.bodies.size()), relaxed(model.bodies.size()),
      layers(model.bodies.size()) {
  if (tables.isStructurallyInvalid())
    return;
  for (unsigned body = 0; body < model.bodies.size(); ++body)
    relax(body);
  DimFrame frame;
  for (const DimChoice &embed : model.embed.op->choices()) {
    frame.embed = embed.dim;
    if (contains(domain(model.embed.variable), embed.dim))
      addFrames(frame, 0);
  }
  std::stable_sort(
      list.begin(), list.end(),
      [](const DimFrame &a, const DimFrame &b) { return a.bound > b.bound; });
  // Without a frame, all walks of a body are illegal or do not fit.
  if (obstacle == Reason::Structural)
    for (unsigned body = 0; body < model.bodies.size(); ++body)
      if (exceedsActivations(tables.trellis(body)))
        obstacle = Reason::Activations;
}

/// Adds the frames that differ from `frame` in `body` and in what follows it.
void DimFrames::addFrames(DimFrame &frame, unsigned body) {
  if (body == model.bodies.size()) {
    for (const DimChoice &head : model.head.op->choices()) {
      frame.head = head.dim;
      if (contains(domain(model.head.variable), head.dim))
        addFrame(frame);
    }
    return;
  }
  for (Dim anchor : dimsBelow(maxDims)) {
    const auto &variants = relaxed[body][int(anchor)];
    for (unsigned variation = 0; variation < variants.size(); ++variation) {
      if (!variants[variation].exists)
        continue;
      frame.bodies[body] = {anchor, variation};
      layers[body] = variants[variation].choice;
      addFrames(frame, body + 1);
    }
  }
}

void DimFrames::addFrame(DimFrame frame) {
  Pipeline pipeline = tables.assemble(frame.embed, frame.head, layers);
  least = std::min(least, pipeline.maxBytes);
  Reason reason = violatedLimit(pipeline, tables);
  // The limit that the frame which gets furthest runs into.
  if (obstacle != Reason::None)
    obstacle = reason == Reason::None ? reason : std::max(obstacle, reason);
  if (reason != Reason::None)
    return;
  frame.bound = scoreOf(pipeline, tables, goal);
  list.push_back(frame);
}

DimsBound cost::boundDims(const Tables &tables, Span<const DimSet> domains,
                          Goal goal) {
  DimFrames all(tables, domains, goal);
  DimsBound result;
  result.infeasible = all.infeasible();
  result.leastBytes = all.leastBytes();
  if (!all.frames().empty()) {
    double best = all.frames().front().bound;
    result.value = goal == Goal::Throughput ? best : -best;
  }
  return result;
}
