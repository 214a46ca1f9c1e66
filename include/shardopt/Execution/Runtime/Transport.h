//===- Transport.h - What moves messages between ranks ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The narrow side of a backend: messages go from one rank to another, in order.
// What collectives mean stands on top of it, in Collectives.cpp, once for all.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_TRANSPORT_H
#define SHARDOPT_EXECUTION_RUNTIME_TRANSPORT_H

#include "shardopt/Execution/Runtime/Grid.h"
#include "shardopt/Execution/Runtime/Views.h"
#include "shardopt/Support/Error.h"

#include <memory>

namespace shardopt::runtime {

/// What a rank calls; `Host…` is what the program around compiled code does.
enum class Op : int64_t {
  AllReduceSum,
  AllReduceMax,
  AllGather,
  ReduceScatter,
  AllToAll,
  AllToAllV,
  Broadcast,
  Send,
  Recv,
  HostBroadcast,
  HostGather
};

/// "all_reduce_sum", … as in the names of the functions that are called.
const char *spell(Op op);

/// One call of one rank: what the members of a group have to agree about.
struct Call {
  Op op = Op::AllReduceSum;
  int64_t axes = 0;   ///< packed, see packAxes
  int64_t site = -1;  ///< which call of the program
  int64_t first = 0;  ///< gather, scatter or split dim, or root
  int64_t second = 0; ///< concat dim

  friend bool operator==(const Call &a, const Call &b) {
    return a.op == b.op && a.axes == b.axes && a.site == b.site &&
           a.first == b.first && a.second == b.second;
  }
  friend bool operator!=(const Call &a, const Call &b) { return !(a == b); }
};

/// A tensor on its way, and the call that sent it.
struct Message {
  Call call;
  std::shared_ptr<const Tensor> tensor;
};

/// Channels do not wait for each other: a send may be far ahead of its receive,
/// with collectives between.
enum class Channel : int { Collective = 0, PointToPoint = 1, Host = 2 };

/// How one rank reaches the others. Messages from one member to another arrive
/// in order, within a group and channel.
class Transport {
public:
  virtual ~Transport() = default;

  /// Sends to member `to` of `group`; never waits for anybody.
  virtual void post(const Group &group, size_t to, Channel channel,
                    Message message) = 0;

  /// Waits for the next message of member `from` of `group`. An error says that
  /// there will never be one.
  virtual ErrorOr<Message> fetch(const Group &group, size_t from,
                                 Channel channel) = 0;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_TRANSPORT_H
