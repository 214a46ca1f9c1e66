//===- Server.h - The worker's side of the protocol -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BLACKBOX_SERVER_H
#define SHARDOPT_SEARCH_BLACKBOX_SERVER_H

#include "shardopt/Search/BlackBox/Protocol.h"
#include "shardopt/Support/Json.h"

namespace shardopt::blackbox {

/// What a service says of a strategy.
struct Answer {
  Evaluation evaluation;
  /// No strategy of these degrees can be feasible: they are structural, or
  /// their least memory exceeds that of a device. False where it is not known.
  bool masked = false;
};

/// A simulator as a worker offers it. Called from one thread.
class Service {
public:
  virtual ~Service();

  /// Accepts the problem of `hello`, or says why not. A later hello starts
  /// afresh.
  virtual std::optional<Error> greet(const Hello &hello) = 0;

  /// The name that the greeting gives.
  virtual std::string name() const = 0;
  /// The degrees that it reads in addition to those that every strategy has.
  virtual std::vector<Degree> degrees() const { return {}; }
  /// Whether it reads the layers of each stage.
  virtual bool readsStages() const { return false; }
  /// Writes further members of the greeting.
  virtual void describe(json::Writer &) const {}

  virtual const std::vector<std::string> &opNames() const = 0;
  virtual LatencyKey latencyKey() const = 0;

  /// Evaluates a strategy that has a dim for every op. An error is a strategy
  /// that the simulator failed on.
  virtual ErrorOr<Answer> evaluate(const Strategy &strategy) = 0;
};

/// Answers the lines that come on the descriptor `in` on `out`, one by one,
/// until `in` ends. What is wrong in a line is answered by an error line. False
/// if `in` cannot be read or nobody reads `out` any more.
bool serve(Service &service, int in, int out);

/// Writes `text` to a descriptor that blocks. Whether all of it was taken.
bool writeAll(int descriptor, std::string_view text);

} // namespace shardopt::blackbox

#endif // SHARDOPT_SEARCH_BLACKBOX_SERVER_H
