//===- Serving.cpp - Continuous batching at steady state ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving.h"

#include "shardopt/Cost/ServingMemory.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

/// Requests of `context` tokens for whose caches a device has room, at most
/// `wanted`; 0 where there is none for one.
static double admitted(const CalibratedKernels &kernels,
                       const ServingSetup &setup, double context,
                       double wanted) {
  const ServingMemory memory = memoryOf(setup);
  const double room =
      usableBytes(kernels.calibration().sheet.memoryBytes) - memory.weights();
  const double perRequest = memory.cache(context);
  return room < perRequest || room <= 0
             ? 0
             : std::min(wanted, perRequest > 0 ? room / perRequest : wanted);
}

static Error noRoom() {
  return Error{"the weights leave no memory for the cache of one request"};
}

static ServingTime within(double ms, ServingBand band, const ServedModel &of) {
  // Wider by half for models of which nothing was measured.
  const double power = of.isMeasured ? 1 : 1.5;
  return {ms, ms * std::pow(band.low, power), ms * std::pow(band.high, power),
          ms, ms};
}

namespace {
/// Of a time that requests have, the mean, and how they differ in it.
struct Spread {
  double mean = 0;      ///< microseconds
  double deviation = 0; ///< of a bell around it
  /// A share of the requests, which come at once, waits for up to `longest`
  /// more than the others: the i-th of n for i / n of it.
  double share = 0, longest = 0;

  /// The time that `part` of the requests, 0.5 or more, are within.
  double quantile(double part, double bells) const {
    const double others = mean - share * longest / 2;
    const double late = part - (1 - share);
    return others + bells * deviation + (late > 0 ? late / share * longest : 0);
  }
};
} // namespace

static ServingTime timeOf(const Spread &spread, ServingBand band,
                          const ServedModel &model) {
  constexpr double bellsOf90 = 1.2816;
  ServingTime time = within(spread.mean / 1e3, band, model);
  time.p50 = spread.quantile(0.5, 0) / 1e3;
  time.p90 = spread.quantile(0.9, bellsOf90) / 1e3;
  return time;
}

/// Where a share `burst` of `requests` comes at once, and each takes `each`.
static Spread waitInBurst(double burst, double requests, double each) {
  Spread spread;
  spread.mean = burst * requests / 2 * each;
  spread.share = std::min(1.0, burst);
  spread.longest = spread.share > 0 ? 2 * spread.mean / spread.share : 0;
  return spread;
}

static ServingTimes timesOf(const ServingEngine &engine,
                            const ServedModel &model, const Spread &tpot,
                            const Spread &ttft) {
  ServingTimes times;
  times.tpot = timeOf(
      tpot, model.experts > 0 ? engine.expertTpot : engine.denseTpot, model);
  times.ttft = timeOf(ttft, engine.ttft, model);
  return times;
}

/// What the host adds to a step of `sequences`.
static double hostUs(const ServingEngine &engine, double sequences) {
  double us = engine.alwaysUs * sequences;
  if (engine.isCpuBound)
    us += engine.sequenceUs * sequences;
  if (engine.isCpuBound || engine.kind == EngineKind::Sglang)
    us += engine.stepUs;
  return us;
}

/// Least time of a step that reads a prompt, which is no graph.
static double eagerUs(const ServingEngine &engine, const ServedModel &model) {
  return engine.isCpuBound && model.experts == 0
             ? engine.eagerLayerUs * model.layers()
             : 0;
}

namespace {
/// How prompts are read, at most `most` tokens of one in a step, and in how
/// many steps an answer is made.
struct Course {
  Course(const ServingLoad &load, double most)
      : steps(std::max(std::min(1.0, load.outputTokens),
                       load.outputTokens / (1 + load.traits.accepted))) {
    const double read = std::max(std::min(1.0, load.inputTokens),
                                 load.inputTokens * (1 - load.traits.found));
    chunk = std::min(read, most);
    chunks = read / chunk;
  }
  double chunk, chunks, steps;
};
} // namespace

ErrorOr<ServingTimes> cost::serveAggregated(const CalibratedKernels &kernels,
                                            const ServingSetup &setup,
                                            const ServingEngine &engine,
                                            const ServingLoad &load) {
  ErrorOr<ServingStep> step = ServingStep::create(kernels, setup, engine);
  if (!step)
    return step.error();
  const double in = load.inputTokens, out = load.outputTokens;
  const double context = in + out / 2;
  const double wanted = load.concurrency / setup.attentionDp;
  const double inFlight = admitted(kernels, setup, context, wanted);
  if (inFlight <= 0)
    return noRoom();

  const Course course(load, engine.chunkTokens);
  const double floor = eagerUs(engine, setup.model);
  auto withChunks = [&](double sequences, double prompts) {
    return std::max(step->terms({sequences, context, prompts * course.chunk, in,
                                 load.traits})
                        .sum(),
                    floor);
  };
  const double alone = course.chunks * withChunks(0, 1);
  const double mostTogether = std::max(1.0, engine.chunkTokens / course.chunk);

  // A request decodes for `share` of its time. While others do, prompts refill
  // the batch, and ride on steps of theirs, or have steps of their own. Those
  // of a step are read together: what comes while one lasts, or, where requests
  // that were read together end together, as many as a step holds. They do not
  // wait for each other.
  const bool endTogether = engine.readsApart && engine.hasEqualLengths;
  double decoding = std::max(1.0, inFlight), together = 1;
  double whole = 0, plain = 0; // of a step
  double refills = 0, extra = 0;
  ServingStep::Terms decode;
  for (int i = 0; i != 3; ++i) {
    decode = step->terms({decoding, context, 0, 0, load.traits});
    plain = decode.sum();
    together = std::clamp(endTogether ? inFlight : refills, 1.0, mostTogether);
    extra = course.chunks / together *
            (engine.readsApart ? withChunks(0, together)
                               : withChunks(decoding, together) - plain);
    const double decodes = course.steps * (i == 0 ? plain : whole);
    const double share = decodes / (decodes + alone + plain);
    decoding = std::max(1.0, inFlight * share);
    refills = std::max(0.0, inFlight - together) * share / course.steps;
    if (engine.isOneBurst)
      refills /= 2;
    whole = plain + refills * extra + hostUs(engine, inFlight);
  }
  const double answer = course.steps * whole;
  // Groups of prompts come independently of each other while an answer is made.
  Spread tpot;
  tpot.mean = answer / out;
  tpot.deviation = std::sqrt(refills * course.steps * together) * extra / out;
  Spread ttft = waitInBurst(engine.burstShare, inFlight, alone);
  ttft.mean += engine.firstTokenMs * 1e3 + alone + plain +
               engine.heldSteps * whole +
               (wanted - inFlight) / inFlight * answer;
  ServingTimes times = timesOf(engine, setup.model, tpot, ttft);
  times.sequences = decoding;
  times.admitted = inFlight;
  times.step = decode;
  return times;
}

ErrorOr<ServingTimes> cost::serveDisaggregated(const CalibratedKernels &kernels,
                                               const ServingWorkers &readers,
                                               const ServingWorkers &decoders,
                                               const ServingEngine &engine,
                                               const ServingLoad &load,
                                               const CalibratedKernels *other) {
  const CalibratedKernels &reads = other ? *other : kernels;
  ErrorOr<ServingStep> read = ServingStep::create(reads, readers.setup, engine);
  ErrorOr<ServingStep> decode =
      ServingStep::create(kernels, decoders.setup, engine);
  if (!read || !decode)
    return read ? decode.error() : read.error();
  const double in = load.inputTokens, out = load.outputTokens;
  const double context = in + out / 2;
  const double groups = decoders.count * decoders.setup.attentionDp;
  const double room =
      admitted(kernels, decoders.setup, context, load.concurrency / groups);
  if (room <= 0 || admitted(reads, readers.setup, in, 1) <= 0)
    return noRoom();

  const Course course(load, engine.chunkTokens);
  const double alone =
      course.chunks *
      std::max(read->terms({0, context, course.chunk, in, load.traits}).sum(),
               eagerUs(engine, readers.setup.model));
  const double reading = readers.count * readers.setup.attentionDp / alone;
  const double network = std::min(kernels.device.network, reads.device.network);
  const double sent = cacheBytesPerToken(decoders.setup) * in / (0.8 * network);

  // Requests circulate: what does not decode is read, or waits to be.
  double decoding = std::max(1.0, room), answer = 0, waiting = 0;
  ServingStep::Terms terms;
  for (int i = 0; i != 8; ++i) {
    terms = decode->terms({decoding, context, 0, 0, load.traits});
    answer = course.steps * (terms.sum() + hostUs(engine, decoding));
    const double turn = alone + sent + answer;
    // No more decode than there is room for.
    const double rate =
        std::min({load.concurrency / turn, reading, groups * room / answer});
    waiting = std::max(0.0, load.concurrency / rate - turn);
    decoding = std::clamp(rate * answer / groups, 1.0, std::max(1.0, room));
  }
  Spread tpot, ttft;
  tpot.mean = answer / out;
  const Spread burst =
      waitInBurst(engine.burstShare, load.concurrency, 1 / reading);
  if (waiting > burst.mean)
    ttft.mean = waiting;
  else
    ttft = burst;
  ttft.mean += engine.firstTokenMs * 1e3 + alone + sent +
               (1 + engine.heldSteps) * answer / course.steps;
  ServingTimes times = timesOf(engine, decoders.setup.model, tpot, ttft);
  times.sequences = decoding;
  times.admitted = room;
  times.sentUs = sent;
  times.step = terms;
  return times;
}
