//===- ExternalSimulator.h - Simulators in processes ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BLACKBOX_EXTERNALSIMULATOR_H
#define SHARDOPT_SEARCH_BLACKBOX_EXTERNALSIMULATOR_H

#include "shardopt/Search/BlackBox/Failure.h"
#include "shardopt/Search/BlackBox/Protocol.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Support/Stop.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace shardopt::blackbox {

struct ExternalOptions {
  /// What is run, a path and its arguments.
  std::vector<std::string> command;
  /// Workers at most, each a process of its own; the second and later ones are
  /// started when they are needed.
  unsigned workers = 1;
  /// How long an answer may take.
  double timeoutSeconds = 60;
  /// How long the greeting may take: a worker may have much to load.
  double startTimeoutSeconds = 60;
  /// Ends a wait early; may be null.
  const StopToken *stop = nullptr;
  /// Told the first failure of each kind, from any thread, one at a time; may
  /// be empty.
  std::function<void(const std::string &)> warn = {};
};

/// The command of `simulator=exec:`, run by the shell.
std::vector<std::string> shellCommand(const std::string &command);

/// A black box behind version 1 of the protocol of external simulators
/// (docs/BlackBox.md), with a pool of workers that are killed with all that
/// they started when it is destroyed or when this process ends.
///
/// A worker that crashes, hangs, or answers nonsense or NaN costs the
/// evaluation, which has `Reason::Failed`, and is restarted where it must be.
/// Workers are taken to compute the same function of the strategy.
class ExternalSimulator final : public search::Simulator {
public:
  /// Starts the first worker. That it does not start or does not greet is an
  /// error, which quotes what it wrote on its standard error.
  static ErrorOr<std::unique_ptr<ExternalSimulator>>
  create(SimulatedProblem problem, ExternalOptions options);
  ~ExternalSimulator() override;

  Evaluation evaluate(const Strategy &strategy) const override;

  /// As the first worker introduced itself; may be empty.
  const std::string &name() const;
  /// The degrees that it reads in addition to those that every strategy has. A
  /// strategy that needs another one is a failure, and it is not asked.
  const std::vector<Degree> &degrees() const;
  /// The same of the layers of each stage.
  bool readsStages() const;
  unsigned workers() const;

  FailureCounts failures() const;

  /// Why no worker can be started any more, or none. Every evaluation fails
  /// from then on, so there is no point in going on.
  std::optional<Error> breakdown() const;

private:
  class Pool;
  explicit ExternalSimulator(std::unique_ptr<Pool> pool);
  const std::unique_ptr<Pool> pool;
};

} // namespace shardopt::blackbox

#endif // SHARDOPT_SEARCH_BLACKBOX_EXTERNALSIMULATOR_H
