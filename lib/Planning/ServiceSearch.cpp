//===- ServiceSearch.cpp - The best service -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts, and pairs of them with numbers of workers, are taken by descending
// bounds of what they serve. The bound of the layout that comes first is made
// closer until it is close, or another one comes first.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceSearch.h"

#include "ServiceLoads.h"
#include "ServiceSpace.h"

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
/// A layout whose bound may be made closer: with how many workers, and which
/// others, it is reached.
struct Open {
  double key = 0; ///< requests a second, or at a rate its cost, negative
  Decode *decode = nullptr;
  double workers = 0;
  PrefillPower prefill = {};
  bool isClose = false;

  /// Of equal ones, one without an overlap is first.
  bool operator<(const Open &other) const {
    return key != other.key ? key < other.key
                            : decode->overlaps() && !other.decode->overlaps();
  }
};

/// One goal.
class GoalSearch {
public:
  /// For what is better than `known`, if that is there.
  GoalSearch(const Side &decode, const cost::ServingEngine &engine,
             const ServiceGoal &goal, ServiceProof &proof,
             ServiceShortage &shortage, const std::optional<ServicePlan> &known)
      : best(known), decodeSide(decode), engine(engine), goal(goal),
        proof(proof), shortage(shortage), limits(goal, engine),
        least(almost(goal.rate)) {}

  /// Without what was known before.
  std::optional<ServicePlan> found() const {
    return best && best->isBound ? std::nullopt : best;
  }

  void together(std::vector<Decode> &decodes);
  void apart(std::vector<Decode> &decodes, const PrefillSpace &readers);

private:
  /// Layouts of two roles.
  struct Pair {
    const PrefillSpace &readers;
    const Prefill &prefill;
    Decode &decode;

    PrefillPower power(int64_t prefills) const {
      return {double(prefills) * prefill.one.rate, prefill.one.first,
              /*isExact=*/true};
    }
  };
  /// Numbers of their workers.
  struct Numbers {
    double key;
    int64_t prefills, decodes;
  };

  double priceOf(const Side *side) const {
    return side == &decodeSide ? goal.price : goal.prefillPrice;
  }
  /// Workers of `devices` each that cost no more than the best plan.
  int64_t affordable(int64_t devices) const {
    double each = goal.price * double(devices);
    return int64_t(best->costUnder(goal) / each + 1e-9);
  }
  /// Whether nothing with that key can be better than the best plan.
  bool isPruned(double key) const {
    if (!best)
      return goal.rate <= 0 ? !(key > 0) : !(key > -unlimited);
    return goal.rate > 0 ? -key > best->costUnder(goal) * (1 + 1e-12)
                         : key <= best->worth * equal;
  }
  void keep(ServicePlan plan);

  /// Takes layouts by descending keys: `reopen` finds the key of one, and
  /// `take` tries it.
  template <typename Reopen, typename Take>
  void descend(std::vector<Open> open, Reopen reopen, Take take);

  void reopenTogether(Open &open, const LoadLimits &alone) const;
  void tryTogether(const Open &open);
  std::optional<Point> bestTogether(const Open &open,
                                    const AggregatedLoop &loop,
                                    Loads<AggregatedLoop> &loads,
                                    int64_t workers);

  /// `Reach` says what prefill workers do together on as many devices.
  template <typename Reach>
  void reopenApart(Open &open, const PrefillSpace &readers,
                   const Reach &reach) const;
  /// The least devices of `reach`, at most `most`, with which so many decode
  /// workers attain the rate of the goal.
  template <typename Reach>
  std::optional<int64_t> leastPrefill(const AnswerCurve &curve, double workers,
                                      const Reach &reach, int64_t most) const;
  double keyOf(const Pair &pair, int64_t prefills, int64_t decodes) const;
  /// Most decode workers that fit next to `prefills` prefill workers.
  int64_t decodesBeside(const Pair &pair, int64_t prefills) const;
  std::vector<Numbers> numbersOf(const Pair &pair) const;
  void tryDecode(const Open &open, const PrefillSpace &readers,
                 const std::vector<const Prefill *> &senders);
  /// Whether bounds that are made closer rule them out.
  bool isRuledOut(const Pair &pair, int64_t prefills, int64_t decodes) const;
  bool tryNumbers(const Pair &pair, int64_t prefills, int64_t decodes);

  std::optional<ServicePlan> best;
  const Side &decodeSide;
  const cost::ServingEngine &engine;
  const ServiceGoal &goal;
  ServiceProof &proof;
  ServiceShortage &shortage;
  const LoadLimits limits;
  const double least; ///< requests a second that are enough, at a rate
};
} // namespace

static bool isBetter(const ServicePlan &plan, const ServicePlan &other,
                     const ServiceGoal &goal) {
  if (goal.rate <= 0)
    return plan.worth > other.worth;
  double cost = plan.costUnder(goal), known = other.costUnder(goal);
  return cost != known ? cost < known
                       : plan.times.tpot.ms < other.times.tpot.ms;
}

/// Workers that serve `rate`, where each serves `one`.
static int64_t workersFor(double rate, double one) {
  double workers = std::ceil(std::min(1e9, rate / one) - 1e-9);
  return std::max<int64_t>(1, int64_t(workers));
}

void GoalSearch::keep(ServicePlan plan) {
  plan.worth = goal.worth       ? goal.worth->of(plan)
               : goal.isGoodput ? plan.goodput
                                : plan.requestsPerSecond;
  if (best && !isBetter(plan, *best, goal))
    return;
  if (goal.watch)
    goal.watch->keep({plan.tokensPerDevice, plan.times.tpot.ms});
  best = std::move(plan);
}

template <typename Reopen, typename Take>
void GoalSearch::descend(std::vector<Open> open, Reopen reopen, Take take) {
  std::priority_queue<Open> queue;
  for (Open &one : open) {
    reopen(one);
    if (!isPruned(one.key))
      queue.push(one);
  }
  while (!queue.empty() && !isPruned(queue.top().key) && !goal.isStopped()) {
    Open one = queue.top();
    queue.pop();
    if (one.isClose) {
      take(one);
      continue;
    }
    one.isClose = !one.decode->curve.refine(one.workers, one.prefill, limits);
    reopen(one);
    if (!isPruned(one.key))
      queue.push(one);
  }
}

//===----------------------------------------------------------------------===//
// Aggregated
//===----------------------------------------------------------------------===//

void GoalSearch::reopenTogether(Open &open, const LoadLimits &alone) const {
  const Decode &decode = *open.decode;
  int64_t most = goal.pins.serve.mostWorkers(decode.most);
  open.workers = double(most);
  if (most == 0) {
    open.key = -unlimited;
    return;
  }
  double rate = decode.curve.bound(1, {}, alone);
  open.key = rate * open.workers;
  if (goal.rate <= 0)
    return;
  std::optional<int64_t> workers =
      rate > 0 ? goal.pins.serve.leastWorkers(workersFor(least, rate))
               : std::nullopt;
  open.key = workers && *workers <= most
                 ? -goal.price * double(*workers) * double(decode.devices())
                 : -unlimited;
}

std::optional<Point> GoalSearch::bestTogether(const Open &open,
                                              const AggregatedLoop &loop,
                                              Loads<AggregatedLoop> &loads,
                                              int64_t workers) {
  if (goal.load.concurrency > 0)
    return loads.at(goal.load.concurrency / double(workers));
  // What one worker has to serve, so that all of them serve more than the best
  // plan; or at a rate, with no more devices than it.
  double incumbent = 0;
  if (best && goal.rate <= 0)
    incumbent = best->worth / double(workers);
  else if (goal.rate > 0)
    incumbent =
        almost(goal.rate) /
        double(best ? std::min(workers, affordable(open.decode->devices()))
                    : workers);
  return loads.best(int64_t(loop.room()), incumbent);
}

void GoalSearch::tryTogether(const Open &open) {
  const WorkerLayout &layout = open.decode->curve.layout();
  int64_t most = goal.pins.serve.mostWorkers(open.decode->most);
  int64_t workers = most;
  AggregatedLoop loop(layout.worker, engine, goal.load);
  Loads<AggregatedLoop> loads(loop, goal, proof, shortage);
  std::optional<Point> found = bestTogether(open, loop, loads, workers);
  if (!found)
    return;
  if (goal.rate > 0) {
    workers = goal.pins.serve.leastWorkers(workersFor(goal.rate, found->rate))
                  .value_or(most + 1);
    if (workers > most)
      return;
    found = loads.atRate(*found, goal.rate / double(workers));
  }
  keep(planTogether(layout, workers, found->concurrency, found->times, goal));
}

void GoalSearch::together(std::vector<Decode> &decodes) {
  // The times of prompts among steps that decode are none of the bound's.
  LoadLimits alone = limits;
  alone.first = alone.inFlight = unlimited;
  std::vector<Open> open;
  for (Decode &decode : decodes)
    if (goal.pins.serve.allow(decode.degrees(), decode.overlaps()))
      open.push_back({0, &decode});
  descend(
      std::move(open), [&](Open &one) { reopenTogether(one, alone); },
      [&](const Open &one) { tryTogether(one); });
}

//===----------------------------------------------------------------------===//
// Disaggregated
//===----------------------------------------------------------------------===//

template <typename Reach>
std::optional<int64_t>
GoalSearch::leastPrefill(const AnswerCurve &curve, double workers,
                         const Reach &reach, int64_t most) const {
  if (most < 1 || curve.bound(workers, reach.on(most), limits) < least)
    return std::nullopt;
  int64_t low = 1, high = most;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (curve.bound(workers, reach.on(middle), limits) >= least)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// With as many workers as are best, as if prefill workers of any layout that
/// can send were on the devices that are left.
template <typename Reach>
void GoalSearch::reopenApart(Open &open, const PrefillSpace &readers,
                             const Reach &reach) const {
  const Decode &decode = *open.decode;
  double own = decode.curve.bound(1, {}, limits);
  open.key = goal.rate > 0 ? -unlimited : 0;
  for (int64_t count = decode.most; count > 0; --count) {
    auto workers = double(count);
    int64_t used = count * decode.devices();
    int64_t left = readers.isApart ? readers.devices : readers.devices - used;
    if (goal.rate <= 0) {
      if (workers * own <= open.key)
        break;
      if (left < 1)
        continue;
      PrefillPower prefill = reach.on(left);
      double rate = decode.curve.bound(workers, prefill, limits);
      if (rate > open.key)
        open = {rate, open.decode, workers, prefill, open.isClose};
      continue;
    }
    if (workers * own < least)
      break;
    if (std::optional<int64_t> found =
            leastPrefill(decode.curve, workers, reach, left)) {
      double cost =
          goal.price * double(used) + priceOf(readers.side) * double(*found);
      if (-cost > open.key)
        open = {-cost, open.decode, workers, reach.on(*found), open.isClose};
    }
  }
}

double GoalSearch::keyOf(const Pair &pair, int64_t prefills,
                         int64_t decodes) const {
  double rate =
      pair.decode.curve.bound(double(decodes), pair.power(prefills), limits);
  if (goal.rate <= 0)
    return rate;
  return rate < least ? -unlimited
                      : -(priceOf(pair.readers.side) *
                              double(prefills * pair.prefill.devices()) +
                          goal.price * double(decodes * pair.decode.devices()));
}

int64_t GoalSearch::decodesBeside(const Pair &pair, int64_t prefills) const {
  if (pair.readers.isApart)
    return pair.decode.most;
  int64_t decodes = (goal.devices - prefills * pair.prefill.devices()) /
                    pair.decode.devices();
  while (decodes > 0 && !havePlaces(prefills, pair.prefill.devices(), decodes,
                                    pair.decode.devices(), goal.devices,
                                    decodeSide.domainSize()))
    --decodes;
  return decodes;
}

/// All that may be better than the best plan, the most promising first.
/// Prefill workers that are slower, and fewer decode workers, are not always
/// worse: what waits is in flight, and does not decode.
std::vector<GoalSearch::Numbers> GoalSearch::numbersOf(const Pair &pair) const {
  std::vector<Numbers> all;
  for (int64_t p = 1; p <= pair.prefill.most; ++p) {
    if (!goal.pins.prefill.allowWorkers(p))
      continue;
    for (int64_t d = decodesBeside(pair, p); d > 0; --d) {
      double key = keyOf(pair, p, d);
      if (!isPruned(key)) {
        if (goal.pins.decode.allowWorkers(d))
          all.push_back({key, p, d});
      } else if (goal.rate <= 0 || key == -unlimited) {
        break; // fewer serve no more
      }
    }
  }
  std::stable_sort(
      all.begin(), all.end(),
      [](const Numbers &a, const Numbers &b) { return a.key > b.key; });
  return all;
}

bool GoalSearch::isRuledOut(const Pair &pair, int64_t prefills,
                            int64_t decodes) const {
  while (!isPruned(keyOf(pair, prefills, decodes)))
    if (!pair.decode.curve.refine(double(decodes), pair.power(prefills),
                                  limits))
      return false;
  return true;
}

/// `pair` with so many workers; false where no load meets the limits, or none
/// that is better than the best plan.
bool GoalSearch::tryNumbers(const Pair &pair, int64_t prefills,
                            int64_t decodes) {
  ++proof.pairs;
  const WorkerLayout &prefill = *pair.prefill.layout,
                     &decode = pair.decode.curve.layout();
  DisaggregatedLoop loop({prefill.worker, double(prefills)},
                         {decode.worker, double(decodes)}, engine, goal.load);
  if (!loop.hasRoom())
    return false;
  Loads<DisaggregatedLoop> loads(loop, goal, proof, shortage);
  std::optional<Point> found;
  if (goal.load.concurrency > 0)
    found = loads.at(goal.load.concurrency);
  else
    found = loads.best(int64_t(loop.most()), goal.rate > 0 ? least
                                             : best        ? best->worth
                                                           : 0);
  if (!found)
    return false;
  if (goal.rate > 0)
    found = loads.atRate(*found, goal.rate);
  ServicePlan plan = planApart({prefill, decode, prefills, decodes},
                               found->concurrency, found->times, engine, goal);
  if (pair.readers.side != &decodeSide)
    plan.prefillMachine = pair.readers.side->name();
  keep(std::move(plan));
  return true;
}

/// A layout of decode workers with all that can send to them.
void GoalSearch::tryDecode(const Open &open, const PrefillSpace &readers,
                           const std::vector<const Prefill *> &senders) {
  struct Sender {
    double key;
    const Prefill *prefill;
  };
  std::vector<Sender> promising;
  for (const Prefill *prefill : senders) {
    Open one = open;
    reopenApart(one, readers, *prefill);
    if (isPruned(one.key))
      ++proof.prunedPairs;
    else
      promising.push_back({one.key, prefill});
  }
  std::stable_sort(
      promising.begin(), promising.end(),
      [](const Sender &a, const Sender &b) { return a.key > b.key; });
  for (const Sender &sender : promising) {
    if (isPruned(sender.key) || goal.isStopped()) {
      ++proof.prunedPairs;
      continue;
    }
    Pair pair{readers, *sender.prefill, *open.decode};
    for (const Numbers &numbers : numbersOf(pair))
      if (!isRuledOut(pair, numbers.prefills, numbers.decodes))
        tryNumbers(pair, numbers.prefills, numbers.decodes);
  }
}

void GoalSearch::apart(std::vector<Decode> &decodes,
                       const PrefillSpace &readers) {
  std::vector<Open> open;
  for (Decode &decode : decodes)
    if (goal.pins.decode.allow(decode.degrees(), decode.overlaps()) &&
        readers.to(decode.degrees()))
      open.push_back({0, &decode});
  descend(
      std::move(open),
      [&](Open &one) {
        reopenApart(one, readers, readers.to(one.decode->degrees())->reach);
      },
      [&](const Open &one) {
        tryDecode(one, readers, readers.to(one.decode->degrees())->all);
      });
}

//===----------------------------------------------------------------------===//
// Both
//===----------------------------------------------------------------------===//

struct ServiceSearcher::Space {
  DecodeSpace decode;
  std::vector<std::unique_ptr<PrefillSpace>> prefill; ///< if asked for
};

ServiceSearcher::ServiceSearcher(const Side &decode, const Side *prefill,
                                 const cost::ServingEngine &engine,
                                 Runner runner, const ServiceGoal &goal)
    : decodeSide(decode), prefillSide(prefill), engine(engine), runner(runner),
      goal(goal), space(std::make_unique<Space>(
                      Space{DecodeSpace(decode, runner, engine, goal), {}})) {}

ServiceSearcher::~ServiceSearcher() = default;

void ServiceSearcher::addPrefill() {
  if (!space->prefill.empty())
    return;
  for (const Side *side : {&decodeSide, prefillSide})
    if (side)
      space->prefill.push_back(std::make_unique<PrefillSpace>(
          *side, side != &decodeSide && goal.prefillDevices > 0, runner, engine,
          goal));
}

/// Adds what layouts have shown to what is known.
static void learn(const ServiceShortage &from, ServiceShortage &to) {
  to.part = from.part;
  to.capacityBytes = from.capacityBytes;
  if (from.leastBytes > 0)
    keepLeast(to.leastBytes, from.leastBytes);
  if (to.example.empty())
    to.example = from.example;
}

Found ServiceSearcher::find(const ServiceGoal &goal, ServiceProof &proof,
                            ServiceShortage &shortage,
                            std::optional<ServiceMode> only,
                            const Found &known) {
  DecodeSpace &decode = space->decode;
  proof.layouts += int64_t(decode.layouts.size());
  learn(decode.shortage, shortage);
  LoadLimits limits(goal, engine);
  for (const Decode &one : decode.decodes)
    if (one.curve.leastSeconds() > limits.answer)
      keepLeast(shortage.leastTpotMs,
                one.curve.leastSeconds() * 1e3 / goal.load.outputTokens);
  Found found;
  if (only != ServiceMode::Disaggregated) {
    GoalSearch search(decodeSide, engine, goal, proof, shortage,
                      known.aggregated);
    search.together(decode.decodes);
    found.aggregated = search.found();
  }
  if (only == ServiceMode::Aggregated)
    return found;
  addPrefill();
  GoalSearch search(decodeSide, engine, goal, proof, shortage,
                    known.disaggregated);
  for (const std::unique_ptr<PrefillSpace> &readers : space->prefill) {
    proof.layouts += int64_t(readers->layouts.size());
    learn(readers->shortage, shortage);
    search.apart(decode.decodes, *readers);
  }
  found.disaggregated = search.found();
  return found;
}

double ServiceSearcher::attained(const ServicePlan &plan,
                                 const ServiceGoal &goal, double atLeast,
                                 ServiceProof &proof) {
  const Decode *decode = space->decode.find(plan.decode);
  if (!decode)
    return 0;
  LoadLimits limits(goal, engine);
  ServiceShortage shortage;
  const cost::ServingWorker &worker = decode->curve.layout().worker;
  auto count = double(plan.decode.workers);
  auto best = [&](const auto &loop, double workers, double most) {
    Loads loads(loop, goal, proof, shortage);
    double asked = goal.load.concurrency / workers;
    std::optional<Point> found =
        asked > 0 ? loads.at(asked)
                  : loads.best(int64_t(most), atLeast / workers);
    return found && found->rate * workers > atLeast ? found->rate * workers : 0;
  };
  if (!plan.prefill) {
    limits.first = limits.inFlight = unlimited;
    if (count * decode->curve.bound(1, {}, limits) <= atLeast)
      return 0;
    AggregatedLoop loop(worker, engine, goal.load);
    return best(loop, count, loop.room());
  }
  addPrefill();
  const Side &side = plan.prefillMachine.empty() ? decodeSide : *prefillSide;
  for (const std::unique_ptr<PrefillSpace> &senders : space->prefill) {
    const Prefill *prefill =
        senders->side == &side ? senders->find(*plan.prefill) : nullptr;
    if (!prefill)
      continue;
    auto readers = double(plan.prefill->workers);
    PrefillPower power{readers * prefill->one.rate, prefill->one.first,
                       /*isExact=*/true};
    if (decode->curve.bound(count, power, limits) <= atLeast)
      return 0;
    DisaggregatedLoop loop({prefill->layout->worker, readers}, {worker, count},
                           engine, goal.load);
    return loop.hasRoom() ? best(loop, 1, loop.most()) : 0;
  }
  return 0;
}

Found service::search(const Side &decode, const Side *prefill,
                      const cost::ServingEngine &engine, Runner runner,
                      const ServiceGoal &goal, ServiceProof &proof,
                      ServiceShortage &shortage,
                      std::optional<ServiceMode> only, const Found &known) {
  return ServiceSearcher(decode, prefill, engine, runner, goal)
      .find(goal, proof, shortage, only, known);
}
