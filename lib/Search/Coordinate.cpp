//===- Coordinate.cpp - searcher=coordinate -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenerationSearcher.h"
#include "Moves.h"
#include "Searchers.h"

#include <utility>

namespace shardopt::search {

namespace {

/// Coordinate descent with restarts. Degrees are coupled through memory: from
/// most local optima of single variables another pair of degrees leads on, so
/// all values of each pair are tried before a restart.
///
///   start: a random point; then
///   sweep: every free variable in random order, to its best value each time,
///          until a sweep changes nothing; then
///   pairs: every pair of degrees in random order; the first that improves
///          leads back to a sweep, and if none does, to a start.
class Coordinate : public GenerationSearcher {
public:
  explicit Coordinate(const SearcherContext &context)
      : GenerationSearcher(context), variables(freeVariables(space)) {
    for (size_t i = 0; i < variables.size(); ++i)
      for (size_t j = i + 1; j < variables.size(); ++j)
        if (variables[j] < space.firstDim())
          pairs.push_back({variables[i], variables[j]});
  }

private:
  enum class Phase { Start, Sweep, Pairs };

  std::vector<Point> propose() override {
    while (true) {
      if (phase == Phase::Start)
        return {space.sample(rng)};
      std::vector<Point> points = phase == Phase::Sweep
                                      ? singleMoves(variables[next])
                                      : pairMoves(pairs[next]);
      if (!points.empty())
        return points;
      advance();
    }
  }

  void learn(const std::vector<Point> &points,
             const std::vector<Evaluation> &evaluations) override {
    if (phase == Phase::Start) {
      position = points.front();
      current = evaluations.front();
      enter(Phase::Sweep);
      return;
    }
    bool moved = false;
    for (size_t i = 0; i < points.size(); ++i) {
      if (!objective.better(evaluations[i], current))
        continue;
      position = points[i];
      current = evaluations[i];
      moved = true;
    }
    if (moved && phase == Phase::Pairs)
      return enter(Phase::Sweep);
    improved |= moved;
    advance();
  }

  /// Goes on to the next variable or pair, or to the next phase.
  void advance() {
    ++next;
    if (phase == Phase::Sweep && next == variables.size())
      enter(improved ? Phase::Sweep : Phase::Pairs);
    else if (phase == Phase::Pairs && next == pairs.size())
      enter(Phase::Start);
  }

  /// A phase that has nothing to try gives way to the one after it.
  void enter(Phase to) {
    phase = to;
    next = 0;
    improved = false;
    if (phase == Phase::Sweep) {
      rng.shuffle(variables);
      if (variables.empty())
        phase = Phase::Start;
    } else if (phase == Phase::Pairs) {
      rng.shuffle(pairs);
      if (pairs.empty())
        phase = Phase::Start;
    }
  }

  /// `position` with every other value of `variable`, where it fits.
  std::vector<Point> singleMoves(size_t variable) const {
    std::vector<Point> points;
    Point point = position;
    for (uint32_t value = 0; value < space.domainSize(variable); ++value) {
      point[variable] = value;
      if (value != position[variable] && space.fits(point))
        points.push_back(point);
    }
    return points;
  }

  /// `position` with other values of both degrees of `pair`, where they fit.
  std::vector<Point> pairMoves(std::pair<size_t, size_t> pair) const {
    std::vector<Point> points;
    Point point = position;
    for (uint32_t value = 0; value < space.domainSize(pair.first); ++value) {
      if (value == position[pair.first])
        continue;
      point[pair.first] = value;
      for (uint32_t other = 0; other < space.domainSize(pair.second); ++other) {
        point[pair.second] = other;
        if (other != position[pair.second] && space.fits(point))
          points.push_back(point);
      }
    }
    return points;
  }

  std::vector<size_t> variables;                ///< in the order of the sweep
  std::vector<std::pair<size_t, size_t>> pairs; ///< of free degrees
  Phase phase = Phase::Start;
  size_t next = 0;       ///< in `variables` or `pairs`
  bool improved = false; ///< in this sweep
  Point position;
  Evaluation current; ///< of `position`
};

} // namespace

SearcherPtr makeCoordinate(const SearcherContext &context) {
  return std::make_unique<Coordinate>(context);
}

} // namespace shardopt::search
