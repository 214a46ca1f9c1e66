//===- RequestReplay.cpp - Requests served one by one ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between two events of a group (a request comes, has its first token, or ends)
// its steps differ in the context alone, so that they are taken at once, each
// with the time of the middle one.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/RequestReplay.h"
#include "EngineSteps.h"

#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

using namespace shardopt;
using namespace shardopt::cost;

static constexpr double never = std::numeric_limits<double>::infinity();
/// Of a token, or of a step: none.
static constexpr double tiny = 1e-6;
/// Steps at most that take the time of the one in their middle.
static constexpr double mostAtOnce = 64;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

namespace {
/// What is replayed, and what comes of it.
struct Record {
  const std::vector<TracedRequest> &requests;
  const ReplayOptions &options;
  std::vector<ServedRequest> served;

  double found(size_t id) const {
    return requests[id].cachedTokens / requests[id].inputTokens;
  }
  double computed(size_t id) const {
    return computedTokens(requests[id].inputTokens, found(id));
  }
  double steps(size_t id) const {
    return answerSteps(requests[id].outputTokens, options.traits.accepted);
  }
  /// Tokens whose caches count: half of an answer stands, in the mean.
  double longest(size_t id) const {
    return requests[id].inputTokens + requests[id].outputTokens / 2;
  }
};

/// The share of a group's memory that one request takes.
class Shares {
public:
  explicit Shares(const ServingWorker &worker) : worker(worker) {}

  double of(double context) {
    auto [entry, isNew] = known.try_emplace(std::llround(context), 0.0);
    if (isNew) {
      double room = worker.room(double(entry->first));
      entry->second = room > 0 ? 1 / room : never;
    }
    return entry->second;
  }

private:
  const ServingWorker &worker;
  std::unordered_map<int64_t, double> known;
};
} // namespace

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
/// An attention group: its requests, and the steps under way, which end at
/// `nextS`.
class Group {
public:
  /// Without `prefills`, requests come with their caches.
  Group(const ServingWorker &worker, const ServingEngine &engine,
        Record &record, Shares &shares, bool prefills)
      : worker(worker), engine(engine), record(record), shares(shares),
        prefills(prefills) {}

  double nextS() const { return endS; }
  size_t inFlight() const { return waiting.size() + prompts.size() + decoding; }
  void arrive(size_t id, double nowS);
  /// The steps under way end; `ended` learns whose answers do.
  void finish(std::vector<size_t> &ended);

private:
  struct Prompt {
    size_t id;
    double left; ///< tokens that are not computed
  };
  /// A number of steps at which a request has its first token, or of decode
  /// steps at which it ends.
  struct Mark {
    double steps;
    size_t id;
    double begun; ///< decode steps when its prompt was computed
    bool operator>(const Mark &other) const {
      return std::tie(steps, id) > std::tie(other.steps, other.id);
    }
  };
  using Marks = std::priority_queue<Mark, std::vector<Mark>, std::greater<>>;

  /// Whether the first of `waiting` has room.
  bool hasRoom() const {
    return used + shares.of(record.longest(waiting.front())) <= 1 + 1e-9;
  }
  double context(double after) const {
    double tokens = contexts + perStep() * double(decoding) * (made + after);
    return decoding > 0 ? tokens / double(decoding) : 1;
  }
  double perStep() const { return 1 + record.options.traits.accepted; }
  double host() const {
    return hostUs(engine, double(prompts.size() + decoding));
  }
  void start(double nowS);
  void startPrompts(double nowS);
  void startDecode(double nowS);
  void decode(size_t id);
  void end(const Mark &mark);

  const ServingWorker &worker;
  const ServingEngine &engine;
  Record &record;
  Shares &shares;
  bool prefills;

  std::deque<size_t> waiting;
  std::deque<Prompt> prompts; ///< with room, in order
  Marks firsts, ends;
  size_t decoding = 0;
  double contexts = 0; ///< of those that decode, without steps made
  double used = 0;     ///< of the memory
  double made = 0;     ///< decode steps
  double taken = 0;    ///< steps of any kind
  // The steps under way.
  double beginS = 0, endS = never, eachS = 0, steps = 0;
  double reads = 0; ///< tokens of prompts in them
};
} // namespace

void Group::arrive(size_t id, double nowS) {
  waiting.push_back(id);
  if (endS == never)
    return start(nowS);
  // Steps that only decode go on until the next one begins.
  if (reads > 0 || waiting.size() > 1 || !hasRoom())
    return;
  double begun = std::ceil((nowS - beginS) / eachS);
  if (begun >= steps)
    return;
  steps = std::max(begun, std::min(1.0, steps));
  endS = beginS + steps * eachS;
}

void Group::start(double nowS) {
  while (!waiting.empty() && hasRoom()) {
    size_t id = waiting.front();
    used += shares.of(record.longest(id));
    waiting.pop_front();
    if (prefills)
      prompts.push_back({id, record.computed(id)});
    else
      decode(id);
  }
  beginS = nowS;
  endS = never;
  reads = steps = 0;
  if (!prompts.empty())
    startPrompts(nowS);
  else if (decoding > 0)
    startDecode(nowS);
}

void Group::startPrompts(double nowS) {
  // Attention is linear in the length of the prompt that a token belongs to.
  double lengths = 0, found = 0;
  for (const Prompt &prompt : prompts) {
    double tokens = std::min(prompt.left, engine.chunkTokens - reads);
    if (tokens <= tiny)
      break;
    reads += tokens;
    lengths += tokens * record.requests[prompt.id].inputTokens;
    found += tokens * record.found(prompt.id);
  }
  StepMix mix;
  mix.drafts = record.options.traits.drafts;
  mix.tokens = reads;
  mix.prompt = lengths / reads;
  mix.cached = found / reads;
  bool isAlone = engine.readsApart || decoding == 0;
  if (!isAlone) {
    mix.sequences = double(decoding);
    mix.context = context(0.5);
  }
  steps = isAlone ? 0 : 1;
  eachS = (promptStepUs(worker, engine, mix) + (isAlone ? 0 : host())) / 1e6;
  endS = nowS + eachS;
}

void Group::startDecode(double nowS) {
  steps = mostAtOnce;
  if (!firsts.empty())
    steps = std::min(steps, firsts.top().steps - taken);
  if (!ends.empty())
    steps = std::min(steps, ends.top().steps - made);
  StepMix mix;
  mix.drafts = record.options.traits.drafts;
  mix.sequences = double(decoding);
  mix.context = context(steps / 2);
  eachS = (stepUs(worker, engine, mix) + host()) / 1e6;
  endS = nowS + steps * eachS;
}

/// Its prompt is computed: the next step, of whatever kind, has its first
/// token, unless the engine holds it back.
void Group::decode(size_t id) {
  ++decoding;
  contexts += record.requests[id].inputTokens - perStep() * made;
  firsts.push({taken + 1 + engine.heldSteps, id, made});
}

void Group::end(const Mark &mark) {
  record.served[mark.id].endS = endS;
  contexts -= record.requests[mark.id].inputTokens - perStep() * mark.begun;
  used -= shares.of(record.longest(mark.id));
  if (--decoding == 0)
    contexts = 0;
  if (decoding == 0 && prompts.empty())
    used = 0;
}

void Group::finish(std::vector<size_t> &ended) {
  made += steps;
  taken += std::max(steps, 1.0);
  for (; !firsts.empty() && firsts.top().steps <= taken + tiny; firsts.pop()) {
    Mark mark = firsts.top();
    record.served[mark.id].firstTokenS = endS;
    mark.steps = made + record.steps(mark.id);
    ends.push(mark);
  }
  for (; !ends.empty() && ends.top().steps <= made + tiny; ends.pop()) {
    end(ends.top());
    ended.push_back(ends.top().id);
  }
  while (reads > tiny && !prompts.empty()) {
    Prompt &prompt = prompts.front();
    double tokens = std::min(prompt.left, reads);
    prompt.left -= tokens;
    reads -= tokens;
    if (prompt.left > tiny)
      break;
    decode(prompt.id);
    prompts.pop_front();
  }
  start(endS);
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

namespace {
/// Workers that compute prompts one after the other, in order of arrival.
class Readers {
public:
  Readers(const ServingPool &pool, const ServingEngine &engine,
          const Record &record, double networkBytesPerS)
      : worker(pool.worker), engine(engine), record(record),
        networkBytesPerS(networkBytesPerS) {
    auto count = size_t(pool.count * pool.worker.groups());
    for (size_t i = 0; i != count; ++i)
      freeS.push(0);
  }

  /// When the cache of a request that comes at `nowS` is where it decodes.
  double sentS(size_t id, double nowS, const StepTimes &decode) {
    double input = record.requests[id].inputTokens;
    double computed = record.computed(id);
    StepMix mix;
    mix.drafts = record.options.traits.drafts;
    mix.tokens = std::min(computed, engine.chunkTokens);
    mix.prompt = input;
    mix.cached = record.found(id);
    double us = computed / mix.tokens * promptStepUs(worker, engine, mix);
    double end = std::max(nowS, freeS.top()) + us / 1e6;
    freeS.pop();
    freeS.push(end);
    return end + decode.cacheBytes(input) / (networkShare * networkBytesPerS);
  }

private:
  const ServingWorker &worker;
  const ServingEngine &engine;
  const Record &record;
  double networkBytesPerS;
  std::priority_queue<double, std::vector<double>, std::greater<>> freeS;
};

/// Requests on their way to groups, and groups, in the order of time.
class Replay {
public:
  Replay(const ServingPool *prefill, const ServingPool &decode,
         const ServingEngine &engine, Record &record)
      : decode(decode), engine(engine), record(record), shares(decode.worker) {
    if (prefill)
      readers.emplace(*prefill, engine, record,
                      std::min(decode.worker.networkBytesPerS,
                               prefill->worker.networkBytesPerS));
    auto count = size_t(decode.count * decode.worker.groups());
    for (size_t i = 0; i != count; ++i) {
      groups.emplace_back(decode.worker, engine, record, shares, !prefill);
      idlest.emplace(0, i);
    }
  }

  std::optional<Error> run();

private:
  struct Arrival {
    double atS;
    size_t id;
    bool isAtGroup; ///< or at the workers that compute prompts alone
    bool operator>(const Arrival &other) const {
      return std::tie(atS, id) > std::tie(other.atS, other.id);
    }
  };

  std::optional<Error> whyNoRoom();
  /// The next request of those that wait for others to end.
  void release(double nowS);
  void arrive(const Arrival &arrival);
  /// Changes the group by `change`, and its places in the orders.
  template <typename Change> void touch(size_t group, Change change);

  const ServingPool &decode;
  const ServingEngine &engine;
  Record &record;
  Shares shares;
  std::optional<Readers> readers;
  std::deque<Group> groups;
  std::set<std::pair<size_t, size_t>> idlest; ///< in flight, group
  std::set<std::pair<double, size_t>> next;   ///< end of steps, group
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  size_t released = 0;
};
} // namespace

std::optional<Error> Replay::whyNoRoom() {
  for (size_t id = 0; id != record.requests.size(); ++id)
    if (shares.of(record.longest(id)) > 1) {
      auto tokens = [](double value) {
        return std::to_string(std::llround(value));
      };
      const TracedRequest &request = record.requests[id];
      return Error{"request " + std::to_string(id + 1) + " of " +
                   tokens(request.inputTokens) + " tokens in and " +
                   tokens(request.outputTokens) +
                   " out has no room for its cache in a worker"};
    }
  return std::nullopt;
}

void Replay::release(double nowS) {
  if (released == record.requests.size())
    return;
  size_t id = released++;
  record.served[id].arrivalS = nowS;
  arrivals.push({nowS + engine.firstTokenMs / 1e3, id, !readers});
}

template <typename Change> void Replay::touch(size_t index, Change change) {
  Group &group = groups[index];
  idlest.erase({group.inFlight(), index});
  next.erase({group.nextS(), index});
  change(group);
  idlest.emplace(group.inFlight(), index);
  if (group.nextS() != never)
    next.emplace(group.nextS(), index);
}

void Replay::arrive(const Arrival &arrival) {
  if (!arrival.isAtGroup) {
    double atS = readers->sentS(arrival.id, arrival.atS, *decode.worker.steps);
    arrivals.push({atS, arrival.id, /*isAtGroup=*/true});
    return;
  }
  touch(idlest.begin()->second,
        [&](Group &group) { group.arrive(arrival.id, arrival.atS); });
}

std::optional<Error> Replay::run() {
  if (auto why = whyNoRoom())
    return why;
  bool isClosed = record.options.concurrency > 0;
  size_t all = record.requests.size();
  size_t atOnce = isClosed ? size_t(record.options.concurrency) : all;
  while (released != std::min(all, atOnce))
    release(isClosed ? 0 : record.requests[released].arrivalS);
  std::vector<size_t> ended;
  while (!arrivals.empty() || !next.empty()) {
    if (record.options.stop && record.options.stop->requested())
      return Error{"the replay was interrupted"};
    double step = next.empty() ? never : next.begin()->first;
    if (!arrivals.empty() && arrivals.top().atS < step) {
      Arrival arrival = arrivals.top();
      arrivals.pop();
      arrive(arrival);
      continue;
    }
    ended.clear();
    touch(next.begin()->second, [&](Group &group) { group.finish(ended); });
    for (size_t i = 0; isClosed && i != ended.size(); ++i)
      release(step);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static ErrorOr<std::vector<ServedRequest>>
replay(const ServingPool *prefill, const ServingPool &decode,
       const ServingEngine &engine, const std::vector<TracedRequest> &requests,
       const ReplayOptions &options) {
  Record record{requests, options, {}};
  record.served.resize(requests.size());
  if (auto why = Replay(prefill, decode, engine, record).run())
    return *why;
  return std::move(record.served);
}

ErrorOr<std::vector<ServedRequest>>
cost::replayAggregated(const ServingPool &workers, const ServingEngine &engine,
                       const std::vector<TracedRequest> &requests,
                       const ReplayOptions &options) {
  return replay(/*prefill=*/nullptr, workers, engine, requests, options);
}

ErrorOr<std::vector<ServedRequest>>
cost::replayDisaggregated(const ServingPool &prefill, const ServingPool &decode,
                          const ServingEngine &engine,
                          const std::vector<TracedRequest> &requests,
                          const ReplayOptions &options) {
  return replay(&prefill, decode, engine, requests, options);
}
