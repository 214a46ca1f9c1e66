//===- Queue.h - Waits of requests that come independently ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_SERVING_QUEUE_H
#define SHARDOPT_LIB_COST_SERVING_QUEUE_H

#include "shardopt/Support/Interval.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace shardopt::cost {

/// How long requests wait that come independently for one of `servers`, which
/// are busy for the share `load` of their time and take one after the other, a
/// unit of time for each. Waits decay as exp(-t servers x), where x is the root
/// of exp(x) - 1 = x / load, as services are equal (Erlang arrivals at one
/// server). The share `late` that waits is Sakasegawa's, times what the tail
/// of one server has more than the share that waits there.
struct EqualServices {
  EqualServices(double load, double servers) {
    constexpr double most = 0.999; // a queue that grows has no waits
    double busy = std::clamp(load, 1e-3, most);
    // Newton's steps come from above: the function is convex.
    double x = std::min(2 / busy - 2, 2 - 2 * std::log(busy));
    for (int i = 0; i != 16; ++i)
      x -= (std::expm1(x) - x / busy) / (std::exp(x) - 1 / busy);
    double tail = (1 - busy) / (busy * std::exp(x) - 1);
    late = std::pow(busy, std::sqrt(2 * (servers + 1)) - 2) * tail;
    decay = x * servers;
  }
  /// What `part` of the requests wait at most, in units.
  double quantile(double part) const {
    return std::max(0.0, std::log(late / (1 - part))) / decay;
  }
  double late, decay;
};

/// The same where a service takes `unit`; `Number` is exact, or an interval.
template <typename Number> class Queue {
public:
  Queue(Number load, double servers, Number unit)
      : most(highOf(load), servers),
        least(isInterval ? EqualServices(lowOf(load), servers) : most),
        unit(unit) {}

  Number quantile(double part) const {
    if constexpr (isInterval)
      return unit * Interval(least.quantile(part), most.quantile(part));
    else
      return unit * most.quantile(part);
  }

private:
  static constexpr bool isInterval = std::is_same_v<Number, Interval>;
  EqualServices most, least;
  Number unit;
};

} // namespace shardopt::cost

#endif // SHARDOPT_LIB_COST_SERVING_QUEUE_H
