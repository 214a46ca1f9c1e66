//===- ThreadWorld.cpp - Ranks that are threads of one process ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/ThreadWorld.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace shardopt;
using namespace shardopt::runtime;

//===----------------------------------------------------------------------===//
// Mailboxes
//===----------------------------------------------------------------------===//

/// Messages that are not fetched yet, one queue for each sender, receiver and
/// channel, and who waits for what. Whoever fills a queue that is waited for
/// ends that wait in the same step, so at any time a rank waits only for a
/// queue that is empty: when all unfinished ranks wait, none can ever move.
class runtime::Mailboxes {
public:
  explicit Mailboxes(int64_t ranks)
      : ranks(ranks), queues(ranks * ranks), states(ranks) {}

  /// Empties all queues; every rank runs.
  void start();
  void post(int64_t from, int64_t to, Channel channel, Message message);
  /// Nothing when it can never come.
  std::optional<Message> fetch(int64_t from, int64_t to, Channel channel);
  void finish(int64_t rank);
  /// Whom a rank waits for; nothing if it has finished.
  std::optional<int64_t> awaited(int64_t rank) const;
  bool stuck() const { return over; }

private:
  using Queue = std::deque<Message>;
  struct State {
    bool waiting = false;
    int64_t from = 0;
    Channel channel = Channel::Collective;
    std::condition_variable wake;
  };

  Queue &queue(int64_t from, int64_t to, Channel channel) {
    return queues[from * ranks + to][size_t(channel)];
  }
  void endIfStuck();

  int64_t ranks;
  std::mutex mutex;
  std::vector<std::array<Queue, 3>> queues; ///< [from][to][channel]
  std::vector<State> states;                ///< by rank
  int64_t running = 0; ///< ranks that neither wait nor have finished
  /// Ranks wait, and none runs: from then on nothing moves, nor changes what
  /// `awaited` says.
  bool over = false;
};

void Mailboxes::start() {
  for (std::array<Queue, 3> &channels : queues)
    channels = {};
  for (State &state : states)
    state.waiting = false;
  running = ranks;
  over = false;
}

void Mailboxes::post(int64_t from, int64_t to, Channel channel,
                     Message message) {
  std::lock_guard<std::mutex> lock(mutex);
  if (over)
    return;
  queue(from, to, channel).push_back(std::move(message));
  State &state = states[to];
  if (!state.waiting || state.from != from || state.channel != channel)
    return;
  state.waiting = false;
  ++running;
  state.wake.notify_one();
}

std::optional<Message> Mailboxes::fetch(int64_t from, int64_t to,
                                        Channel channel) {
  std::unique_lock<std::mutex> lock(mutex);
  if (over)
    return std::nullopt;
  Queue &incoming = queue(from, to, channel);
  if (incoming.empty()) {
    State &state = states[to];
    state.waiting = true;
    state.from = from;
    state.channel = channel;
    --running;
    endIfStuck();
    state.wake.wait(lock, [&] { return !state.waiting || over; });
    if (state.waiting)
      return std::nullopt;
  }
  Message message = std::move(incoming.front());
  incoming.pop_front();
  return message;
}

void Mailboxes::finish(int64_t rank) {
  std::lock_guard<std::mutex> lock(mutex);
  // Of the ranks that were woken to end, none was running.
  if (states[rank].waiting)
    return;
  --running;
  endIfStuck();
}

void Mailboxes::endIfStuck() {
  if (running > 0)
    return;
  for (State &state : states) {
    over |= state.waiting;
    state.wake.notify_one();
  }
}

std::optional<int64_t> Mailboxes::awaited(int64_t rank) const {
  if (!states[rank].waiting)
    return std::nullopt;
  return states[rank].from;
}

namespace {

/// The way of one rank to the mailboxes.
class ThreadTransport final : public Transport {
public:
  ThreadTransport(Mailboxes &mailboxes, int64_t rank)
      : mailboxes(mailboxes), rank(rank) {}

  void post(const Group &group, size_t to, Channel channel,
            Message message) override {
    mailboxes.post(rank, group.members[to], channel, std::move(message));
  }

  ErrorOr<Message> fetch(const Group &group, size_t from,
                         Channel channel) override {
    std::optional<Message> message =
        mailboxes.fetch(group.members[from], rank, channel);
    if (!message)
      return Error{"deadlock: no rank can go on"};
    return std::move(*message);
  }

private:
  Mailboxes &mailboxes;
  int64_t rank;
};

} // namespace

//===----------------------------------------------------------------------===//
// ThreadWorld
//===----------------------------------------------------------------------===//

ThreadWorld::ThreadWorld(std::vector<int64_t> shape,
                         std::vector<std::string> sites)
    : program{Grid(std::move(shape)), std::move(sites)},
      mailboxes(std::make_unique<Mailboxes>(program.grid.size())) {
  for (int64_t rank = 0; rank < size(); ++rank) {
    transports.push_back(std::make_unique<ThreadTransport>(*mailboxes, rank));
    processes.push_back(
        std::make_unique<Process>(program, rank, *transports.back()));
  }
}

ThreadWorld::~ThreadWorld() = default;

std::optional<Error>
ThreadWorld::run(const std::function<void(Process &)> &body) {
  mailboxes->start();
  std::vector<std::thread> threads;
  for (const std::unique_ptr<Process> &owned : processes) {
    Process *process = owned.get();
    process->reset();
    threads.emplace_back([this, process, &body] {
      ProcessScope scope(*process);
      process->protect([&] { body(*process); });
      mailboxes->finish(process->rank());
    });
  }
  for (std::thread &thread : threads)
    thread.join();

  // A rank that waits in vain has a failure too, but not the cause.
  std::optional<Error> cause;
  for (const std::unique_ptr<Process> &process : processes)
    if (process->failure() && !mailboxes->awaited(process->rank()) && !cause)
      cause = process->failure();
  if (!cause && mailboxes->stuck())
    cause = Error{"deadlock: no rank can go on"};
  if (!cause)
    return std::nullopt;
  for (const std::unique_ptr<Process> &process : processes)
    cause->message +=
        "\n  " + process->describePosition(mailboxes->awaited(process->rank()));
  return cause;
}
