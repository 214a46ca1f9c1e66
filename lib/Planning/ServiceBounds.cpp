//===- ServiceBounds.cpp - What workers serve at most ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceBounds.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::service;

/// Rounding of sums of some dozen terms.
static constexpr double slack = 1 + 1e-12;

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// Steps of an answer.
static double stepsOf(const cost::ServingLoad &load) {
  return std::max(std::min(1.0, load.outputTokens),
                  load.outputTokens / (1 + load.traits.accepted));
}

/// Of a share `burst` of the requests, which come at once, the i-th waits for i
/// prompts: how many more wait where the limit is, for one more request.
static double burstAt(double burst, int percentile) {
  if (percentile == 0)
    return burst / 2;
  double share = std::min(1.0, burst);
  double late = percentile / 100.0 - (1 - share);
  return late > 0 ? late / share * (burst / share) : 0;
}

LoadLimits::LoadLimits(const ServiceGoal &goal,
                       const cost::ServingEngine &engine)
    : answer(goal.tpot.ms * goal.load.outputTokens * 1e-3 * slack),
      first(goal.ttft.ms * 1e-3 * slack),
      inFlight(goal.load.concurrency > 0 ? goal.load.concurrency : unlimited),
      held((1 + engine.heldSteps) / stepsOf(goal.load)),
      meanWait(goal.load.isOpen ? 0 : engine.burstShare / 2),
      // Goodput may count those alone that do not wait, and none come at once
      // of those that come independently.
      limitWait(goal.isGoodput || goal.load.isOpen
                    ? 0
                    : std::min(meanWait, burstAt(engine.burstShare,
                                                 goal.ttft.percentile))) {}

//===----------------------------------------------------------------------===//
// Decode workers
//===----------------------------------------------------------------------===//

AnswerCurve::AnswerCurve(const WorkerLayout &layout,
                         const cost::ServingEngine &engine,
                         const ServiceGoal &goal)
    : workers(&layout), engine(&engine), context(goal.load.context()),
      drafts(goal.load.traits.drafts), steps(stepsOf(goal.load)),
      room(std::max(1.0, layout.worker.room(context))),
      points{{1, seconds(1)}} {}

double AnswerCurve::seconds(double sequences) const {
  cost::StepMix mix;
  mix.sequences = sequences / double(workers->degrees.pp);
  mix.context = context;
  mix.drafts = drafts;
  return steps *
         (workers->steps->seconds(mix) +
          (engine->launchUs + cost::hostMicroseconds(*engine, sequences)) *
              1e-6);
}

/// Requests a second, at most `rate`, with all in flight that the limit on the
/// first token leaves, where one more adds `wait` to it.
static double rateWithin(double rate, double first, double answer, double wait,
                         const PrefillPower &prefill,
                         const LoadLimits &limits) {
  double inFlight = limits.inFlight;
  if (wait > 0 && prefill.rate < unlimited)
    inFlight = std::min(inFlight, (limits.first - first) * prefill.rate / wait);
  if (!(inFlight < unlimited))
    return rate;
  return std::min(rate, inFlight / (first + answer +
                                    limits.meanWait * inFlight / prefill.rate));
}

/// Requests a second that are answered, where an answer takes `answer` seconds
/// and decode workers end `decoded` a second; `isFull` where more have no room.
static double rateAt(double decoded, bool isFull, double answer,
                     const PrefillPower &prefill, const LoadLimits &limits) {
  double first = prefill.first + limits.held * answer;
  if (first > limits.first)
    return 0;
  double rate = std::min(decoded, prefill.rate);
  auto within = [&](double wait) {
    return slack * rateWithin(rate, first, answer, wait, prefill, limits);
  };
  double mean = limits.meanWait;
  if (isFull || limits.limitWait <= mean)
    return within(std::min(limits.limitWait, mean));
  // Where workers are busy, all wait alike, and longer than a burst does in the
  // mean.
  bool isBusy = (!prefill.isExact || decoded * slack >= prefill.rate) &&
                mean * answer <= (limits.first * (1 - mean) - first) * slack;
  return isBusy ? within(mean) : within(limits.limitWait);
}

AnswerCurve::Top AnswerCurve::top(double count, const PrefillPower &prefill,
                                  const LoadLimits &limits) const {
  double groups = count * workers->worker.groups();
  Top top;
  for (size_t i = 0; i < points.size(); ++i) {
    double answer = points[i].seconds;
    if (answer > limits.answer)
      break;
    ++top.points;
    auto rate = [&](double sequences) {
      return rateAt(groups * sequences / answer, sequences >= room, answer,
                    prefill, limits);
    };
    double bound = rate(most(i));
    if (bound > top.bound) {
      top.bound = bound;
      top.piece = i;
    }
    top.attained = std::max(top.attained, rate(points[i].sequences));
  }
  return top;
}

/// The number between `low` and `high` that others will split at, too: halves
/// of as few octaves as are near the middle.
static double splitOf(double low, double high) {
  double from = std::log2(low), to = std::log2(high);
  double grain = std::exp2(std::floor(std::log2((to - from) / 2)));
  return std::exp2(std::round((from + to) / 2 / grain) * grain);
}

bool AnswerCurve::refine(double count, const PrefillPower &prefill,
                         const LoadLimits &limits) {
  constexpr double near = 1 + 1e-3;
  constexpr size_t mostPoints = 128; // a plateau is told by its loads
  Top found = top(count, prefill, limits);
  if (found.points >= mostPoints)
    return false;
  double low = points[found.piece].sequences, high = most(found.piece);
  if (found.bound <= near * found.attained || high <= near * low)
    return false;
  // Stages work on parts of the sequences, and share their steps.
  auto stages = double(workers->degrees.pp);
  double middle = stages * splitOf(low / stages, high / stages);
  if (!(low < middle && middle < high))
    return false;
  points.insert(points.begin() + ptrdiff_t(found.piece) + 1,
                {middle, seconds(middle)});
  return true;
}

//===----------------------------------------------------------------------===//
// Prefill workers
//===----------------------------------------------------------------------===//

void PrefillReach::add(const PrefillPower &one, int64_t devicesEach,
                       int64_t most) {
  for (int64_t count = 1; count <= most && count * devicesEach <= devices();
       ++count) {
    double &rate = rates[size_t(count * devicesEach)];
    rate = std::max(rate, double(count) * one.rate);
  }
  first = std::min(first, one.first);
}

void PrefillReach::finish() {
  for (size_t i = 1; i < rates.size(); ++i)
    rates[i] = std::max(rates[i], rates[i - 1]);
}
