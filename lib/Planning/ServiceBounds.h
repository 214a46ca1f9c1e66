//===- ServiceBounds.h - What workers serve at most -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds of what a service attains in any number of requests in flight. Their
// proofs are in docs/decisions/0018.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_SERVICEBOUNDS_H
#define SHARDOPT_LIB_PLANNING_SERVICEBOUNDS_H

#include "shardopt/Planning/ServiceSearch.h"

#include <limits>

namespace shardopt::service {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// What the goal and the engine allow requests in flight.
struct LoadLimits {
  LoadLimits(const ServiceGoal &goal, const cost::ServingEngine &engine);

  double answer;   ///< seconds of the steps of an answer, at most
  double first;    ///< seconds to the first token, at most
  double inFlight; ///< requests
  /// Of the steps of an answer, the share that the first token waits for.
  double held;
  /// Of a burst, what one more request in flight adds to the first token in the
  /// mean, and where the limit is: in prompts that prefill workers compute.
  double meanWait, limitWait;
};

/// What prefill workers do together.
struct PrefillPower {
  double rate = unlimited; ///< prompts a second
  double first = 0;        ///< seconds to a first token that waits for none
  bool isExact = false;    ///< and no less than the rate
};

/// Seconds of the steps of an answer by the sequences that a group decodes, of
/// one layout: known where it was asked for, and bounded between.
class AnswerCurve {
public:
  AnswerCurve(const WorkerLayout &layout, const cost::ServingEngine &engine,
              const ServiceGoal &goal);

  const WorkerLayout &layout() const { return *workers; }
  /// Of one sequence alone.
  double leastSeconds() const { return points.front().seconds; }

  /// Requests a second of `count` workers with `prefill`, at most.
  double bound(double count, const PrefillPower &prefill,
               const LoadLimits &limits) const {
    return top(count, prefill, limits).bound;
  }
  /// Makes that bound closer; false: it is as close as is worth it.
  bool refine(double count, const PrefillPower &prefill,
              const LoadLimits &limits);

private:
  struct Point {
    double sequences, seconds;
  };
  struct Top {
    double bound = 0;
    size_t piece = 0;    ///< that begins with this point
    double attained = 0; ///< were the ends of pieces their beginnings
    size_t points = 0;   ///< within the limit on TPOT
  };
  double seconds(double sequences) const;
  double most(size_t piece) const {
    return piece + 1 < points.size() ? points[piece + 1].sequences : room;
  }
  Top top(double count, const PrefillPower &prefill,
          const LoadLimits &limits) const;

  const WorkerLayout *workers;
  const cost::ServingEngine *engine;
  double context, drafts, steps; ///< of an answer
  double room;                   ///< sequences of a group, at least 1
  std::vector<Point> points;     ///< ascending
};

/// What prefill workers attain at most on as many devices, whatever their
/// layout.
class PrefillReach {
public:
  explicit PrefillReach(int64_t devices) : rates(size_t(devices) + 1) {}

  /// One more layout, with at most `most` workers.
  void add(const PrefillPower &one, int64_t devicesEach, int64_t most);
  /// Once all are there.
  void finish();

  PrefillPower on(int64_t devices) const {
    return {rates[size_t(devices)], first};
  }
  int64_t devices() const { return int64_t(rates.size()) - 1; }

private:
  std::vector<double> rates; ///< by devices
  double first = unlimited;
};

} // namespace shardopt::service

#endif // SHARDOPT_LIB_PLANNING_SERVICEBOUNDS_H
