//===- MpiTransport.cpp - Messages of ranks over MPI ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiTransport.h"
#include "shardopt/Execution/Runtime/Backoff.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>

using namespace shardopt;
using namespace shardopt::runtime;

/// Where failures are told: behind the channels of messages.
static constexpr int failureChannel = int(Channel::Host) + 1;
static_assert(failureChannel < MpiLink::channels);

//===----------------------------------------------------------------------===//
// Envelopes
//===----------------------------------------------------------------------===//

// Fields of an envelope.
enum : size_t { Epoch, OpField, Axes, Site, First, Second, Type, Rank, Sizes };
/// Of a failure: the length of a last word, or nothing of the kind.
static constexpr size_t WordBytes = Epoch + 1;
static constexpr int64_t noWord = -1;
/// Of a failure after which nothing goes on.
static constexpr int64_t everyEpoch = std::numeric_limits<int64_t>::max();
static_assert(Sizes + maxRank <= std::tuple_size<Envelope>::value);

static Envelope enclose(int64_t epoch, const Message &message) {
  const Call &call = message.call;
  const std::vector<int64_t> &shape = message.tensor->shape();
  Envelope envelope = {epoch,
                       int64_t(call.op),
                       call.axes,
                       call.site,
                       call.first,
                       call.second,
                       int64_t(message.tensor->element()),
                       int64_t(shape.size())};
  for (size_t dim = 0; dim < shape.size(); ++dim)
    envelope[Sizes + dim] = shape[dim];
  return envelope;
}

static Call callOf(const Envelope &envelope) {
  return {static_cast<Op>(envelope[OpField]), envelope[Axes], envelope[Site],
          envelope[First], envelope[Second]};
}

/// A tensor for the bytes that follow.
static Tensor tensorOf(const Envelope &envelope) {
  const int64_t *sizes = &envelope[Sizes];
  return {static_cast<Element>(envelope[Type]),
          std::vector<int64_t>(sizes, sizes + envelope[Rank])};
}

namespace {

/// So many seconds from now; never, if it is 0.
class Deadline {
public:
  explicit Deadline(double seconds) : limit(seconds) {}
  bool isOver() const {
    return limit.count() > 0 && Clock::now() - start > limit;
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  std::chrono::duration<double> limit;
};

} // namespace

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void MpiTransport::post(const Group &group, size_t to, Channel channel,
                        Message message) {
  const Tensor &tensor = *message.tensor;
  link.post(int(group.members[to]), int(channel), enclose(epoch, message),
            tensor.data(), size_t(tensor.bytes()), message.tensor);
}

std::optional<MpiTransport::Arrival> MpiTransport::take(int from, int channel) {
  auto kept = early.find({from, channel});
  if (kept != early.end()) {
    Arrival arrival = std::move(kept->second);
    early.erase(kept);
    return arrival;
  }
  Envelope envelope;
  if (link.poll(from, channel, envelope) < 0)
    return std::nullopt;
  Tensor tensor = tensorOf(envelope);
  link.receive(from, channel, tensor.data(), size_t(tensor.bytes()));
  return Arrival{
      envelope[Epoch],
      {callOf(envelope), std::make_shared<const Tensor>(std::move(tensor))}};
}

ErrorOr<Message> MpiTransport::fetch(const Group &group, size_t from,
                                     Channel channel) {
  int rank = int(group.members[from]);
  // Between programs a process may compile, or read, for as long as it takes.
  Deadline deadline(channel == Channel::Host ? 0 : timeLimit);
  Backoff backoff;
  while (true) {
    std::optional<Arrival> arrival = take(rank, int(channel));
    if (arrival && arrival->epoch == epoch)
      return std::move(arrival->message);
    // Its sender is done with this epoch, so nothing comes any more; we are to
    // hear why.
    if (arrival && arrival->epoch > epoch)
      early.emplace(std::pair(rank, int(channel)), std::move(*arrival));
    if (heardOfFailure()) {
      missed = rank;
      auto failure = lowestFailure();
      interrupted = failure == words.end();
      return Error{interrupted ? "another rank failed" : failure->second};
    }
    if (deadline.isOver()) {
      missed = rank;
      return Error{"no message came within the time limit, " +
                   std::to_string(std::lround(timeLimit)) + " s"};
    }
    backoff.pause();
  }
}

//===----------------------------------------------------------------------===//
// Epochs
//===----------------------------------------------------------------------===//

void MpiTransport::beginEpoch() {
  ++epoch;
  interrupted = false;
  missed.reset();
}

void MpiTransport::interrupt(int64_t ranks) {
  for (int to = 0; to < ranks; ++to)
    if (to != link.rank())
      link.post(to, failureChannel, {epoch, noWord}, nullptr, 0, nullptr);
}

void MpiTransport::endAll() {
  epoch = everyEpoch;
  interrupt(link.size());
}

void MpiTransport::sayLast(const std::string &failure) {
  if (hasSaid)
    return;
  hasSaid = true;
  auto text = std::make_shared<const std::string>(failure);
  link.post(0, failureChannel, {epoch, int64_t(text->size())}, text->data(),
            text->size(), text);
}

MpiTransport::Words::const_iterator MpiTransport::lowestFailure() const {
  return std::find_if(words.begin(), words.end(),
                      [](const auto &word) { return !word.second.empty(); });
}

std::optional<std::string> MpiTransport::awaitWords(bool isLimited) {
  Deadline deadline(isLimited ? timeLimit : 0);
  for (Backoff backoff;; backoff.pause()) {
    heardOfFailure();
    auto failure = lowestFailure();
    bool isKnown = failure != words.end();
    int ranks = isKnown ? failure->first : link.size();
    auto later = words.lower_bound(ranks);
    // Rank 0 says nothing to itself.
    if (std::distance(words.begin(), later) >= ranks - 1 || deadline.isOver())
      return isKnown ? std::optional(failure->second) : std::nullopt;
  }
}

bool MpiTransport::heardOfFailure() {
  Envelope envelope;
  while (true) {
    int from = link.poll(MpiLink::anybody, failureChannel, envelope);
    if (from < 0)
      return failedEpoch == epoch || failedEpoch == everyEpoch ||
             heardFailure();
    bool isWord = envelope[WordBytes] != noWord;
    std::string text(isWord ? size_t(envelope[WordBytes]) : 0, '\0');
    link.receive(from, failureChannel, text.data(), text.size());
    if (isWord)
      words.emplace(from, std::move(text));
    else
      failedEpoch = std::max(failedEpoch, envelope[Epoch]);
  }
}
