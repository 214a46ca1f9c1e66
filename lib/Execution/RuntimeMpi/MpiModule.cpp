//===- MpiModule.cpp - Bytes over one MPI ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled once for each MPI. All calls of MPI are nonblocking, and waits give
// way to other processes: MPI's own waits spin, which is slow when ranks share
// cores. Communicators are made once, one a channel. Groups need none of their
// own, since every message names its receiver and its sender.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Backoff.h"
#include "shardopt/Execution/Runtime/MpiLink.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mpi.h>
#include <vector>

using namespace shardopt;
using namespace shardopt::runtime;

/// The tags of a message's two parts: the envelope, with bytes that are few,
/// and bytes that are many.
static constexpr int envelopeTag = 0, bytesTag = 1;

/// The most bytes that an envelope takes with it.
static constexpr size_t fewBytes = 4096;

/// The most bytes that one call moves: MPI counts in int.
static constexpr size_t chunkSize = size_t(1) << 30;

namespace {

/// A message on its way, with what it is read from.
struct Sending {
  std::vector<char> first; ///< the envelope and few bytes
  std::shared_ptr<const void> owner;
  std::deque<MPI_Request> requests;
};

class ModuleLink final : public MpiLink {
public:
  ModuleLink();
  ~ModuleLink() override;

  int rank() const override { return own; }
  int size() const override { return count; }
  void post(int to, int channel, const Envelope &envelope, const void *bytes,
            size_t size, std::shared_ptr<const void> owner) override;
  int poll(int from, int channel, Envelope &envelope) override;
  void receive(int from, int channel, void *bytes, size_t size) override;
  void abort(int status) override;

private:
  /// Forgets what has been sent.
  void reap();
  void finishTogether();
  /// Takes a message for nobody; false if there is none.
  bool dropOne();
  /// The message that was found on `comm`.
  std::vector<char> takeBytes(const MPI_Status &status, MPI_Comm comm);
  void wait(MPI_Request &request);

  int own = 0, count = 1;
  MPI_Comm comms[channels];
  std::vector<char> head;      ///< first part of the message that came last
  std::deque<Sending> sending; ///< oldest first; their addresses stay
};

} // namespace

ModuleLink::ModuleLink() {
  int provided;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  for (MPI_Comm &comm : comms)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
}

ModuleLink::~ModuleLink() {
  // Once all are here, what is still on its way is wanted by nobody. It is
  // taken all the same: MPI need not let go of a message that is never
  // received.
  finishTogether();
  for (Backoff backoff; !sending.empty(); backoff.pause()) {
    dropOne();
    reap();
  }
  finishTogether();
  while (dropOne()) {
  }
  for (MPI_Comm &comm : comms)
    MPI_Comm_free(&comm);
  MPI_Finalize();
}

void ModuleLink::finishTogether() {
  MPI_Request barrier;
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  wait(barrier);
}

bool ModuleLink::dropOne() {
  for (MPI_Comm comm : comms) {
    int isThere = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &isThere, &status);
    if (!isThere)
      continue;
    takeBytes(status, comm);
    return true;
  }
  return false;
}

std::vector<char> ModuleLink::takeBytes(const MPI_Status &status,
                                        MPI_Comm comm) {
  int size;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::vector<char> bytes(size);
  MPI_Request request;
  MPI_Irecv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
            comm, &request);
  wait(request);
  return bytes;
}

void ModuleLink::wait(MPI_Request &request) {
  Backoff backoff;
  for (int done = 0; !done;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (!done)
      backoff.pause();
  }
}

void ModuleLink::reap() {
  auto isSent = [](Sending &message) {
    for (MPI_Request &request : message.requests) {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (!done)
        return false;
    }
    return true;
  };
  while (!sending.empty() && isSent(sending.front()))
    sending.pop_front();
}

void ModuleLink::post(int to, int channel, const Envelope &envelope,
                      const void *bytes, size_t size,
                      std::shared_ptr<const void> owner) {
  reap();
  Sending &message = sending.emplace_back();
  size_t carried = size <= fewBytes ? size : 0;
  message.first.resize(sizeof(envelope) + carried);
  std::memcpy(message.first.data(), envelope.data(), sizeof(envelope));
  if (carried > 0)
    std::memcpy(message.first.data() + sizeof(envelope), bytes, carried);
  MPI_Isend(message.first.data(), int(message.first.size()), MPI_BYTE, to,
            envelopeTag, comms[channel], &message.requests.emplace_back());
  if (carried == size)
    return;
  message.owner = std::move(owner);
  const char *next = static_cast<const char *>(bytes);
  while (size > 0) {
    size_t chunk = std::min(size, chunkSize);
    MPI_Isend(next, int(chunk), MPI_BYTE, to, bytesTag, comms[channel],
              &message.requests.emplace_back());
    next += chunk;
    size -= chunk;
  }
}

int ModuleLink::poll(int from, int channel, Envelope &envelope) {
  int isThere = 0;
  MPI_Status status;
  MPI_Iprobe(from == anybody ? MPI_ANY_SOURCE : from, envelopeTag,
             comms[channel], &isThere, &status);
  if (!isThere) {
    reap();
    return -1;
  }
  head = takeBytes(status, comms[channel]);
  std::memcpy(envelope.data(), head.data(), sizeof(envelope));
  return status.MPI_SOURCE;
}

void ModuleLink::receive(int from, int channel, void *bytes, size_t size) {
  if (size > 0 && head.size() == sizeof(Envelope) + size) {
    std::memcpy(bytes, head.data() + sizeof(Envelope), size);
    return;
  }
  char *next = static_cast<char *>(bytes);
  while (size > 0) {
    size_t chunk = std::min(size, chunkSize);
    MPI_Request request;
    MPI_Irecv(next, int(chunk), MPI_BYTE, from, bytesTag, comms[channel],
              &request);
    wait(request);
    next += chunk;
    size -= chunk;
  }
}

void ModuleLink::abort(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

extern "C" __attribute__((visibility("default"))) MpiLink *
shardoptOpenMpiLink(int64_t version) {
  return version == mpiLinkVersion ? new ModuleLink : nullptr;
}
