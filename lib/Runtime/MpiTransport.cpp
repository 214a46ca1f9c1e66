//===- MpiTransport.cpp - Messages of ranks over MPI ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MpiTransport.h"
#include "shardopt/Runtime/Backoff.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace shardopt;
using namespace shardopt::runtime;

/// Where failures are told: behind the channels of messages.
static constexpr int failureChannel = static_cast<int>(Channel::Host) + 1;
static_assert(failureChannel < MpiLink::channels);

//===----------------------------------------------------------------------===//
// Envelopes
//===----------------------------------------------------------------------===//

// Fields of an envelope.
enum : size_t { Epoch, OpField, Axes, Site, First, Second, Type, Rank, Sizes };
/// Of a failure: the length of what is told of it.
static constexpr size_t FailureBytes = Epoch + 1;
static_assert(Sizes + maxRank <= std::tuple_size<Envelope>::value);

static Envelope enclose(int64_t epoch, const Message &message) {
  const Call &call = message.call;
  const std::vector<int64_t> &shape = message.tensor->shape();
  Envelope envelope = {epoch,
                       static_cast<int64_t>(call.op),
                       call.axes,
                       call.site,
                       call.first,
                       call.second,
                       static_cast<int64_t>(message.tensor->element()),
                       static_cast<int64_t>(shape.size())};
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

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void MpiTransport::post(const Group &group, size_t to, Channel channel,
                        Message message) {
  const Tensor &tensor = *message.tensor;
  link.post(static_cast<int>(group.members[to]), static_cast<int>(channel),
            enclose(epoch, message), tensor.data(),
            static_cast<size_t>(tensor.bytes()), message.tensor);
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
  link.receive(from, channel, tensor.data(),
               static_cast<size_t>(tensor.bytes()));
  return Arrival{
      envelope[Epoch],
      {callOf(envelope), std::make_shared<const Tensor>(std::move(tensor))}};
}

ErrorOr<Message> MpiTransport::fetch(const Group &group, size_t from,
                                     Channel channel) {
  using Clock = std::chrono::steady_clock;
  int rank = static_cast<int>(group.members[from]);
  // Between programs a process may compile, or read, for as long as it takes.
  bool isLimited = timeLimit > 0 && channel != Channel::Host;
  Clock::time_point start = Clock::now();
  Backoff backoff;
  while (true) {
    std::optional<Arrival> arrival = take(rank, static_cast<int>(channel));
    if (arrival && arrival->epoch == epoch)
      return std::move(arrival->message);
    // Its sender is done with this epoch, so nothing comes any more; we are to
    // hear why.
    if (arrival && arrival->epoch > epoch)
      early.emplace(std::pair(rank, static_cast<int>(channel)),
                    std::move(*arrival));
    if (heardOfFailure()) {
      missed = rank;
      interrupted = told.empty();
      return Error{told.empty() ? "another rank failed" : told};
    }
    std::chrono::duration<double> waited = Clock::now() - start;
    if (isLimited && waited.count() > timeLimit) {
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
      link.post(to, failureChannel, {epoch}, nullptr, 0, nullptr);
}

void MpiTransport::tellLeader(const std::string &failure) {
  auto text = std::make_shared<const std::string>(failure);
  link.post(0, failureChannel, {epoch, static_cast<int64_t>(text->size())},
            text->data(), text->size(), text);
}

bool MpiTransport::heardOfFailure() {
  Envelope envelope;
  while (true) {
    int from = link.poll(MpiLink::anybody, failureChannel, envelope);
    if (from < 0)
      return failedEpoch == epoch || !told.empty();
    std::string text(static_cast<size_t>(envelope[FailureBytes]), '\0');
    link.receive(from, failureChannel, text.data(), text.size());
    if (!text.empty())
      told = std::move(text);
    else
      failedEpoch = std::max(failedEpoch, envelope[Epoch]);
  }
}
