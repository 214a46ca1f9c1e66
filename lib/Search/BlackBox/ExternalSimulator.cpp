//===- ExternalSimulator.cpp - Simulators in processes --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/ExternalSimulator.h"
#include "Worker.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <mutex>

using namespace shardopt;
using namespace shardopt::blackbox;

/// The starts that may fail one after the other before we give up.
static constexpr int maxFailedStarts = 5;

std::vector<std::string> blackbox::shellCommand(const std::string &command) {
  return {"/bin/sh", "-c", command};
}

namespace {

/// A place for a worker; who took it from the pool has it to itself.
struct Slot {
  std::optional<Worker> worker; ///< none: not started, or given up
  int64_t nextId = 0;           ///< of the worker's next request

  void giveUp() {
    worker->kill();
    worker.reset();
  }
};

/// An evaluation that is missing.
struct Lost {
  Failure kind;
  std::string message;
};

} // namespace

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

class ExternalSimulator::Pool {
public:
  Pool(SimulatedProblem problem, ExternalOptions options)
      : problem(std::move(problem)), options(std::move(options)),
        limits{this->problem.machine.memoryCapacity / 1e9, this->problem.sloMs},
        slots(std::max(1u, this->options.workers)) {
    for (Slot &slot : slots)
      idle.push_back(&slot);
  }

  /// Starts a worker in the slot that is taken first.
  std::optional<Error> startFirst();
  Evaluation evaluate(const Strategy &strategy);

  Greeting greeting; ///< the first
  const SimulatedProblem problem;
  const ExternalOptions options;

  FailureCounts failures() const;
  std::optional<Error> breakdown() const;

private:
  Slot &take();
  void giveBack(Slot &slot);
  std::variant<Evaluation, Lost> evaluateOn(Slot &slot,
                                            const Strategy &strategy);
  Lost lose(Slot &slot, const Reply &reply) const;

  ErrorOr<Greeting> start(Slot &slot) const;
  std::optional<Error> restart(Slot &slot);
  void note(Failure kind, const std::string &message);
  bool isStopped() const { return options.stop && options.stop->requested(); }

  const Limits limits;
  std::vector<Slot> slots;

  mutable std::mutex mutex; ///< guards what follows
  std::condition_variable wasGivenBack;
  std::vector<Slot *> idle; ///< taken from the back: those with workers first
  FailureCounts counts;
  std::optional<Error> broken;
};

Slot &ExternalSimulator::Pool::take() {
  std::unique_lock<std::mutex> lock(mutex);
  wasGivenBack.wait(lock, [&] { return !idle.empty(); });
  Slot &slot = *idle.back();
  idle.pop_back();
  return slot;
}

void ExternalSimulator::Pool::giveBack(Slot &slot) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    idle.push_back(&slot);
  }
  wasGivenBack.notify_one();
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

/// `message` and what `worker` wrote on its standard error.
static Error withErrors(std::string message, const Worker &worker) {
  std::string_view tail = worker.lastErrors();
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r'))
    tail.remove_suffix(1);
  if (!tail.empty())
    message += "; its standard error ends with:\n" + std::string(tail);
  return Error{std::move(message)};
}

static std::string seconds(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.')
    text.pop_back();
  return text + " s";
}

/// Starts a worker in `slot` and exchanges hellos with it; returns its
/// greeting.
ErrorOr<Greeting> ExternalSimulator::Pool::start(Slot &slot) const {
  ErrorOr<Worker> worker = Worker::start(options.command);
  if (!worker)
    return worker.error();
  double patience = options.startTimeoutSeconds;
  Reply reply =
      worker->ask(helloLine(problem), std::chrono::duration<double>(patience),
                  options.stop);
  switch (reply.kind) {
  case Reply::Kind::Line:
    break;
  case Reply::Kind::Ended: {
    std::string end = worker->describeEnd();
    return withErrors("the simulator " + end + " before it greeted", *worker);
  }
  case Reply::Kind::TimedOut:
    return withErrors("the simulator did not greet within " + seconds(patience),
                      *worker);
  case Reply::Kind::TooLong:
    return withErrors("the simulator did not greet, but wrote a line of more "
                      "than " +
                          std::to_string(Worker::maxReplyBytes) + " bytes",
                      *worker);
  case Reply::Kind::Stopped:
    return Error{"interrupted before the simulator greeted"};
  }
  ErrorOr<Greeting> greeted = parseGreeting(reply.text);
  if (!greeted)
    return withErrors(
        "the simulator refused to start: " + greeted.error().message +
            ", in '" + abbreviate(reply.text, 200) + "'",
        *worker);
  slot.worker.emplace(std::move(*worker));
  slot.nextId = 0;
  return std::move(*greeted);
}

std::optional<Error> ExternalSimulator::Pool::startFirst() {
  ErrorOr<Greeting> greeted = start(*idle.back());
  if (!greeted)
    return greeted.error();
  greeting = std::move(*greeted);
  return std::nullopt;
}

/// Starts a worker in `slot`, trying again where that fails. That nothing
/// helps is the end of this pool.
std::optional<Error> ExternalSimulator::Pool::restart(Slot &slot) {
  for (int failed = 0;;) {
    if (auto error = breakdown())
      return error;
    ErrorOr<Greeting> greeted = start(slot);
    if (greeted)
      return std::nullopt;
    if (isStopped())
      return greeted.error();
    note(Failure::RefusedStart, greeted.error().message);
    if (++failed < maxFailedStarts)
      continue;
    std::lock_guard<std::mutex> lock(mutex);
    broken = Error{"the simulator could not be restarted " +
                   std::to_string(maxFailedStarts) +
                   " times in a row: " + greeted.error().message};
    return broken;
  }
}

//===----------------------------------------------------------------------===//
// Evaluations
//===----------------------------------------------------------------------===//

/// What is lost where `reply` is no line, with the worker.
Lost ExternalSimulator::Pool::lose(Slot &slot, const Reply &reply) const {
  Lost lost{Failure::Crash, ""};
  switch (reply.kind) {
  case Reply::Kind::Line:
    assert(false && "a line is an answer");
    break;
  case Reply::Kind::Ended:
    lost.message = "the simulator " + slot.worker->describeEnd();
    break;
  case Reply::Kind::TimedOut:
    lost = {Failure::Timeout, "the simulator did not answer within " +
                                  seconds(options.timeoutSeconds)};
    break;
  case Reply::Kind::TooLong:
    lost = {Failure::Nonsense, "the simulator wrote a line of more than " +
                                   std::to_string(Worker::maxReplyBytes) +
                                   " bytes"};
    break;
  case Reply::Kind::Stopped:
    lost = {Failure::Timeout, "interrupted"};
    break;
  }
  slot.giveUp();
  return lost;
}

std::variant<Evaluation, Lost>
ExternalSimulator::Pool::evaluateOn(Slot &slot, const Strategy &strategy) {
  int64_t id = slot.nextId++;
  Reply reply = slot.worker->ask(
      requestLine(id, strategy, problem.ops),
      std::chrono::duration<double>(options.timeoutSeconds), options.stop);
  if (reply.kind != Reply::Kind::Line)
    return lose(slot, reply);
  auto answer = parseAnswer(reply.text, id, problem.latency, limits);
  if (const auto *evaluation = std::get_if<Evaluation>(&answer))
    return *evaluation;
  const BadAnswer &bad = std::get<BadAnswer>(answer);
  // What comes next from a worker out of step would be taken for the answer to
  // the next request.
  if (!bad.isInStep)
    slot.giveUp();
  return Lost{bad.kind,
              bad.message + ", in '" + abbreviate(reply.text, 200) + "'"};
}

Evaluation ExternalSimulator::Pool::evaluate(const Strategy &strategy) {
  Evaluation failed;
  failed.reason = Reason::Failed;
  if (isStopped())
    return failed; // a worker would be started for nothing
  if (auto unread = findUnread(strategy.degrees, greeting.degrees,
                               greeting.readsStages)) {
    note(Failure::Error, "the simulator does not read " + *unread);
    return failed;
  }
  Slot &slot = take();
  std::variant<Evaluation, Lost> result = failed;
  if (slot.worker || !restart(slot))
    result = evaluateOn(slot, strategy);
  giveBack(slot);
  if (const auto *evaluation = std::get_if<Evaluation>(&result))
    return *evaluation;
  const Lost &lost = std::get<Lost>(result);
  if (!isStopped())
    note(lost.kind, lost.message);
  return failed;
}

void ExternalSimulator::Pool::note(Failure kind, const std::string &message) {
  std::lock_guard<std::mutex> lock(mutex);
  if (counts[kind]++ == 0 && options.warn)
    options.warn("simulator failure '" + std::string(spell(kind)) +
                 "' (first one shown): " + message);
}

FailureCounts ExternalSimulator::Pool::failures() const {
  std::lock_guard<std::mutex> lock(mutex);
  return counts;
}

std::optional<Error> ExternalSimulator::Pool::breakdown() const {
  std::lock_guard<std::mutex> lock(mutex);
  return broken;
}

//===----------------------------------------------------------------------===//
// The simulator
//===----------------------------------------------------------------------===//

ErrorOr<std::unique_ptr<ExternalSimulator>>
ExternalSimulator::create(SimulatedProblem problem, ExternalOptions options) {
  auto pool = std::make_unique<Pool>(std::move(problem), std::move(options));
  if (std::optional<Error> error = pool->startFirst())
    return *error;
  return std::unique_ptr<ExternalSimulator>(
      new ExternalSimulator(std::move(pool)));
}

ExternalSimulator::ExternalSimulator(std::unique_ptr<Pool> pool)
    : pool(std::move(pool)) {}

ExternalSimulator::~ExternalSimulator() = default;

Evaluation ExternalSimulator::evaluate(const Strategy &strategy) const {
  return pool->evaluate(strategy);
}

const std::string &ExternalSimulator::name() const {
  return pool->greeting.name;
}

const std::vector<Degree> &ExternalSimulator::degrees() const {
  return pool->greeting.degrees;
}

bool ExternalSimulator::readsStages() const {
  return pool->greeting.readsStages;
}

unsigned ExternalSimulator::workers() const { return pool->options.workers; }

FailureCounts ExternalSimulator::failures() const { return pool->failures(); }

std::optional<Error> ExternalSimulator::breakdown() const {
  return pool->breakdown();
}
