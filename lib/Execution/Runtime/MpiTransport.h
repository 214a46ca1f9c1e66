//===- MpiTransport.h - Messages of ranks over MPI --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_EXECUTION_RUNTIME_MPITRANSPORT_H
#define SHARDOPT_LIB_EXECUTION_RUNTIME_MPITRANSPORT_H

#include "shardopt/Execution/Runtime/MpiLink.h"
#include "shardopt/Execution/Runtime/Transport.h"

#include <map>
#include <optional>
#include <string>

namespace shardopt::runtime {

/// The way of this process to the others. Time has epochs, which all
/// processes count alike: what a failed program left behind is of an earlier
/// one and dropped.
class MpiTransport final : public Transport {
public:
  /// `link` outlives the transport. A wait for a message of a program takes at
  /// most `timeLimit` seconds; 0 is no limit.
  MpiTransport(MpiLink &link, double timeLimit)
      : link(link), timeLimit(timeLimit) {}

  void post(const Group &group, size_t to, Channel channel,
            Message message) override;
  ErrorOr<Message> fetch(const Group &group, size_t from,
                         Channel channel) override;

  void beginEpoch();
  /// Ends the waits of the first `ranks` ranks, in this epoch.
  void interrupt(int64_t ranks);
  /// Whether a wait ended so in this epoch.
  bool wasInterrupted() const { return interrupted; }
  /// Ends the waits of all others, in every epoch: there is nothing any more.
  void endAll();
  /// The rank for whose message a wait in this epoch was in vain.
  std::optional<int64_t> awaited() const { return missed; }

  /// What this process tells rank 0 last: why it cannot go on, with which waits
  /// there end, or nothing.
  void sayLast(const std::string &failure);
  /// Whether rank 0 was told of a failure.
  bool heardFailure() const { return lowestFailure() != words.end(); }
  /// In rank 0: waits until all ranks below the lowest that is known to fail
  /// have said their last, for as long as for a message where `isLimited`.
  /// Why the lowest one cannot go on; nothing where none failed.
  std::optional<std::string> awaitWords(bool isLimited);

private:
  /// A message of this epoch or a later one, if it has come.
  struct Arrival {
    int64_t epoch;
    Message message;
  };

  std::optional<Arrival> take(int from, int channel);
  bool heardOfFailure();
  /// What was said last, by rank.
  using Words = std::map<int, std::string>;
  Words::const_iterator lowestFailure() const;

  MpiLink &link;
  double timeLimit;
  int64_t epoch = 0;
  std::optional<int64_t> missed;
  Words words; ///< to rank 0
  bool hasSaid = false;
  int64_t failedEpoch =
      -1; ///< the last in which a rank is known to have failed
  bool interrupted = false;
  /// The first message of a later epoch, by sender and channel.
  std::map<std::pair<int, int>, Arrival> early;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_LIB_EXECUTION_RUNTIME_MPITRANSPORT_H
