//===- ServiceLoop.h - Continuous batching at steady state ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What requests take in an engine that batches continuously, as functions of
// the time of a step alone (docs/ServingRuns.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_SERVICELOOP_H
#define SHARDOPT_COST_SERVING_SERVICELOOP_H

#include "shardopt/Cost/Serving/RequestLengths.h"
#include "shardopt/Cost/Serving/ServingEngine.h"
#include "shardopt/Cost/Serving/StepTimes.h"
#include "shardopt/Support/Interval.h"

namespace shardopt::cost {

/// What requests find and let a step verify, apart from their lengths.
struct ServingTraits {
  double drafts = 0;   ///< tokens that a step verifies, and its own
  double accepted = 0; ///< of them, in the mean
  DraftHead drafter;   ///< of drafts that have a cost
  double found = 0;    ///< share of a prompt that a cache has, below 1
  double skew = 0;     ///< by how much the fullest expert group has more
  /// The load of experts, in the place of `skew`; null: it is even.
  std::shared_ptr<const ExpertShares> shares = nullptr;
};

/// Requests, in the mean.
struct ServingLoad : RequestLengths {
  double concurrency = 1; ///< requests in flight
  /// Requests come independently of each other (Poisson), and not as others
  /// end: they queue for their prompts to be computed, and none come at once.
  bool isOpen = false;
  ServingTraits traits = {};
};

/// One engine instance: its steps, and what its devices have.
struct ServingWorker {
  const StepTimes *steps = nullptr;
  double memoryBytes = 0;      ///< of a device, for weights and caches
  double networkBytesPerS = 0; ///< of a device, per direction

  double groups() const { return double(steps->degrees().dp); }
  /// Sequences of `context` tokens for whose caches an attention group has
  /// room; 0 where the weights leave none.
  double room(double context) const;
};

/// Where the mean and parts of the requests are, milliseconds; `Number` is
/// exact, or an interval that contains it.
template <typename Number> struct TimeOf {
  Number ms = 0, p50 = 0, p90 = 0, p99 = 0;

  /// Of the requests that wait for no other, with a bell of `deviation` around
  /// it. The share `burst` waits for up to `longest` more, all for as long.
  Number early = 0, deviation = 0, longest = 0;
  double burst = 0;

  /// The share of the requests that take at most `limit` milliseconds; of an
  /// interval the largest.
  double within(double limit) const;
};

/// With the band that 80 % of measured runs are in.
struct ServingTime : TimeOf<double> {
  double low = 0, high = 0;
};

struct ServingTimes {
  ServingTime tpot, ttft;
  /// Requests a second of all that are in flight: their number over the time
  /// of one, which is TTFT and `outputTokens` times TPOT.
  double requestsPerS = 0;
  double sequences = 0; ///< decoding in an attention group, in the mean
  double admitted = 0;  ///< requests in flight in a group; the others wait
  double sentUs = 0;    ///< of TTFT: the transfer of a cache
  double busy = 0;      ///< share of their time that prefill workers compute
  StepTerms step;       ///< of one that only decodes
  double hostUs = 0;    ///< that the engine adds to such a step
};

/// The times of all loads in an interval.
struct ServingBounds {
  TimeOf<Interval> tpot, ttft;
  Interval requestsPerS;
};

/// What the host of an engine adds to a step of `sequences`.
double hostMicroseconds(const ServingEngine &engine, double sequences);

/// Equal workers of one role.
struct ServingPool {
  ServingWorker worker;
  double count = 1;
};

/// Requests in flight in one worker that prefills and decodes.
class AggregatedLoop {
public:
  /// `load.concurrency` counts for nothing.
  AggregatedLoop(const ServingWorker &worker, const ServingEngine &engine,
                 const ServingLoad &load);

  /// Requests for whose caches the worker has room; 0: none.
  double room() const { return roomOfGroup * worker.groups(); }
  /// With so many requests in flight; there is room for one at least.
  ServingTimes at(double concurrency) const;
  /// Whatever their number in `concurrency`.
  ServingBounds within(Interval concurrency) const;

private:
  template <typename Number> struct Answer;
  template <typename Number> Answer<Number> run(Number concurrency) const;

  ServingWorker worker;
  ServingEngine engine;
  ServingLoad load;
  double roomOfGroup = 0, alone = 0;
  double reading = 0; ///< of a prompt, in steps that read nothing else
};

/// Where `prefill` workers compute prompts and send the caches to `decode`
/// workers.
class DisaggregatedLoop {
public:
  DisaggregatedLoop(const ServingPool &prefill, const ServingPool &decode,
                    const ServingEngine &engine, const ServingLoad &load);

  bool hasRoom() const { return isRoom; }
  /// Requests a second that prefill workers compute.
  double prefillRate() const { return 1e6 * reading; }
  /// Seconds of a step with prompts by what takes them, and the microseconds
  /// that the engine adds.
  std::pair<StepTerms, double> prefillStep() const;
  /// Requests in flight beyond which more only wait.
  double most() const;
  ServingTimes at(double concurrency) const;
  ServingBounds within(Interval concurrency) const;

private:
  template <typename Number> struct Answer;
  template <typename Number> Answer<Number> run(Number concurrency) const;

  ServingPool prefill, decode;
  ServingEngine engine;
  ServingLoad load;
  bool isRoom = false;
  double groups = 1, roomOfGroup = 0; ///< of the decode workers
  double alone = 0, reading = 0, sent = 0;
  double single = 0; ///< an answer that is decoded alone
};

/// Mean times of requests with `load` in one worker; an error where no request
/// has room.
ErrorOr<ServingTimes> serveAggregated(const ServingWorker &worker,
                                      const ServingEngine &engine,
                                      const ServingLoad &load);
ErrorOr<ServingTimes> serveDisaggregated(const ServingPool &prefill,
                                         const ServingPool &decode,
                                         const ServingEngine &engine,
                                         const ServingLoad &load);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_SERVICELOOP_H
