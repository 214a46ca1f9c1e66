//===- ServiceLoads.h - The best number of requests in flight ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_SERVICELOADS_H
#define SHARDOPT_LIB_PLANNING_SERVICELOADS_H

#include "shardopt/Planning/ServiceSearch.h"

namespace shardopt::service {

/// Rates that differ by less are taken as equal: so many services are bound by
/// the same prefill workers.
inline constexpr double equal = 1 + 1e-10;

/// A number of requests in flight, and what it attains.
struct Point {
  double concurrency = 0, rate = 0; ///< requests a second
  cost::ServingTimes times;
};

/// Requests in flight of one worker, or of all of a service.
template <typename Loop> class Loads {
public:
  Loads(const Loop &loop, const ServiceGoal &goal, ServiceProof &proof,
        ServiceShortage &shortage)
      : loop(loop), goal(goal), proof(proof), shortage(shortage) {}

  /// The highest rate within the limits for whole numbers from 1 to `most`, if
  /// it is above `incumbent`. After `mostPieces` intervals the search ends, and
  /// what may have been missed is the proof's gap.
  std::optional<Point> best(int64_t most, double incumbent);
  /// Where the limits are met.
  std::optional<Point> at(double concurrency);
  /// The least load, not above that of `found`, that attains `rate`.
  Point atRate(Point found, double rate);

  /// A plateau of many loads, to which bounds come close, takes too long
  /// otherwise.
  static constexpr int64_t mostPieces = 2048;

private:
  struct Piece {
    double bound;
    int64_t low, high;
    bool operator<(const Piece &other) const { return bound < other.bound; }
  };
  /// The fewest in flight, not above those of `found`, that attain its rate.
  Point fewest(Point found);
  /// No load of the piece attains more; 0 if all miss a limit.
  double boundOf(int64_t low, int64_t high);
  void take(int64_t concurrency, std::optional<Point> &found,
            double &incumbent);

  const Loop &loop;
  const ServiceGoal &goal;
  ServiceProof &proof;
  ServiceShortage &shortage;
};

/// The share of the requests within both limits; 0 where fewer than half are
/// within one of them, so that a mean TPOT above its limit counts for nothing.
template <typename Times>
double goodShare(const ServiceGoal &goal, const Times &times) {
  double share = goal.within(times);
  return share < 0.5 ? 0 : share;
}

/// What attains as much attains `rate`, but for rounding.
inline double almost(double rate) { return rate * (1 - 1e-12); }

/// Replaces `least` by what was found, where that is less or `least` is 0.
inline void keepLeast(double &least, double found) {
  if (least == 0 || found < least)
    least = found;
}

} // namespace shardopt::service

#endif // SHARDOPT_LIB_PLANNING_SERVICELOADS_H
