//===- ServiceLoads.cpp - The best number of requests in flight -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Branch and bound over intervals of whole numbers.
//
//===----------------------------------------------------------------------===//

#include "ServiceLoads.h"

#include <algorithm>
#include <queue>

using namespace shardopt;
using namespace shardopt::service;
using cost::AggregatedLoop;
using cost::DisaggregatedLoop;

template <typename Loop>
std::optional<Point> Loads<Loop>::at(double concurrency) {
  if (goal.isStopped()) // what is found then is not used
    return std::nullopt;
  ++proof.evaluations;
  if (goal.watch)
    goal.watch->count();
  Point point{concurrency, 0, loop.at(concurrency)};
  const cost::ServingTimes &times = point.times;
  double tpot = goal.tpot.of<double>(times.tpot),
         ttft = goal.ttft.of<double>(times.ttft);
  keepLeast(shortage.leastTpotMs, tpot);
  keepLeast(shortage.leastTtftMs, ttft);
  point.rate = times.requestsPerS;
  if (goal.isGoodput)
    point.rate *= goodShare(goal, times);
  else if (tpot > goal.tpot.ms || ttft > goal.ttft.ms)
    return std::nullopt;
  return point;
}

/// Whether every load within `bounds` misses a limit.
static bool missLimits(const cost::ServingBounds &bounds,
                       const ServiceGoal &goal) {
  if (goal.isGoodput)
    return goodShare(goal, bounds) <= 0;
  return goal.tpot.of<Interval>(bounds.tpot).low > goal.tpot.ms ||
         goal.ttft.of<Interval>(bounds.ttft).low > goal.ttft.ms;
}

template <typename Loop>
double Loads<Loop>::boundOf(int64_t low, int64_t high) {
  if (goal.isStopped())
    return 0;
  ++proof.intervals;
  cost::ServingBounds bounds = loop.within({double(low), double(high)});
  if (missLimits(bounds, goal))
    return 0;
  return bounds.requestsPerS.high *
         (goal.isGoodput ? goodShare(goal, bounds) : 1);
}

template <typename Loop>
void Loads<Loop>::take(int64_t concurrency, std::optional<Point> &found,
                       double &incumbent) {
  std::optional<Point> point = at(double(concurrency));
  if (!point || point->rate <= incumbent)
    return;
  incumbent = point->rate;
  found = std::move(point);
}

template <typename Loop>
std::optional<Point> Loads<Loop>::best(int64_t most, double incumbent) {
  std::optional<Point> found;
  std::priority_queue<Piece> pieces;
  int64_t bounded = 0;
  auto isPromising = [&](const Piece &piece) {
    return piece.bound > incumbent * equal;
  };
  auto add = [&](int64_t low, int64_t high) {
    if (low > high)
      return;
    ++bounded;
    Piece piece{boundOf(low, high), low, high};
    if (isPromising(piece))
      pieces.push(piece);
  };
  // No load has less than the least times of all.
  cost::ServingBounds all =
      loop.within({1, double(std::max<int64_t>(1, most))});
  if (missLimits(all, goal)) {
    at(1); // for what is least
    return std::nullopt;
  }
  double leastMs = all.ttft.ms.low + goal.load.outputTokens * all.tpot.ms.low;
  for (int64_t low = 1; low <= most; low *= 2) {
    int64_t high = std::min(most, 2 * low - 1);
    if (1e3 * double(high) / leastMs > incumbent)
      add(low, high);
  }
  while (!pieces.empty() && isPromising(pieces.top()) &&
         (bounded < mostPieces || incumbent <= 0)) {
    Piece piece = pieces.top();
    pieces.pop();
    take(piece.high, found, incumbent);
    int64_t middle = piece.low + (piece.high - 1 - piece.low) / 2;
    add(piece.low, std::min(middle, piece.high - 1));
    add(std::max(piece.low, middle + 1), piece.high - 1);
  }
  // What attains the rate that is wanted, is enough.
  bool isEnough = found && goal.rate > 0;
  if (!isEnough && !pieces.empty() && isPromising(pieces.top()))
    proof.gap = std::max(proof.gap, pieces.top().bound / incumbent - 1);
  return found ? fewest(std::move(*found)) : found;
}

template <typename Loop> Point Loads<Loop>::fewest(Point found) {
  double rate = found.rate;
  auto low = int64_t(0), high = int64_t(found.concurrency);
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    std::optional<Point> point = at(double(middle));
    if (point && point->rate >= rate) {
      found = std::move(*point);
      high = middle;
    } else {
      low = middle;
    }
  }
  return found;
}

template <typename Loop> Point Loads<Loop>::atRate(Point found, double rate) {
  double low = 0;
  while (found.concurrency - low > 1e-3 * found.concurrency) {
    double middle = (low + found.concurrency) / 2;
    std::optional<Point> point = at(middle);
    if (point && point->rate >= rate)
      found = std::move(*point);
    else
      low = middle;
  }
  return found;
}

template <typename Loop>
static std::optional<double> bestOf(const Loop &loop, double most,
                                    const ServiceGoal &goal, double rate) {
  ServiceProof proof;
  ServiceShortage shortage;
  Loads<Loop> loads(loop, goal, proof, shortage);
  std::optional<Point> found = loads.best(int64_t(most), almost(rate));
  if (!found)
    return std::nullopt;
  return (rate > 0 ? loads.atRate(*found, rate) : *found).concurrency;
}

std::optional<double> service::bestLoad(const AggregatedLoop &loop,
                                        const ServiceGoal &goal, double rate) {
  return bestOf(loop, loop.room(), goal, rate);
}

std::optional<double> service::bestLoad(const DisaggregatedLoop &loop,
                                        const ServiceGoal &goal, double rate) {
  return bestOf(loop, loop.most(), goal, rate);
}

template class shardopt::service::Loads<AggregatedLoop>;
template class shardopt::service::Loads<DisaggregatedLoop>;
