//===- Process.h - What a rank knows ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_PROCESS_H
#define SHARDOPT_EXECUTION_RUNTIME_PROCESS_H

#include "shardopt/Execution/Runtime/Statistics.h"
#include "shardopt/Execution/Runtime/Transport.h"

#include <csetjmp>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace shardopt::runtime {

/// What all ranks of a program share.
struct Program {
  Grid grid;
  std::vector<std::string>
      sites; ///< what to call them in messages; may be empty
};

/// Where a rank is: its last call, if any, and how many it has come back from.
struct Position {
  std::optional<Call> call;
  int64_t done = 0;
};

/// One rank: its place, its way to the others, and what it has seen. Used by
/// one thread at a time.
class Process {
public:
  /// Takes a value that compiled code keeps, and the site that keeps it.
  using KeepSink = std::function<void(int64_t site, Tensor value)>;

  /// `program` and `transport` outlive the process.
  Process(const Program &program, int64_t rank, Transport &transport)
      : shared(program), number(rank), messages(transport) {}
  Process(const Process &) = delete;
  Process &operator=(const Process &) = delete;

  int64_t rank() const { return number; }
  const Program &program() const { return shared; }
  const Grid &grid() const { return shared.grid; }
  int64_t coordinate(int64_t axis) const {
    return shared.grid.coordinate(number, axis);
  }
  Transport &transport() { return messages; }
  /// Its group along `axes` (packed), which the grid has.
  const Group &group(int64_t axes);

  Statistics &statistics() { return counts; }
  const Statistics &statistics() const { return counts; }

  /// Kept values go to `sink`; without one they are dropped. Compiled code is
  /// left where `sink` has reported a failure.
  void setKeepSink(KeepSink sink) { keepSink = std::move(sink); }
  void keep(int64_t site, Tensor value) const {
    if (keepSink)
      keepSink(site, std::move(value));
  }

  const Position &position() const { return place; }
  void begin(const Call &call) { place.call = call; }
  void end() { ++place.done; }

  /// Notes why this rank cannot go on, unless that is known already: what comes
  /// first is the cause. Its body should return then.
  Error report(Error error);
  const std::optional<Error> &failure() const { return cause; }
  /// Forgets a failure and the position, before another run.
  void reset();

  /// Runs compiled code. Where one of its collectives fails, the frames between
  /// are left without unwinding and the failure is returned: `body` must own
  /// nothing that needs a destructor, and what compiled code had allocated
  /// leaks.
  std::optional<Error> protect(const std::function<void()> &body);

  /// Waits as `wait` does, in which other threads go on as this rank, and may
  /// enter compiled code and leave it.
  void suspend(const std::function<void()> &wait);

  /// Leaves compiled code after a reported failure, to the innermost `protect`.
  [[noreturn]] void unwind();

  /// "all_reduce_sum over axes [2] at site 3 (ffn_down)".
  std::string describe(const Call &call) const;
  /// "rank 0 waits for rank 1 in …, 17 done before": where it has stopped, and
  /// for whom it waits, if so.
  std::string describePosition(std::optional<int64_t> awaited) const;

  /// The process of this thread; null outside of a ProcessScope.
  static Process *current();

private:
  friend class ProcessScope;

  const Program &shared;
  int64_t number;
  Transport &messages;
  std::map<int64_t, Group> groups; ///< by packed axes
  Statistics counts;
  KeepSink keepSink;
  Position place;
  std::optional<Error> cause;
  std::jmp_buf *landing = nullptr; ///< of the innermost `protect`
};

/// Makes a process the current one of this thread.
class ProcessScope {
public:
  explicit ProcessScope(Process &process);
  ~ProcessScope();
  ProcessScope(const ProcessScope &) = delete;
  ProcessScope &operator=(const ProcessScope &) = delete;

private:
  Process *outer;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_PROCESS_H
