//===- DimFrames.h - Bounds on dims that are partly chosen ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_DIMFRAMES_H
#define SHARDOPT_SEARCH_DIMS_DIMFRAMES_H

#include "shardopt/Search/Dims/OptimalDims.h"

#include <array>
#include <vector>

namespace shardopt::cost {

/// A bound is worse than the score that it bounds by this part of itself at
/// most: its sums are rounded in another order.
inline constexpr double boundSlack = 1e-12;

/// The goal, signed so that more is better.
double scoreOf(const Pipeline &pipeline, const Context &context,
               const Limits &limits, Goal goal);
inline double scoreOf(const Pipeline &pipeline, const Tables &tables,
                      Goal goal) {
  return scoreOf(pipeline, tables.context(), tables.costs().limits(), goal);
}

/// Why `pipeline` exceeds a limit by more than rounding, or None.
Reason violatedLimit(const Pipeline &pipeline, const Context &context,
                     const Limits &limits);
inline Reason violatedLimit(const Pipeline &pipeline, const Tables &tables) {
  return violatedLimit(pipeline, tables.context(), tables.costs().limits());
}

/// A layer that no walk of a body beats in any respect, among those from one
/// anchor to exits that vary alike.
struct RelaxedLayer {
  LayerChoice choice; ///< whose exit is `exit`
  Trellis::Exit exit;
  bool exists = false;
};

/// The dims of embedding and head and, for each body, what its layers and those
/// next to them have to agree on.
struct DimFrame {
  struct BodyFrame {
    Dim anchor = Dim::None; ///< of the body's first op
    unsigned variation = 0; ///< what its layers vary by, by number
  };

  Dim embed = Dim::None;
  Dim head = Dim::None;
  std::array<BodyFrame, Model::maxBodies> bodies;
  double bound = 0; ///< score with all layers relaxed
};

/// All frames of some domains, with relaxed layers in the place of all bodies.
/// Metrics are monotone in the seconds and bytes of every layer, so those of a
/// relaxed layer bound those of all layers that it stands for.
class DimFrames {
public:
  DimFrames(const Tables &tables, Span<const DimSet> domains, Goal goal);

  /// The frames that may hold something feasible, best bound first.
  const std::vector<DimFrame> &frames() const { return list; }

  /// Why there are none, or None.
  Reason infeasible() const { return obstacle; }

  /// The least memory that any frame needs on the fullest device.
  double leastBytes() const { return least; }

  const RelaxedLayer &relaxedLayer(const DimFrame &frame, unsigned body) const {
    const DimFrame::BodyFrame &fixed = frame.bodies[body];
    return relaxed[body][int(fixed.anchor)][fixed.variation];
  }

  /// The number of what `exit` of `body` varies by.
  unsigned variationOf(unsigned body, unsigned exit) const {
    return variations[body][exit];
  }

private:
  void relax(unsigned body);
  void addFrames(DimFrame &frame, unsigned body);
  void addFrame(DimFrame frame);
  DimSet domain(unsigned variable) const { return domains[variable]; }

  const Tables &tables;
  const Model &model;
  const Span<const DimSet> domains;
  const Goal goal;

  std::vector<std::vector<unsigned>> variations; ///< by body and exit
  /// By body, anchor and variation.
  std::vector<std::array<std::vector<RelaxedLayer>, maxDims>> relaxed;
  std::vector<LayerChoice> layers; ///< of the frame at hand, by body
  std::vector<DimFrame> list;
  Reason obstacle = Reason::Structural;
  double least = std::numeric_limits<double>::infinity();
};

} // namespace shardopt::cost

#endif // SHARDOPT_SEARCH_DIMS_DIMFRAMES_H
