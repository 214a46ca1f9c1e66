//===- ServiceLoop.cpp - Continuous batching at steady state --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formulas are templates over exact numbers and intervals. Steps that process
// more take no less time, so that the ends of an interval bound its steps.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/ServiceLoop.h"
#include "EngineSteps.h"
#include "Queue.h"

#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

namespace {
/// Of a time that requests have, the mean, and how they differ in it:
/// microseconds.
template <typename Number> struct Spread {
  Number mean = 0;
  Number deviation = 0; ///< of a bell around it
  /// A share of the requests, which come at once, waits for up to `longest`
  /// more than the others: the i-th of n for i / n of it.
  double share = 0;
  Number longest = 0;

  /// The time that `part` of the requests, 0.5 or more, are within.
  Number quantile(double part, double bells) const {
    double late = part - (1 - share);
    Number others = mean + bells * deviation - share / 2 * longest;
    return late > 0 ? others + late / share * longest : others;
  }
};
} // namespace

static constexpr double bellsOf90 = 1.2816, bellsOf99 = 2.3263;

template <typename Number>
static TimeOf<Number> timeOf(const Spread<Number> &spread) {
  TimeOf<Number> time;
  time.ms = spread.mean / 1e3;
  time.p50 = spread.quantile(0.5, 0) / 1e3;
  time.p90 = spread.quantile(0.9, bellsOf90) / 1e3;
  time.p99 = spread.quantile(0.99, bellsOf99) / 1e3;
  time.early = (spread.mean - spread.share / 2 * spread.longest) / 1e3;
  time.deviation = spread.deviation / 1e3;
  time.longest = spread.longest / 1e3;
  time.burst = spread.share;
  return time;
}

/// The share of a bell of `deviation` around 0 that is at most `x`.
static double bellBelow(double x, double deviation) {
  if (deviation <= 0)
    return x >= 0 ? 1 : 0;
  return std::erfc(-x / (deviation * std::sqrt(2.0))) / 2;
}

/// Its integral up to `x`.
static double bellArea(double x, double deviation) {
  if (deviation <= 0)
    return std::max(0.0, x);
  constexpr double rootOf2Pi = 2.5066282746310002;
  double u = x / deviation;
  return x * bellBelow(x, deviation) +
         deviation * std::exp(-u * u / 2) / rootOf2Pi;
}

template <typename Number> double TimeOf<Number>::within(double limit) const {
  if (std::isinf(limit))
    return 1;
  double margin = limit - lowOf(early), wait = lowOf(longest);
  // Of deviations the one that has more within the limit.
  double low = lowOf(deviation), high = highOf(deviation);
  double apart = bellBelow(margin, margin >= 0 ? low : high);
  if (burst <= 0 || wait <= 0)
    return apart;
  double least = margin - wait;
  double area = 0;
  if (margin > 0)
    area += bellArea(margin, low) - bellArea(std::max(0.0, least), low);
  if (least < 0)
    area += bellArea(std::min(0.0, margin), high) - bellArea(least, high);
  return (1 - burst) * apart + burst * area / wait;
}

template double TimeOf<double>::within(double limit) const;
template double TimeOf<Interval>::within(double limit) const;

/// Where a share `burst` of `requests` comes at once, and each takes `each`.
template <typename Number>
static Spread<Number> waitInBurst(double burst, Number requests, double each) {
  Spread<Number> spread;
  spread.mean = burst / 2 * each * requests;
  spread.share = std::min(1.0, burst);
  if (spread.share > 0)
    spread.longest = 2 / spread.share * spread.mean;
  return spread;
}

namespace {
/// What those wait for that come independently of each other: prompts that are
/// computed before theirs, or a cache that is free.
template <typename Number> struct Waits {
  Queue<Number> prompts, caches;
  Number busy;   ///< share of the time in which prompts are computed
  Number others; ///< what the other prompts of a step take at most

  /// A step ends for all of its prompts at once: those that came in the time
  /// that one waits are computed with it.
  Number quantile(double part) const {
    Number wait = prompts.quantile(part);
    return largest(wait + least(busy * wait, others), caches.quantile(part));
  }
};
} // namespace

/// First tokens that take `rest` and a wait, with a bell of `own` around it.
/// Those in a queue are not among the requests in flight, and the mean is
/// without it.
template <typename Number>
static TimeOf<Number> firstToken(Number rest, Number own,
                                 const Waits<Number> &waits) {
  auto at = [&](double part, double bells) {
    return (rest + waits.quantile(part) + bells * own) / 1e3;
  };
  TimeOf<Number> ttft;
  ttft.ms = ttft.early = rest / 1e3;
  ttft.p50 = at(0.5, 0);
  ttft.p90 = at(0.9, bellsOf90);
  ttft.p99 = at(0.99, bellsOf99);
  ttft.deviation = own / 1e3;
  return ttft;
}

static ServingTime withBand(const TimeOf<double> &time, ServingBand band) {
  ServingTime all;
  static_cast<TimeOf<double> &>(all) = time;
  all.low = time.ms * band.low;
  all.high = time.ms * band.high;
  return all;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

double ServingWorker::room(double context) const {
  double least = std::numeric_limits<double>::infinity();
  for (const StageMemory &stage : steps->memory(context)) {
    double free = memoryBytes - stage.weights;
    if (free <= 0 || free < stage.cache)
      return 0;
    if (stage.cache > 0)
      least = std::min(least, free / stage.cache);
  }
  return least;
}

double cost::hostMicroseconds(const ServingEngine &engine, double sequences) {
  return hostUs(engine, sequences);
}

/// 1 + 1/2 + ... + 1/n
static double harmonic(double n) {
  double sum = 0;
  for (double i = 1; i <= n; ++i)
    sum += 1 / i;
  return sum;
}

namespace {
/// How prompts are computed, at most `most` tokens of one in a step, and in how
/// many steps an answer is made.
struct Course {
  Course(const ServingLoad &load, double most)
      : steps(answerSteps(load.outputTokens, load.traits.accepted)) {
    double read = computedTokens(load.inputTokens, load.traits.found);
    chunk = std::min(read, most);
    chunks = read / chunk;
  }
  double chunk, chunks, steps;
};

/// Microseconds of the steps of a worker.
struct Steps {
  const ServingWorker &worker;
  const ServingEngine &engine;
  const ServingLoad &load;

  StepMix mix(double sequences, double tokens) const {
    StepMix mix;
    mix.sequences = sequences;
    mix.context = load.context();
    mix.drafts = load.traits.drafts;
    mix.tokens = tokens;
    mix.prompt = load.prompt();
    mix.cached = load.traits.found;
    return mix;
  }
  double us(double sequences, double tokens) const {
    return stepUs(worker, engine, mix(sequences, tokens));
  }
  Interval us(Interval sequences, Interval tokens) const {
    return {us(sequences.low, tokens.low), us(sequences.high, tokens.high)};
  }
  /// One with prompts, of `tokens` tokens.
  template <typename Number>
  Number withPrompts(Number sequences, Number tokens) const {
    return largest(us(sequences, tokens),
                   Number(eagerUs(engine, worker.steps->costs().model())));
  }
  StepTerms terms(double sequences, double tokens = 0) const {
    StepMix all = mix(sequences, tokens);
    all.sequences /= double(worker.steps->degrees().pp);
    return worker.steps->terms(all);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Aggregated
//===----------------------------------------------------------------------===//

template <typename Number> struct AggregatedLoop::Answer {
  TimeOf<Number> tpot, ttft;
  Number rate, decoding, sequences, inFlight;
};

AggregatedLoop::AggregatedLoop(const ServingWorker &worker,
                               const ServingEngine &engine,
                               const ServingLoad &load)
    : worker(worker), engine(engine), load(load),
      roomOfGroup(worker.room(load.context())) {
  if (roomOfGroup <= 0)
    return;
  Course course(load, engine.chunkTokens);
  Steps steps{worker, engine, load};
  alone = course.chunks * steps.withPrompts(0.0, course.chunk);
  double together = std::max(1.0, engine.chunkTokens / course.chunk);
  reading = course.chunks * steps.withPrompts(0.0, course.chunk * together) /
            together;
}

template <typename Number>
AggregatedLoop::Answer<Number> AggregatedLoop::run(Number concurrency) const {
  double out = load.outputTokens;
  Course course(load, engine.chunkTokens);
  Steps steps{worker, engine, load};
  Number wanted = concurrency / worker.groups();
  Number inFlight = least(wanted, Number(roomOfGroup));
  Number mostTogether = std::max(1.0, engine.chunkTokens / course.chunk);

  // A request decodes for a share of its time. While others do, prompts refill
  // the batch, and ride on steps of theirs, or have steps of their own. Those
  // of a step are computed together: what comes while one lasts, or, where
  // requests that began together end together, as many as a step holds. They do
  // not wait for each other.
  bool endTogether =
      !load.isOpen && engine.readsApart && engine.hasEqualLengths;
  Number decoding = largest(Number(1.0), inFlight), together = 1;
  Number whole = 0, plain = 0; // of a step
  Number refills = 0, extra = 0, sequences = decoding;
  for (int i = 0; i != 3; ++i) {
    sequences = decoding;
    plain = steps.us(sequences, Number(0.0));
    together = least(largest(endTogether ? inFlight : refills, Number(1.0)),
                     mostTogether);
    Number tokens = course.chunk * together;
    extra = engine.readsApart ? steps.withPrompts(Number(0.0), tokens)
                              : steps.withPrompts(sequences, tokens) - plain;
    extra = course.chunks * extra / together;
    Number decodes = course.steps * (i == 0 ? plain : whole);
    Number share = 1.0 / (1.0 + (alone + plain) / decodes);
    decoding = largest(Number(1.0), inFlight * share);
    refills = largest(Number(0.0), inFlight - together) * share / course.steps;
    if (engine.isOneBurst && !load.isOpen)
      refills /= 2;
    whole = plain + refills * extra + hostUs(engine, inFlight);
  }
  Number answer = course.steps * whole;
  // The steps of a prompt in which `others` are computed and decoded, too.
  auto amongOthers = [&](Number others) {
    return course.chunks * steps.withPrompts(engine.readsApart ? 0 : sequences,
                                             course.chunk * others);
  };
  // Groups of prompts come independently of each other while an answer is made.
  Spread<Number> tpot;
  tpot.mean = answer / out;
  tpot.deviation = root(refills * course.steps * together) * extra / out;
  Spread<Number> ttft =
      waitInBurst(load.isOpen ? 0 : engine.burstShare, inFlight, alone);
  ttft.deviation = load.deviation() * alone;
  ttft.mean += engine.firstTokenMs * 1e3 + engine.heldSteps * whole;
  // Who comes on its own comes within a step, whose rest passes; and those that
  // come while its prompt is computed are in the step with its first token.
  if (load.isOpen) {
    Number own = amongOthers(1);
    Number next = least(refills / whole * own, mostTogether);
    ttft.mean += plain / 2 + own + plain + next * extra / course.chunks;
  } else {
    ttft.mean += alone + plain;
  }
  // Until all groups have a prompt: the last of the others' exponential waits.
  if (double groups = worker.groups(); engine.balanceSteps > 0)
    ttft.mean += least(engine.balanceSteps * whole,
                       harmonic(groups - 1) * (ttft.mean + answer) / inFlight);
  // The prompts of all that are in flight are read while one of them is. Those
  // without room wait for as many requests to end.
  Number life = ttft.mean + answer, full = largest(life, inFlight * reading);
  ttft.mean = largest(ttft.mean, full - answer) +
              largest(Number(0.0), wanted - roomOfGroup) / roomOfGroup * full;
  Number rate =
      1e6 * worker.groups() * least(inFlight / life, Number(1 / reading));
  TimeOf<Number> first = timeOf(ttft);
  if (load.isOpen) {
    // A request goes to the group with the fewest in flight. Most of them
    // decode, so that prompts come to a group as if at random. Services that
    // differ make waits longer by their variance (Kingman).
    Number each = amongOthers(mostTogether) / mostTogether;
    Number busy = least(rate / 1e6 / worker.groups() * each, Number(1.0));
    double varies = 1 + load.deviation() * load.deviation();
    Queue<Number> caches(decoding / roomOfGroup, roomOfGroup, answer);
    first = firstToken(
        ttft.mean, ttft.deviation,
        Waits<Number>{
            {busy, 1, varies * each}, caches, busy, (mostTogether - 1) * each});
  }
  return {timeOf(tpot), first, rate, decoding, sequences, inFlight};
}

ServingTimes AggregatedLoop::at(double concurrency) const {
  Answer<double> answer = run(concurrency);
  bool hasExperts = worker.steps->costs().model().hasExperts();
  ServingTimes times;
  times.tpot =
      withBand(answer.tpot, hasExperts ? engine.expertTpot : engine.denseTpot);
  times.ttft = withBand(answer.ttft, engine.ttft);
  times.sequences = answer.decoding;
  times.requestsPerS = answer.rate;
  times.admitted = answer.inFlight;
  times.step = Steps{worker, engine, load}.terms(answer.sequences);
  times.hostUs = engine.launchUs + hostUs(engine, answer.inFlight);
  return times;
}

ServingBounds AggregatedLoop::within(Interval concurrency) const {
  Answer<Interval> answer = run(concurrency);
  return {answer.tpot, answer.ttft, answer.rate};
}

//===----------------------------------------------------------------------===//
// Disaggregated
//===----------------------------------------------------------------------===//

template <typename Number> struct DisaggregatedLoop::Answer {
  TimeOf<Number> tpot, ttft;
  Number rate, decoding, sequences;
};

DisaggregatedLoop::DisaggregatedLoop(const ServingPool &prefill,
                                     const ServingPool &decode,
                                     const ServingEngine &engine,
                                     const ServingLoad &load)
    : prefill(prefill), decode(decode), engine(engine), load(load),
      groups(decode.count * decode.worker.groups()) {
  double in = load.inputTokens;
  roomOfGroup = decode.worker.room(load.context());
  isRoom = roomOfGroup > 0 && prefill.worker.room(in) > 0;
  if (!isRoom)
    return;
  Course course(load, engine.chunkTokens);
  Steps reads{prefill.worker, engine, load};
  alone = course.chunks * reads.withPrompts(0.0, course.chunk);
  reading = prefill.count * prefill.worker.groups() / alone;
  double network =
      std::min(decode.worker.networkBytesPerS, prefill.worker.networkBytesPerS);
  sent = decode.worker.steps->cacheBytes(in) / (networkShare * network) * 1e6;
  Steps decodes{decode.worker, engine, load};
  single = course.steps * (decodes.us(1.0, 0.0) + hostUs(engine, 1.0));
}

std::pair<StepTerms, double> DisaggregatedLoop::prefillStep() const {
  Course course(load, engine.chunkTokens);
  Steps reads{prefill.worker, engine, load};
  StepTerms terms = reads.terms(/*sequences=*/0, course.chunk);
  return {terms,
          std::max(engine.launchUs,
                   reads.withPrompts(0.0, course.chunk) - 1e6 * terms.sum())};
}

double DisaggregatedLoop::most() const {
  // Those that decode, those on the way to it at the highest rate, and the
  // burst, which is a share of all.
  double step = Steps{decode.worker, engine, load}.us(roomOfGroup, 0.0) +
                hostUs(engine, roomOfGroup);
  double way =
      engine.firstTokenMs * 1e3 + alone + sent + (1 + engine.heldSteps) * step;
  double burst = load.isOpen ? 0 : std::min(engine.burstShare / 2, 0.9);
  return std::ceil((groups * roomOfGroup + reading * way) / (1 - burst));
}

/// Who waits for a prefill worker to be free, waits alike; if none is busy, a
/// burst waits. An interval that is of both contains the times of either.
static TimeOf<double> firstToken(double waiting, const Spread<double> &burst,
                                 double rest) {
  Spread<double> ttft = burst;
  if (waiting > burst.mean) {
    ttft = {waiting, burst.deviation};
  }
  ttft.mean += rest;
  return timeOf(ttft);
}

static TimeOf<Interval>
firstToken(Interval waiting, const Spread<Interval> &burst, Interval rest) {
  Spread<Interval> alike{waiting + rest, burst.deviation}, apart = burst;
  apart.mean += rest;
  TimeOf<Interval> a = timeOf(alike), b = timeOf(apart);
  if (waiting.low > burst.mean.high)
    return a;
  if (waiting.high <= burst.mean.low)
    return b;
  auto hull = [](Interval x, Interval y) {
    return Interval(std::min(x.low, y.low), std::max(x.high, y.high));
  };
  return {hull(a.ms, b.ms),           hull(a.p50, b.p50),
          hull(a.p90, b.p90),         hull(a.p99, b.p99),
          hull(a.early, b.early),     hull(a.deviation, b.deviation),
          hull(a.longest, b.longest), b.burst};
}

template <typename Number>
DisaggregatedLoop::Answer<Number>
DisaggregatedLoop::run(Number concurrency) const {
  double out = load.outputTokens;
  Course course(load, engine.chunkTokens);
  Steps decodes{decode.worker, engine, load};
  Number most =
      largest(Number(1.0), least(Number(roomOfGroup), concurrency / groups));

  // Requests circulate: what does not decode is in prefill, or waits to be. At
  // least a burst of them does.
  Spread<Number> burst = waitInBurst(load.isOpen ? 0 : engine.burstShare,
                                     concurrency, 1 / reading);
  burst.deviation = load.deviation() * alone;
  Number decoding = most, answer = 0, waiting = 0, sequences = most;
  Number rest = 0, rate = 0;
  for (int i = 0; i != 8; ++i) {
    sequences = decoding;
    answer = course.steps *
             (decodes.us(sequences, Number(0.0)) + hostUs(engine, sequences));
    rest = engine.firstTokenMs * 1e3 + alone + sent +
           (1 + engine.heldSteps) / course.steps * answer;
    Number turn = rest + answer;
    // Prefill workers compute no more, and no more decode than have room. The
    // others wait, so that those in flight are the rate times what each takes.
    rate = least(least(concurrency / (turn + burst.mean), Number(reading)),
                 groups * roomOfGroup / answer);
    waiting = largest(Number(0.0),
                      largest(concurrency / reading,
                              concurrency * answer / (groups * roomOfGroup)) -
                          turn);
    decoding = least(largest(rate * answer / groups, Number(1.0)), most);
    // Steady: no further turn changes anything.
    if (lowOf(decoding) == lowOf(sequences) &&
        highOf(decoding) == highOf(sequences))
      break;
  }
  // Prompts that come independently end so, but for what busy workers hold back
  // (Marshall), and the sequences in all groups vary as in a queue in which
  // each takes longer the more there are: by their number over the share of an
  // answer that does not grow with it. An answer sees the mean of its time.
  Number busy = least(rate / reading, Number(1.0));
  Number fixed = least(single / answer, Number(1.0));
  Number varies = (Number(1.0) - fixed / 4) * (Number(1.0) - busy * busy) /
                  (fixed * groups * decoding);
  Spread<Number> tpot;
  tpot.mean = answer / out;
  tpot.deviation =
      largest(answer - single, Number(0.0)) / out *
      least(root(varies),
            largest(roomOfGroup - decoding, Number(0.0)) / decoding);
  TimeOf<Number> ttft;
  if (load.isOpen) {
    // Services that differ make waits longer by their variance (Kingman).
    double unit = alone * (1 + load.deviation() * load.deviation());
    Queue<Number> caches(decoding / roomOfGroup, groups * roomOfGroup, answer);
    ttft = firstToken(
        rest + waiting, burst.deviation,
        Waits<Number>{{busy, prefill.count * prefill.worker.groups(), unit},
                      caches,
                      busy,
                      Number(0.0)});
  } else {
    ttft = firstToken(waiting, burst, rest);
  }
  return {timeOf(tpot), ttft, 1e6 * rate, decoding, sequences};
}

ServingTimes DisaggregatedLoop::at(double concurrency) const {
  Answer<double> answer = run(concurrency);
  ServingTimes times;
  times.tpot = withBand(answer.tpot, engine.apartTpot);
  times.ttft = withBand(answer.ttft, engine.apartTtft);
  times.requestsPerS = answer.rate;
  times.sequences = answer.decoding;
  times.admitted = std::min(roomOfGroup, concurrency / groups);
  times.sentUs = sent;
  times.busy = std::min(1.0, answer.rate / prefillRate());
  times.step = Steps{decode.worker, engine, load}.terms(answer.sequences);
  times.hostUs = engine.launchUs + hostUs(engine, answer.sequences);
  return times;
}

ServingBounds DisaggregatedLoop::within(Interval concurrency) const {
  Answer<Interval> answer = run(concurrency);
  return {answer.tpot, answer.ttft, answer.rate};
}

//===----------------------------------------------------------------------===//
// Single loads
//===----------------------------------------------------------------------===//

static Error noRoom() {
  return Error{"the weights leave no memory for the cache of one request"};
}

ErrorOr<ServingTimes> cost::serveAggregated(const ServingWorker &worker,
                                            const ServingEngine &engine,
                                            const ServingLoad &load) {
  AggregatedLoop loop(worker, engine, load);
  if (loop.room() <= 0)
    return noRoom();
  return loop.at(load.concurrency);
}

ErrorOr<ServingTimes> cost::serveDisaggregated(const ServingPool &prefill,
                                               const ServingPool &decode,
                                               const ServingEngine &engine,
                                               const ServingLoad &load) {
  DisaggregatedLoop loop(prefill, decode, engine, load);
  if (!loop.hasRoom())
    return noRoom();
  return loop.at(load.concurrency);
}
