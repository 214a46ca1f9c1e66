//===- ServiceSearch.cpp - The best service -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts, and pairs of them with numbers of workers, are taken by descending
// bounds of what they serve.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceSearch.h"

#include "ServiceLoads.h"

#include <algorithm>
#include <cmath>
#include <queue>

using namespace shardopt;
using namespace shardopt::service;
using cost::AggregatedLoop;
using cost::DisaggregatedLoop;

//===----------------------------------------------------------------------===//
// Services
//===----------------------------------------------------------------------===//

namespace {
class Search {
public:
  Search(const Side &decode, const Side *prefill,
         const cost::ServingEngine &engine, Engine runner,
         const ServiceGoal &goal, ServiceProof &proof,
         ServiceShortage &shortage)
      : decodeSide(decode), prefillSide(prefill), engine(engine),
        runner(runner), goal(goal), proof(proof), shortage(shortage),
        decodeLayouts(decode.layouts(runner, mostOf(decode, goal.devices),
                                     longest(), cost::Phase::Decode, shortage)),
        decodes(rank(decodeLayouts, /*isPrefill=*/false)) {
    proof.layouts += static_cast<int64_t>(decodeLayouts.size());
  }

  /// What is better than `best`, if that is there; none: nothing.
  std::optional<ServicePlan> aggregated(std::optional<ServicePlan> best);
  std::optional<ServicePlan> disaggregated(std::optional<ServicePlan> best);

private:
  /// A layout of decode workers, or of prefill workers, with the requests a
  /// second that one of them serves at most.
  struct Ranked {
    const Layout *layout;
    double rate;

    double perDevice() const {
      return rate / static_cast<double>(layout->devices());
    }
  };
  struct Pair {
    const Side *side; ///< of the prefill workers
    Ranked prefill, decode;
    bool isApart;     ///< the prefill workers have devices of their own
    double bound = 0; ///< of whole workers, requests a second
  };

  double longest() const { return longestOf(goal); }
  /// Devices that a worker on `side` may have of `all`.
  int64_t mostOf(const Side &side, int64_t all) const {
    return goal.withinDomains ? std::min(all, side.domainSize()) : all;
  }
  double priceOf(const Side *side) const {
    return side == &decodeSide ? goal.price : goal.prefillPrice;
  }
  /// Workers of `devices` each that cost no more than `best`.
  int64_t affordable(const ServicePlan &best, int64_t devices) const {
    const double each = goal.price * static_cast<double>(devices);
    return static_cast<int64_t>(best.costUnder(goal) / each + 1e-9);
  }
  /// Most workers of `devices` each on the devices of a machine.
  int64_t mostWorkers(const Side &side, int64_t devices, int64_t all) const;
  /// Seconds of the steps of an answer beside as many sequences in a group.
  double decodeSeconds(const Layout &layout, double sequences) const;
  /// Whether an answer of that length is within the limit on TPOT.
  bool isInTime(double seconds) const;
  double decodeBound(const Layout &layout) const;
  double closeDecodeBound(const Layout &layout) const;
  /// Bounds of the layouts that are near the best are made closer.
  void refine(std::vector<Ranked> &decodes) const;
  std::vector<Ranked> rank(const std::vector<Layout> &layouts,
                           bool isPrefill) const;
  void keep(ServicePlan plan, std::optional<ServicePlan> &best) const;
  void tryAggregated(const Ranked &ranked, std::optional<ServicePlan> &best);
  double boundOf(const Pair &pair) const;
  double wholeBoundOf(const Pair &pair) const;
  bool isPruned(const Pair &pair, const std::optional<ServicePlan> &best) const;
  /// Most decode workers that have a place beside `prefills` prefill workers.
  int64_t decodesBeside(const Pair &pair, int64_t prefills) const;
  bool tryNumbers(const Pair &pair, int64_t prefills, int64_t decodes,
                  std::optional<ServicePlan> &best);
  void tryPair(const Pair &pair, std::optional<ServicePlan> &best);

  const Side &decodeSide;
  const Side *prefillSide;
  const cost::ServingEngine &engine;
  const Engine runner;
  const ServiceGoal &goal;
  ServiceProof &proof;
  ServiceShortage &shortage;
  const std::vector<Layout> decodeLayouts;
  const std::vector<Ranked> decodes; ///< the most promising first
};
} // namespace

static bool isBetter(const ServicePlan &plan, const ServicePlan &other,
                     const ServiceGoal &goal) {
  if (goal.rate <= 0)
    return plan.tokensPerDevice > other.tokensPerDevice;
  const double cost = plan.costUnder(goal), known = other.costUnder(goal);
  return cost != known ? cost < known
                       : plan.times.tpot.ms < other.times.tpot.ms;
}

void Search::keep(ServicePlan plan, std::optional<ServicePlan> &best) const {
  if (best && !isBetter(plan, *best, goal))
    return;
  if (goal.watch)
    goal.watch->keep({plan.tokensPerDevice, plan.times.tpot.ms});
  best = std::move(plan);
}

int64_t Search::mostWorkers(const Side &side, int64_t devices,
                            int64_t all) const {
  int64_t low = 0, high = all / devices;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (havePlaces(middle, devices, 0, 1, all, side.domainSize()))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

double Search::decodeSeconds(const Layout &layout, double sequences) const {
  const cost::ServingLoad &load = goal.load;
  cost::StepMix mix;
  mix.sequences = sequences / static_cast<double>(layout.degrees.pp);
  mix.context = longest();
  mix.drafts = load.traits.drafts;
  const double steps =
      std::max(1.0, load.outputTokens / (1 + load.traits.accepted));
  return steps *
         (layout.steps->seconds(mix) +
          (engine.launchUs + cost::hostMicroseconds(engine, sequences)) * 1e-6);
}

bool Search::isInTime(double seconds) const {
  return seconds * 1e3 / goal.load.outputTokens <= goal.tpot.ms;
}

/// Requests a second of one worker that decodes alone, at most: of all numbers
/// of sequences in a group, by octaves.
double Search::decodeBound(const Layout &layout) const {
  const double groups = layout.worker.groups();
  const double most = std::max(1.0, layout.worker.room(longest()));
  double best = 0;
  for (double sequences = 1; sequences <= most; sequences *= 2) {
    const double seconds = decodeSeconds(layout, sequences);
    if (!isInTime(seconds)) {
      if (best <= 0)
        keepLeast(shortage.leastTpotMs, seconds * 1e3 / goal.load.outputTokens);
      break;
    }
    best = std::max(best, groups * std::min(2 * sequences, most) / seconds);
  }
  return best;
}

/// The same, at most a thousandth above what the best number attains. No
/// service attains more of a decode worker (docs/decisions/0018): the sequences
/// that its loop ends with are among these numbers, within the limit on TPOT,
/// and it is given no more requests than they answer.
double Search::closeDecodeBound(const Layout &layout) const {
  constexpr double near = 1e-3;
  constexpr int mostSplits = 400;
  struct Part {
    double bound, low, high, seconds; ///< of the steps of an answer, at low
    bool operator<(const Part &other) const { return bound < other.bound; }
  };
  const double groups = layout.worker.groups();
  std::priority_queue<Part> parts;
  double attained = 0;
  auto add = [&](double low, double high, double seconds) {
    if (!isInTime(seconds))
      return;
    attained = std::max(attained, groups * low / seconds);
    parts.push({groups * high / seconds, low, high, seconds});
  };
  add(1, std::max(1.0, layout.worker.room(longest())),
      decodeSeconds(layout, 1));
  for (int i = 0; i < mostSplits && !parts.empty() &&
                  parts.top().bound > (1 + near) * attained;
       ++i) {
    const Part part = parts.top();
    parts.pop();
    const double middle = std::sqrt(part.low * part.high);
    add(part.low, middle, part.seconds);
    add(middle, part.high, decodeSeconds(layout, middle));
  }
  return parts.empty() ? 0 : parts.top().bound;
}

std::vector<Search::Ranked> Search::rank(const std::vector<Layout> &layouts,
                                         bool isPrefill) const {
  std::vector<Ranked> all;
  for (const Layout &layout : layouts) {
    if (goal.isStopped())
      break;
    if (!(isPrefill ? goal.pins.prefill.allow(layout.degrees)
                    : goal.pins.allowDecode(layout.degrees)))
      continue;
    double rate = 0;
    if (isPrefill) {
      const DisaggregatedLoop alone({layout.worker, 1}, {layout.worker, 1},
                                    engine, goal.load);
      rate = alone.hasRoom() ? alone.prefillRate() : 0;
    } else {
      rate = decodeBound(layout);
    }
    if (rate > 0)
      all.push_back({&layout, rate});
  }
  if (!isPrefill)
    refine(all);
  std::stable_sort(all.begin(), all.end(),
                   [](const Ranked &a, const Ranked &b) {
                     return a.perDevice() > b.perDevice();
                   });
  return all;
}

void Search::refine(std::vector<Ranked> &decodes) const {
  // A coarse bound is at most twice the fine one.
  constexpr double near = 0.4;
  double best = 0;
  for (const Ranked &decode : decodes)
    best = std::max(best, decode.perDevice());
  for (Ranked &decode : decodes)
    if (decode.perDevice() >= near * best)
      decode.rate = closeDecodeBound(*decode.layout);
}

//===----------------------------------------------------------------------===//
// Aggregated
//===----------------------------------------------------------------------===//

void Search::tryAggregated(const Ranked &ranked,
                           std::optional<ServicePlan> &best) {
  const Layout &layout = *ranked.layout;
  if (!goal.pins.serve.allow(layout.degrees))
    return;
  const int64_t most = goal.pins.serve.mostWorkers(
      mostWorkers(decodeSide, layout.devices(), goal.devices));
  int64_t workers = most;
  if (workers == 0)
    return;
  const AggregatedLoop loop(layout.worker, engine, goal.load);
  Loads<AggregatedLoop> loads(loop, goal, proof, shortage);
  const auto room = static_cast<int64_t>(loop.room());
  std::optional<Point> found;
  if (goal.load.concurrency > 0) {
    found = loads.at(goal.load.concurrency / static_cast<double>(workers));
  } else {
    // What one worker has to serve, so that all of them serve more than the
    // best plan; or at a rate, with no more devices than it.
    double incumbent = 0;
    if (best && goal.rate <= 0)
      incumbent = best->requestsPerSecond / static_cast<double>(workers);
    else if (goal.rate > 0)
      incumbent =
          goal.rate /
          static_cast<double>(
              best ? std::min(workers, affordable(*best, layout.devices()))
                   : workers) *
          (1 - 1e-12);
    if (!(incumbent < ranked.rate))
      return;
    found = loads.best(room, incumbent);
  }
  if (!found)
    return;
  if (goal.rate > 0) {
    workers = goal.pins.serve
                  .leastWorkers(std::max<int64_t>(
                      1, static_cast<int64_t>(
                             std::ceil(goal.rate / found->rate - 1e-9))))
                  .value_or(most + 1);
    if (workers > most)
      return;
    found = loads.atRate(*found, goal.rate / static_cast<double>(workers));
  }
  keep(planTogether(layout, workers, found->concurrency, found->times, goal),
       best);
}

/// Without what was known before.
static std::optional<ServicePlan> foundOf(std::optional<ServicePlan> best) {
  return best && best->isBound ? std::nullopt : std::move(best);
}

std::optional<ServicePlan> Search::aggregated(std::optional<ServicePlan> best) {
  for (const Ranked &ranked : decodes)
    tryAggregated(ranked, best);
  return foundOf(std::move(best));
}

//===----------------------------------------------------------------------===//
// Disaggregated
//===----------------------------------------------------------------------===//

int64_t Search::decodesBeside(const Pair &pair, int64_t prefills) const {
  const int64_t ofPrefill = pair.prefill.layout->devices(),
                ofDecode = pair.decode.layout->devices();
  if (pair.isApart)
    return mostWorkers(decodeSide, ofDecode, goal.devices);
  int64_t decodes = (goal.devices - prefills * ofPrefill) / ofDecode;
  while (decodes > 0 && !havePlaces(prefills, ofPrefill, decodes, ofDecode,
                                    goal.devices, decodeSide.domainSize()))
    --decodes;
  return decodes;
}

/// A bound of what `pair` attains in any numbers of workers, as if parts of
/// workers were there: requests a second, or at a rate devices, negative. It is
/// no higher for roles that attain less per device.
double Search::boundOf(const Pair &pair) const {
  const double ofPrefill = pair.prefill.perDevice(),
               ofDecode = pair.decode.perDevice();
  if (goal.rate > 0)
    return -goal.rate *
           (priceOf(pair.side) / ofPrefill + goal.price / ofDecode);
  const auto all = static_cast<double>(goal.devices);
  if (pair.isApart)
    return std::min(static_cast<double>(goal.prefillDevices) * ofPrefill,
                    all * ofDecode);
  return all / (1 / ofPrefill + 1 / ofDecode);
}

/// The same of whole workers. With more prefill workers their rate grows, and
/// that of the decode workers beside them shrinks: the best is where they meet.
double Search::wholeBoundOf(const Pair &pair) const {
  auto ofDecodes = [&](int64_t prefills) {
    return static_cast<double>(decodesBeside(pair, prefills)) *
           pair.decode.rate;
  };
  auto ofPrefills = [&](int64_t prefills) {
    return static_cast<double>(prefills) * pair.prefill.rate;
  };
  // The first number with which prefill workers are no bottleneck.
  int64_t low = 1,
          high = mostWorkers(*pair.side, pair.prefill.layout->devices(),
                             pair.isApart ? goal.prefillDevices : goal.devices);
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (ofPrefills(middle) >= ofDecodes(middle))
      high = middle;
    else
      low = middle + 1;
  }
  double bound = std::min(ofPrefills(low), ofDecodes(low));
  if (low > 1)
    bound = std::max(bound, std::min(ofPrefills(low - 1), ofDecodes(low - 1)));
  return bound;
}

/// Whether no numbers of workers of `pair` can be better than `best`.
bool Search::isPruned(const Pair &pair,
                      const std::optional<ServicePlan> &best) const {
  if (!best)
    return false;
  return goal.rate > 0 ? -boundOf(pair) > best->costUnder(goal) * (1 + 1e-12)
                       : boundOf(pair) <= best->requestsPerSecond;
}

/// `pair` with so many workers; false where no load meets the limits, or none
/// that is better than `best`.
bool Search::tryNumbers(const Pair &pair, int64_t prefills, int64_t decodes,
                        std::optional<ServicePlan> &best) {
  ++proof.pairs;
  const Layout &prefill = *pair.prefill.layout, &decode = *pair.decode.layout;
  const DisaggregatedLoop loop({prefill.worker, static_cast<double>(prefills)},
                               {decode.worker, static_cast<double>(decodes)},
                               engine, goal.load);
  if (!loop.hasRoom())
    return false;
  Loads<DisaggregatedLoop> loads(loop, goal, proof, shortage);
  std::optional<Point> found;
  if (goal.load.concurrency > 0)
    found = loads.at(goal.load.concurrency);
  else
    found = loads.best(static_cast<int64_t>(loop.most()),
                       goal.rate > 0 ? goal.rate * (1 - 1e-12)
                       : best        ? best->requestsPerSecond
                                     : 0);
  if (!found)
    return false;
  if (goal.rate > 0)
    found = loads.atRate(*found, goal.rate);
  ServicePlan plan = planApart({prefill, decode, prefills, decodes},
                               found->concurrency, found->times, engine, goal);
  if (pair.side != &decodeSide)
    plan.prefillMachine = pair.side->name();
  keep(std::move(plan), best);
  return true;
}

void Search::tryPair(const Pair &pair, std::optional<ServicePlan> &best) {
  const int64_t ofPrefill = pair.prefill.layout->devices(),
                ofDecode = pair.decode.layout->devices();
  const int64_t readable = pair.isApart ? goal.prefillDevices : goal.devices;
  const int64_t mostPrefills = mostWorkers(*pair.side, ofPrefill, readable);
  if (goal.rate <= 0) {
    // Prefill workers that are slower, and fewer decode workers, are not always
    // worse: what waits is in flight, and does not decode. So all numbers are
    // taken that a bound does not rule out.
    for (int64_t p = 1; p <= mostPrefills; ++p)
      for (int64_t d = decodesBeside(pair, p); d > 0; --d) {
        const double bound =
            std::min(static_cast<double>(p) * pair.prefill.rate,
                     static_cast<double>(d) * pair.decode.rate);
        if (best && bound <= best->requestsPerSecond) {
          proof.prunedPairs += d;
          break;
        }
        if (goal.pins.prefill.allowWorkers(p) &&
            goal.pins.decode.allowWorkers(d))
          tryNumbers(pair, p, d, best);
      }
    return;
  }
  const auto fewest = [&](const Ranked &ranked) {
    return std::max<int64_t>(
        1, static_cast<int64_t>(std::ceil(goal.rate / ranked.rate - 1e-9)));
  };
  for (int64_t p = fewest(pair.prefill); p <= mostPrefills; ++p)
    for (int64_t d = fewest(pair.decode); d <= decodesBeside(pair, p); ++d) {
      if (best && priceOf(pair.side) * static_cast<double>(p * ofPrefill) +
                          goal.price * static_cast<double>(d * ofDecode) >
                      best->costUnder(goal) * (1 + 1e-12))
        break;
      if (!goal.pins.prefill.allowWorkers(p) ||
          !goal.pins.decode.allowWorkers(d))
        continue;
      if (tryNumbers(pair, p, d, best))
        break;
    }
}

std::optional<ServicePlan>
Search::disaggregated(std::optional<ServicePlan> best) {
  const EngineFacts facts(decodeSide.costs().model());
  for (const Side *side : {&decodeSide, prefillSide}) {
    if (!side)
      continue;
    const bool isApart = side != &decodeSide && goal.prefillDevices > 0;
    const std::vector<Layout> layouts = side->layouts(
        runner, mostOf(*side, isApart ? goal.prefillDevices : goal.devices),
        goal.load.inputTokens, cost::Phase::Prefill, shortage);
    proof.layouts += static_cast<int64_t>(layouts.size());
    const std::vector<Ranked> prefills = rank(layouts, /*isPrefill=*/true);
    std::vector<Pair> pairs;
    for (const Ranked &decode : decodes) {
      if (!goal.pins.decode.allow(decode.layout->degrees))
        continue;
      for (const Ranked &prefill : prefills) {
        const Pair pair{side, prefill, decode, isApart};
        // Those that follow attain less per device.
        if (isPruned(pair, best) || goal.isStopped())
          break;
        if (whyNoTransfer(runner, prefill.layout->degrees,
                          decode.layout->degrees, facts))
          continue;
        // The first of all is good enough to rule most of the others out.
        if (pairs.empty() || goal.rate > 0)
          tryPair(pair, best);
        pairs.push_back(pair);
      }
    }
    if (goal.rate > 0)
      continue;
    for (Pair &pair : pairs)
      pair.bound = wholeBoundOf(pair);
    std::stable_sort(
        pairs.begin(), pairs.end(),
        [](const Pair &a, const Pair &b) { return a.bound > b.bound; });
    for (const Pair &pair : pairs)
      if ((!best || pair.bound > best->requestsPerSecond) && !goal.isStopped())
        tryPair(pair, best);
  }
  return foundOf(std::move(best));
}

Found service::search(const Side &decode, const Side *prefill,
                      const cost::ServingEngine &engine, Engine runner,
                      const ServiceGoal &goal, ServiceProof &proof,
                      ServiceShortage &shortage,
                      std::optional<ServiceMode> only, const Found &known) {
  Search search(decode, prefill, engine, runner, goal, proof, shortage);
  Found found;
  if (only != ServiceMode::Disaggregated)
    found.aggregated = search.aggregated(known.aggregated);
  if (only != ServiceMode::Aggregated)
    found.disaggregated = search.disaggregated(known.disaggregated);
  return found;
}
