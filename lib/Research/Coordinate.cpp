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
///
/// While moves are pending, it goes on as if none of them improved; one that
/// does is moved to when it is told. Only a new start waits for all of them.
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
  enum class MoveKind { Start, Sweep, Pairs };

  size_t begin() override {
    if (isProposed && !advance())
      return 0;
    while (true) {
      moves = kind == MoveKind::Start   ? std::vector<Point>{space.sample(rng)}
              : kind == MoveKind::Sweep ? singleMoves(variables[next])
                                        : pairMoves(pairs[next]);
      isProposed = true;
      if (!moves.empty())
        break;
      if (!advance())
        return 0;
    }
    drawn = 0;
    return moves.size();
  }

  Point draw() override { return moves[drawn++]; }

  void learn(const std::vector<Point> &points,
             const std::vector<Evaluation> &evaluations) override {
    if (kind == MoveKind::Start) {
      position = points.front();
      current = evaluations.front();
      enter(MoveKind::Sweep);
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
    improved |= moved;
    if (moved && kind == MoveKind::Pairs)
      enter(MoveKind::Sweep);
  }

  /// Goes on to the next variable or pair, or to moves of the next kind; false
  /// where it has to wait.
  bool advance() {
    if (kind == MoveKind::Start)
      return true;
    bool isLast =
        next + 1 == (kind == MoveKind::Sweep ? variables.size() : pairs.size());
    MoveKind to = kind;
    if (isLast && kind == MoveKind::Pairs)
      to = MoveKind::Start;
    else if (isLast && !improved)
      to = pairs.empty() ? MoveKind::Start : MoveKind::Pairs;
    if (to == MoveKind::Start && isAhead())
      return false;
    ++next;
    isProposed = false;
    if (isLast)
      enter(to);
    return true;
  }

  /// A sweep of no variables gives way to a start.
  void enter(MoveKind to) {
    kind = to;
    next = 0;
    improved = false;
    isProposed = false;
    if (kind == MoveKind::Sweep) {
      rng.shuffle(variables);
      if (variables.empty())
        kind = MoveKind::Start;
    } else if (kind == MoveKind::Pairs) {
      rng.shuffle(pairs);
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
  MoveKind kind = MoveKind::Start;
  size_t next = 0;         ///< in `variables` or `pairs`
  bool isProposed = false; ///< whether the moves of `next` are
  bool improved = false;   ///< in this sweep
  std::vector<Point> moves;
  size_t drawn = 0; ///< of `moves`
  Point position;
  Evaluation current; ///< of `position`
};

} // namespace

SearcherPtr makeCoordinate(const SearcherContext &context) {
  return std::make_unique<Coordinate>(context);
}

} // namespace shardopt::search
