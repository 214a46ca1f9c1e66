//===- Admission.cpp - What may still be evaluated ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Admission.h"

namespace shardopt::search {

bool Admission::admit(const Point &point) {
  if (!space.fits(point))
    return false;
  bool isRefused =
      known.count(point) || (isHopeless && isHopeless(space.degreesAt(point)));
  numRefused += isRefused;
  return !isRefused;
}

std::vector<Point> Admission::firstOfHopeful() const {
  std::vector<Point> points;
  Strategy strategy = space.strategyAt(Point(space.numVariables(), 0));
  for (const Degrees &degrees : space.degreeTuples()) {
    strategy.degrees = degrees;
    if (!isHopeless || !isHopeless(degrees))
      points.push_back(*space.pointOf(strategy));
  }
  return points;
}

/// The next dims of the same degrees, in ascending order; false after the last.
static bool nextDims(Point &point, const StrategySpace &space) {
  for (size_t i = point.size(); i-- > space.firstDim();) {
    point[i] = (point[i] + 1) % space.domainSize(i);
    if (point[i] != 0)
      return true;
  }
  return false;
}

std::optional<Point> Admission::drawUniform(Rng &rng) {
  constexpr int mostDraws = 1000;
  for (int i = 0; i < mostDraws; ++i) {
    Point point = space.sample(rng);
    if (admit(point))
      return point;
  }
  if (!hopeful)
    hopeful = firstOfHopeful();
  for (int i = 0; i < mostDraws && !hopeful->empty(); ++i) {
    Point point = (*hopeful)[rng.below(hopeful->size())];
    for (size_t v = space.firstDim(); v < point.size(); ++v)
      point[v] = uint32_t(rng.below(space.domainSize(v)));
    if (admit(point))
      return point;
  }
  // No more steps than strategies are known, and one.
  for (Point point : *hopeful)
    do
      if (!known.count(point))
        return point;
    while (nextDims(point, space));
  return std::nullopt;
}

} // namespace shardopt::search
