//===- MpiLink.h - What a module of an MPI gives ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OpenMPI and MPICH have different binary interfaces, so each is used by a
// module of its own, opened when it is asked for. A module only moves bytes.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_MPILINK_H
#define SHARDOPT_EXECUTION_RUNTIME_MPILINK_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace shardopt::runtime {

/// Changes with this file: a module of another version is refused.
constexpr int64_t mpiLinkVersion = 1;

/// What goes ahead of the bytes of a message.
using Envelope = std::array<int64_t, 16>;

/// The processes that one mpirun started. Messages with one sender, receiver
/// and channel arrive in order. No call waits for another process but `receive`
/// and the end.
class MpiLink {
public:
  static constexpr int channels = 4;
  static constexpr int anybody = -1;

  /// Waits until all processes come here, and finalizes MPI.
  virtual ~MpiLink() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends an envelope and `size` bytes, which stay as they are until `owner`
  /// is let go of.
  virtual void post(int to, int channel, const Envelope &envelope,
                    const void *bytes, size_t size,
                    std::shared_ptr<const void> owner) = 0;

  /// Takes the next envelope from a process, or from anybody; returns who sent
  /// it, or nothing (a negative number) if none is there yet.
  virtual int poll(int from, int channel, Envelope &envelope) = 0;

  /// Waits for the bytes that belong to the envelope that came last.
  virtual void receive(int from, int channel, void *bytes, size_t size) = 0;

  /// Ends all processes.
  virtual void abort(int status) = 0;
};

/// The function by which a module is entered: initializes MPI. The link is made
/// by `new`; nothing where the version is not the module's.
inline constexpr const char *mpiEntryName = "shardoptOpenMpiLink";
extern "C" {
using MpiEntry = MpiLink *(int64_t version);
}

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_MPILINK_H
