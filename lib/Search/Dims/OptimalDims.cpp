//===- OptimalDims.cpp - Exact optimisation of dims for fixed degrees -----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Within one frame (see DimFrames.h), which fixes all that layers have to agree
// on but their exits, only walks through a layer matter that no walk to the
// same exit beats. Frames, and walks in them, are tried in the order of their
// bounds, with relaxed layers in the place of bodies that are yet to be chosen.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/OptimalDims.h"

#include "DimFrames.h"
#include "LayerPaths.h"
#include "shardopt/Cost/Tables/Evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A walk, and the score that it has with other bodies relaxed.
struct Candidate {
  const LayerPaths::Path *path = nullptr;
  double bound = 0;
};

class DimOptimizer {
public:
  DimOptimizer(const Tables &tables, Span<const DimSet> domains, Goal goal)
      : tables(tables), model(tables.costs().model()), domains(domains),
        goal(goal), numBodies(unsigned(model.bodies.size())),
        all(tables, domains, goal), pathsOf(numBodies), candidatesOf(numBodies),
        layers(numBodies), chosen(numBodies) {}

  /// The optimum, if it is as good as `incumbent`; any of several.
  std::optional<Optimum> solve(std::optional<double> incumbent);

private:
  void solveFrame(const DimFrame &frame);
  std::vector<Candidate> candidates(const DimFrame &frame, unsigned body);
  void choose(const DimFrame &frame, unsigned body);
  void offer(const DimFrame &frame, double score);
  const LayerPaths &paths(unsigned body, Dim anchor);
  double assembledScore(const DimFrame &frame) const;
  bool cannotImprove(double bound) const;

  const Tables &tables;
  const Model &model;
  const Span<const DimSet> domains;
  const Goal goal;
  const unsigned numBodies;
  const DimFrames all;

  std::vector<std::array<std::optional<LayerPaths>, maxDims>> pathsOf;
  std::vector<std::vector<Candidate>> candidatesOf; ///< of the frame, by body
  std::vector<LayerChoice> layers; ///< chosen or relaxed, by body
  std::vector<const LayerPaths::Path *> chosen;
  double bestScore = -infinity;
  std::vector<Dim> bestDims;
};

} // namespace

/// Whether a bound rules out a better score.
bool DimOptimizer::cannotImprove(double bound) const {
  return bound + std::abs(bound) * boundSlack < bestScore;
}

std::optional<Optimum> DimOptimizer::solve(std::optional<double> incumbent) {
  if (incumbent)
    bestScore = goal == Goal::Throughput ? *incumbent : -*incumbent;
  for (const DimFrame &frame : all.frames()) {
    if (cannotImprove(frame.bound))
      break;
    solveFrame(frame);
  }
  if (bestDims.empty())
    return std::nullopt;
  Evaluation evaluation = evaluate(tables, bestDims);
  return Optimum{std::move(bestDims), evaluation};
}

const LayerPaths &DimOptimizer::paths(unsigned body, Dim anchor) {
  std::optional<LayerPaths> &found = pathsOf[body][int(anchor)];
  if (!found)
    found.emplace(tables.trellis(body), anchor, domains);
  return *found;
}

void DimOptimizer::solveFrame(const DimFrame &frame) {
  for (unsigned body = 0; body < numBodies; ++body)
    layers[body] = all.relaxedLayer(frame, body).choice;
  for (unsigned body = 0; body < numBodies; ++body) {
    candidatesOf[body] = candidates(frame, body);
    if (candidatesOf[body].empty())
      return;
  }
  choose(frame, 0);
}

static LayerChoice layerOf(const LayerPaths::Path &path, const Trellis &trellis,
                           Layout anchor) {
  return {anchor, &trellis.exits[path.exit], path.seconds, path.bytes};
}

/// The score of `frame` with `layers`, or less than any if it is infeasible.
double DimOptimizer::assembledScore(const DimFrame &frame) const {
  Pipeline pipeline = tables.assemble(frame.embed, frame.head, layers);
  return violatedLimit(pipeline, tables) == Reason::None
             ? scoreOf(pipeline, tables, goal)
             : -infinity;
}

/// The walks of `body` that can still be part of an optimum, best bound first;
/// all `layers` are relaxed before and after.
std::vector<Candidate> DimOptimizer::candidates(const DimFrame &frame,
                                                unsigned body) {
  const DimFrame::BodyFrame &fixed = frame.bodies[body];
  LayerChoice relaxedChoice = layers[body];
  std::vector<Candidate> list;
  for (const LayerPaths::Path &path : paths(body, fixed.anchor).paths()) {
    if (all.variationOf(body, path.exit) != fixed.variation)
      continue;
    layers[body] = layerOf(path, tables.trellis(body), relaxedChoice.anchor);
    double bound = assembledScore(frame);
    if (bound > -infinity && !cannotImprove(bound))
      list.push_back({&path, bound});
  }
  layers[body] = relaxedChoice;
  std::stable_sort(
      list.begin(), list.end(),
      [](const Candidate &a, const Candidate &b) { return a.bound > b.bound; });
  return list;
}

/// Tries the candidates of `body` and of those after it; those before it are
/// chosen.
void DimOptimizer::choose(const DimFrame &frame, unsigned body) {
  LayerChoice relaxedChoice = layers[body];
  for (const Candidate &candidate : candidatesOf[body]) {
    if (cannotImprove(candidate.bound))
      break;
    chosen[body] = candidate.path;
    layers[body] =
        layerOf(*candidate.path, tables.trellis(body), relaxedChoice.anchor);
    if (body + 1 == numBodies) {
      Pipeline pipeline = tables.assemble(frame.embed, frame.head, layers);
      if (judge(pipeline, tables.context(), tables.costs().limits()).valid)
        offer(frame, scoreOf(pipeline, tables, goal));
    } else if (double bound = assembledScore(frame);
               bound > -infinity && !cannotImprove(bound)) {
      choose(frame, body + 1);
    }
  }
  layers[body] = relaxedChoice;
}

/// Takes the chosen walks if they beat the best so far, or at first equal it.
void DimOptimizer::offer(const DimFrame &frame, double score) {
  if (bestDims.empty() ? score < bestScore : score <= bestScore)
    return;
  bestScore = score;
  bestDims.resize(model.numVariables());
  bestDims[model.embed.variable] = frame.embed;
  bestDims[model.head.variable] = frame.head;
  for (unsigned body = 0; body < numBodies; ++body)
    paths(body, frame.bodies[body].anchor).writeDims(*chosen[body], bestDims);
}

/// The lexicographically smallest of the optima; `optimum` is one of them.
/// Walks that lost to others before the end can still be as good in the end,
/// where another stage is the slowest; so each variable in turn is tried with
/// smaller dims.
static Optimum smallest(Optimum optimum, const Tables &tables,
                        Span<const DimSet> domains, Goal goal) {
  double value = goal == Goal::Throughput ? optimum.evaluation.throughput
                                          : optimum.evaluation.latencyMs;
  std::vector<DimSet> narrowed(domains.begin(), domains.end());
  for (size_t variable = 0; variable < narrowed.size(); ++variable) {
    for (Dim dim : dimsBelow(maxDims)) {
      narrowed[variable] = only(dim);
      if (dim == optimum.dims[variable])
        break;
      if (!contains(domains[variable], dim))
        continue;
      std::optional<Optimum> other =
          DimOptimizer(tables, narrowed, goal).solve(value);
      if (other) {
        optimum = std::move(*other);
        break;
      }
    }
  }
  return optimum;
}

double cost::leastLiveBytes(const Tables &tables, Span<const DimSet> domains) {
  if (tables.isStructurallyInvalid())
    return std::numeric_limits<double>::infinity();
  double least = 0;
  for (size_t body = 0; body < tables.costs().model().bodies.size(); ++body)
    least = std::max(least, leastLiveBytes(tables.trellis(body), domains));
  return least;
}

std::optional<Optimum> cost::optimalDims(const Tables &tables,
                                         Span<const DimSet> domains, Goal goal,
                                         std::optional<double> incumbent) {
  std::optional<Optimum> optimum =
      DimOptimizer(tables, domains, goal).solve(incumbent);
  if (!optimum)
    return std::nullopt;
  return smallest(std::move(*optimum), tables, domains, goal);
}
