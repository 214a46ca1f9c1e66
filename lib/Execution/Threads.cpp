//===- Threads.cpp - Ranks that are threads -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Arguments.h"
#include "shardopt/Execution/Runtime/ThreadWorld.h"
#include "shardopt/Execution/World.h"

#include <cstdlib>
#include <numeric>

using namespace shardopt;
using namespace shardopt::execution;

/// Threads of one process; more would take its memory.
static constexpr int64_t mostRanks = 1024;

namespace {

class Threads final : public World {
public:
  bool isLeader() const override { return true; }
  std::string concede(const std::string &failure) override { return failure; }
  std::optional<Error> finish() override { return std::nullopt; }
  void abandon(int status) override { std::exit(status); }
  bool agree(bool leaders) override { return leaders; }
  ErrorOr<Executable>
  load(const std::function<ErrorOr<Built>(Codegen)> &build) override;
  ErrorOr<std::vector<RankOutcome>> run(const Executable &program,
                                        const Weights &weights,
                                        const RunRequest &request) override;
};

} // namespace

ErrorOr<Executable>
Threads::load(const std::function<ErrorOr<Built>(Codegen)> &build) {
  ErrorOr<Built> built = build(Codegen::Object);
  if (!built)
    return built.error();
  return execution::load(std::move(*built));
}

ErrorOr<std::vector<RankOutcome>> Threads::run(const Executable &program,
                                               const Weights &weights,
                                               const RunRequest &request) {
  const ProgramInterface &interface = program.interface;
  if (interface.ranks() > mostRanks)
    return Error{"the program has " + std::to_string(interface.ranks()) +
                 " ranks, expected at most " + std::to_string(mostRanks) +
                 " threads"};
  std::vector<int64_t> ranks(interface.ranks());
  std::iota(ranks.begin(), ranks.end(), 0);
  if (auto error = expectRoom(interface, request, ranks))
    return *error;
  runtime::ThreadWorld world(interface.grid.shape(), interface.describeSites());
  std::vector<RankOutcome> outcomes(interface.ranks());
  auto error = world.run([&](runtime::Process &process) {
    ErrorOr<RankOutcome> outcome = runRank(process, program, weights, request);
    if (outcome)
      outcomes[process.rank()] = std::move(*outcome);
    else
      process.report(outcome.error());
  });
  if (error)
    return *error;
  return outcomes;
}

std::unique_ptr<World> execution::createThreadWorld() {
  return std::make_unique<Threads>();
}
