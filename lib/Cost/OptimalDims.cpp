//===- OptimalDims.cpp - Exact optimisation of dims for fixed degrees -----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Metrics are monotone in the seconds and bytes of every layer. So within one
// choice of embedding, head and, for each body, of the anchor and of how its
// layers vary (a *frame*), only walks through a layer matter that no walk to
// the same exit beats. A body of which nothing more is chosen yet is replaced
// by a *relaxed* layer, no worse than any of its walks in any respect; metrics
// with relaxed layers bound those with real ones. Frames, and walks in them,
// are tried in the order of these bounds.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/OptimalDims.h"

#include "LayerPaths.h"
#include "shardopt/Cost/Evaluate.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Sums in another order differ by this part of themselves at most.
constexpr double slack = 1e-12;

constexpr Dim dimList[] = {Dim::Zero, Dim::One, Dim::None};

/// A layer that no walk of a body beats in any respect, among those from one
/// anchor to exits that vary alike.
struct RelaxedLayer {
  LayerChoice choice; ///< whose exit is `exit`
  Trellis::Exit exit;
  bool exists = false;
};

/// What a frame fixes of a body.
struct BodyFrame {
  Dim anchor = Dim::None; ///< of the body's first op
  unsigned variation = 0;
};

struct Frame {
  Dim embed = Dim::None;
  Dim head = Dim::None;
  std::array<BodyFrame, Model::maxBodies> bodies;
  double bound = 0; ///< score with relaxed layers
};

/// A walk, and the score that it has with other bodies relaxed.
struct Candidate {
  const LayerPaths::Path *path = nullptr;
  double bound = 0;
};

class DimOptimizer {
public:
  DimOptimizer(const Tables &tables, Span<const DimSet> domains,
               Objective objective);

  DimsBound bound() const;
  std::optional<Optimum> solve(std::optional<double> incumbent);

private:
  void relax(unsigned body);
  void addFrames(Frame &frame, unsigned body);
  void addFrame(Frame frame);
  const RelaxedLayer &relaxedLayer(const Frame &frame, unsigned body) const;

  void solveFrame(const Frame &frame);
  std::vector<Candidate> candidates(const Frame &frame, unsigned body);
  void choose(const Frame &frame, unsigned body);
  void offer(const Frame &frame, double score);
  const LayerPaths &paths(unsigned body, Dim anchor);

  double assembledScore(const Frame &frame) const;
  double score(const Pipeline &pipeline) const;
  bool cannotImprove(double bound) const;
  double valueOf(double score) const;
  DimSet domain(unsigned variable) const { return domains[variable]; }

  const Tables &tables;
  const Model &model;
  const Span<const DimSet> domains;
  const Objective objective;
  const unsigned numBodies;

  /// By body and exit: a number for what the exit varies by.
  std::vector<std::vector<unsigned>> variationOf;
  /// By body, anchor and variation.
  std::vector<std::array<std::vector<RelaxedLayer>, 3>> relaxed;
  std::vector<Frame> frames; ///< those that may be feasible
  Reason infeasible = Reason::Structural;
  double leastBytes = infinity; ///< on the fullest device, of any frame

  // While solving.
  std::vector<std::array<std::optional<LayerPaths>, 3>> pathsOf;
  std::vector<std::vector<Candidate>> candidatesOf; ///< of the frame, by body
  std::vector<LayerChoice> layers; ///< chosen or relaxed, by body
  std::vector<const LayerPaths::Path *> chosen;
  double bestScore = -infinity;
  std::vector<Dim> bestDims;
};

} // namespace

DimOptimizer::DimOptimizer(const Tables &tables, Span<const DimSet> domains,
                           Objective objective)
    : tables(tables), model(tables.costs().model()), domains(domains),
      objective(objective),
      numBodies(static_cast<unsigned>(model.bodies.size())),
      variationOf(numBodies), relaxed(numBodies), layers(numBodies) {
  if (tables.isStructurallyInvalid())
    return;
  for (unsigned body = 0; body < numBodies; ++body)
    relax(body);
  Frame frame;
  for (Dim embed : dimList) {
    frame.embed = embed;
    if (contains(domain(model.embed.variable), embed))
      addFrames(frame, 0);
  }
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// The objective, signed so that more is better.
double DimOptimizer::score(const Pipeline &pipeline) const {
  if (objective == Objective::Throughput)
    return throughput(pipeline, tables.context());
  return -latencySeconds(pipeline, tables.context()) * 1e3;
}

/// The objective that has `score`, and the other way round.
double DimOptimizer::valueOf(double score) const {
  return objective == Objective::Throughput ? score : -score;
}

/// Why `pipeline` is infeasible even with a little more room, or None.
static Reason violated(const Pipeline &pipeline, const Tables &tables) {
  const Limits &limits = tables.costs().limits();
  if (pipeline.maxBytes > limits.memoryBytes * (1 + slack))
    return Reason::Memory;
  if (latencySeconds(pipeline, tables.context()) >
      limits.latencySeconds * (1 + slack))
    return Reason::Slo;
  return Reason::None;
}

/// Whether a bound, which may be `slack` too low, rules out a better score.
bool DimOptimizer::cannotImprove(double bound) const {
  return bound + std::abs(bound) * slack < bestScore;
}

//===----------------------------------------------------------------------===//
// Relaxed layers and frames
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
    numbers.push_back(static_cast<unsigned>(found - first.begin()));
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
    std::fill_n(relaxed.exit.headSeconds, 3, infinity);
    relaxed.exit.variations = exit.variations;
  }
  auto lower = [](double &bound, double value) {
    bound = std::min(bound, value);
  };
  lower(relaxed.choice.bytes, least.bytes);
  for (unsigned i = 0; i < numLayouts; ++i)
    lower(relaxed.exit.leaveSeconds[i], least.seconds + exit.leaveSeconds[i]);
  for (unsigned i = 0; i < 3; ++i)
    lower(relaxed.exit.headSeconds[i], least.seconds + exit.headSeconds[i]);
}

void DimOptimizer::relax(unsigned body) {
  const Trellis &trellis = tables.trellis(body);
  variationOf[body] = numberVariations(trellis.exits);
  unsigned numVariations = 0;
  for (unsigned variation : variationOf[body])
    numVariations = std::max(numVariations, variation + 1);

  for (Dim anchor : dimList) {
    std::vector<RelaxedLayer> &list = relaxed[body][static_cast<int>(anchor)];
    list.resize(numVariations);
    if (!contains(domain(trellis.steps.front().variable), anchor))
      continue;
    const std::vector<LeastCost> least = leastCosts(trellis, anchor, domains);
    for (size_t exit = 0; exit < least.size(); ++exit)
      if (least[exit].seconds < infinity)
        include(list[variationOf[body][exit]], trellis.exits[exit],
                least[exit]);
    for (RelaxedLayer &layer : list) {
      layer.choice.anchor = trellis.anchors[static_cast<int>(anchor)];
      layer.choice.exit = &layer.exit;
    }
  }
}

const RelaxedLayer &DimOptimizer::relaxedLayer(const Frame &frame,
                                               unsigned body) const {
  const BodyFrame &fixed = frame.bodies[body];
  return relaxed[body][static_cast<int>(fixed.anchor)][fixed.variation];
}

void DimOptimizer::addFrames(Frame &frame, unsigned body) {
  if (body == numBodies) {
    for (Dim head : dimList) {
      frame.head = head;
      if (contains(domain(model.head.variable), head))
        addFrame(frame);
    }
    return;
  }
  for (Dim anchor : dimList) {
    const auto &list = relaxed[body][static_cast<int>(anchor)];
    for (unsigned variation = 0; variation < list.size(); ++variation) {
      if (!list[variation].exists)
        continue;
      frame.bodies[body] = {anchor, variation};
      layers[body] = list[variation].choice;
      addFrames(frame, body + 1);
    }
  }
}

void DimOptimizer::addFrame(Frame frame) {
  const Pipeline pipeline = tables.assemble(frame.embed, frame.head, layers);
  leastBytes = std::min(leastBytes, pipeline.maxBytes);
  const Reason reason = violated(pipeline, tables);
  // The last obstacle that any frame meets.
  infeasible = reason == Reason::None || infeasible == Reason::None
                   ? Reason::None
                   : std::max(infeasible, reason);
  if (reason != Reason::None)
    return;
  frame.bound = score(pipeline);
  frames.push_back(frame);
}

DimsBound DimOptimizer::bound() const {
  DimsBound result;
  result.infeasible = infeasible;
  result.leastBytes = leastBytes;
  double best = -infinity;
  for (const Frame &frame : frames)
    best = std::max(best, frame.bound);
  if (infeasible == Reason::None)
    result.value = valueOf(best);
  return result;
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

std::optional<Optimum> DimOptimizer::solve(std::optional<double> incumbent) {
  if (incumbent)
    bestScore = valueOf(*incumbent);
  pathsOf.resize(numBodies);
  candidatesOf.resize(numBodies);
  chosen.resize(numBodies);
  std::stable_sort(
      frames.begin(), frames.end(),
      [](const Frame &a, const Frame &b) { return a.bound > b.bound; });
  for (const Frame &frame : frames) {
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
  std::optional<LayerPaths> &found = pathsOf[body][static_cast<int>(anchor)];
  if (!found)
    found.emplace(tables.trellis(body), anchor, domains);
  return *found;
}

void DimOptimizer::solveFrame(const Frame &frame) {
  for (unsigned body = 0; body < numBodies; ++body)
    layers[body] = relaxedLayer(frame, body).choice;
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
double DimOptimizer::assembledScore(const Frame &frame) const {
  const Pipeline pipeline = tables.assemble(frame.embed, frame.head, layers);
  return violated(pipeline, tables) == Reason::None ? score(pipeline)
                                                    : -infinity;
}

/// The walks of `body` that can still be part of an optimum, best bound first;
/// all `layers` are relaxed before and after.
std::vector<Candidate> DimOptimizer::candidates(const Frame &frame,
                                                unsigned body) {
  const BodyFrame &fixed = frame.bodies[body];
  const LayerChoice relaxedChoice = layers[body];
  std::vector<Candidate> list;
  for (const LayerPaths::Path &path : paths(body, fixed.anchor).paths()) {
    if (variationOf[body][path.exit] != fixed.variation)
      continue;
    layers[body] = layerOf(path, tables.trellis(body), relaxedChoice.anchor);
    const double bound = assembledScore(frame);
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
void DimOptimizer::choose(const Frame &frame, unsigned body) {
  const LayerChoice relaxedChoice = layers[body];
  for (const Candidate &candidate : candidatesOf[body]) {
    if (cannotImprove(candidate.bound))
      break;
    chosen[body] = candidate.path;
    layers[body] =
        layerOf(*candidate.path, tables.trellis(body), relaxedChoice.anchor);
    if (body + 1 == numBodies) {
      const Pipeline pipeline =
          tables.assemble(frame.embed, frame.head, layers);
      if (judge(pipeline, tables.context(), tables.costs().limits()).valid)
        offer(frame, score(pipeline));
    } else if (const double bound = assembledScore(frame);
               bound > -infinity && !cannotImprove(bound)) {
      choose(frame, body + 1);
    }
  }
  layers[body] = relaxedChoice;
}

/// Takes the chosen walks if they beat the best so far, or at first equal it.
void DimOptimizer::offer(const Frame &frame, double score) {
  if (bestDims.empty() ? score < bestScore : score <= bestScore)
    return;
  bestScore = score;
  bestDims.resize(model.numVariables());
  bestDims[model.embed.variable] = frame.embed;
  bestDims[model.head.variable] = frame.head;
  for (unsigned body = 0; body < numBodies; ++body)
    paths(body, frame.bodies[body].anchor).writeDims(*chosen[body], bestDims);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

DimsBound cost::boundDims(const Tables &tables, Span<const DimSet> domains,
                          Objective objective) {
  return DimOptimizer(tables, domains, objective).bound();
}

/// The lexicographically smallest of the optima, of which `optimum` is one.
/// Walks that lost to others before the end can still be as good in the end,
/// where another stage is the slowest; so each variable in turn is tried with
/// smaller dims.
static Optimum smallest(Optimum optimum, const Tables &tables,
                        Span<const DimSet> domains, Objective objective) {
  const double value = objective == Objective::Throughput
                           ? optimum.evaluation.throughput
                           : optimum.evaluation.latencyMs;
  std::vector<DimSet> narrowed(domains.begin(), domains.end());
  for (size_t variable = 0; variable < narrowed.size(); ++variable) {
    for (Dim dim : dimList) {
      narrowed[variable] = only(dim);
      if (dim == optimum.dims[variable])
        break;
      if (!contains(domains[variable], dim))
        continue;
      std::optional<Optimum> other =
          DimOptimizer(tables, narrowed, objective).solve(value);
      if (other) {
        optimum = std::move(*other);
        break;
      }
    }
  }
  return optimum;
}

std::optional<Optimum> cost::optimalDims(const Tables &tables,
                                         Span<const DimSet> domains,
                                         Objective objective,
                                         std::optional<double> incumbent) {
  std::optional<Optimum> optimum =
      DimOptimizer(tables, domains, objective).solve(incumbent);
  if (!optimum)
    return std::nullopt;
  return smallest(std::move(*optimum), tables, domains, objective);
}
