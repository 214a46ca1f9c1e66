//===- Mpi.cpp - Ranks that are processes ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Arguments.h"
#include "shardopt/Execution/OutcomeBytes.h"
#include "shardopt/Execution/Runtime/Collectives.h"
#include "shardopt/Execution/World.h"

#include <cstdlib>

using namespace shardopt;
using namespace shardopt::execution;

namespace {

class Mpi final : public World {
public:
  explicit Mpi(std::unique_ptr<runtime::MpiWorld> world)
      : world(std::move(world)) {}

  bool isLeader() const override { return world->rank() == 0; }
  std::string concede(const std::string &failure) override {
    return world->concede(failure);
  }
  std::optional<Error> finish() override { return world->finish(); }
  void abandon(int status) override { world->abort(status); }
  bool agree(bool leaders) override;
  ErrorOr<Executable>
  load(const std::function<ErrorOr<Built>(Codegen)> &build) override;
  ErrorOr<std::vector<RankOutcome>> run(const Executable &program,
                                        const Weights &weights,
                                        const RunRequest &request) override;

private:
  std::unique_ptr<runtime::MpiWorld> world;
};

} // namespace

bool Mpi::agree(bool leaders) {
  auto said = runtime::broadcastBytes(world->host(), leaders ? "1" : "0");
  return said && *said == "1";
}

ErrorOr<Executable>
Mpi::load(const std::function<ErrorOr<Built>(Codegen)> &build) {
  ErrorOr<Built> built =
      build(isLeader() ? Codegen::Object : Codegen::InterfaceOnly);
  if (!agree(bool(built)))
    return built ? Error{"the first process could not build the program"}
                 : built.error();
  if (!built)
    return built.error();
  auto object =
      runtime::broadcastBytes(world->host(), std::move(built->object));
  if (!object)
    return object.error();
  built->object = std::move(*object);
  return execution::load(std::move(*built));
}

ErrorOr<std::vector<RankOutcome>> Mpi::run(const Executable &program,
                                           const Weights &weights,
                                           const RunRequest &request) {
  const ProgramInterface &interface = program.interface;
  if (interface.ranks() > world->size())
    return Error{"the program has " + std::to_string(interface.ranks()) +
                 " ranks, mpirun started " + std::to_string(world->size()) +
                 " processes"};
  RunRequest shared = request;
  auto arguments = runtime::broadcastBytes(
      world->host(), isLeader() ? serialize(request.arguments) : "");
  if (!arguments)
    return arguments.error();
  ErrorOr<NamedTensors> given = deserializeTensors(*arguments);
  if (!given)
    return given.error();
  shared.arguments = std::move(*given);

  std::string bytes;
  auto error =
      world->run(interface.grid.shape(), interface.describeSites(),
                 runtime::Extent::FirstRanks, [&](runtime::Process &process) {
                   int64_t rank = process.rank();
                   if (auto error = expectRoom(interface, shared, {&rank, 1})) {
                     process.report(*error);
                     return;
                   }
                   ErrorOr<RankOutcome> outcome =
                       runRank(process, program, weights, shared);
                   if (outcome)
                     bytes = serialize(*outcome);
                   else
                     process.report(outcome.error());
                 });
  if (error)
    return *error;
  auto gathered = runtime::gatherBytes(world->host(), std::move(bytes));
  if (!gathered)
    return gathered.error();
  std::vector<RankOutcome> outcomes;
  std::optional<Error> unread;
  for (int64_t rank = 0; isLeader() && !unread && rank < interface.ranks();
       ++rank) {
    ErrorOr<RankOutcome> outcome = deserialize((*gathered)[rank]);
    if (outcome)
      outcomes.push_back(std::move(*outcome));
    else
      unread = outcome.error();
  }
  // The others go on only with the leader, or would wait for it for ever.
  if (!agree(!unread))
    return unread ? *unread
                  : Error{"the first process could not read the results"};
  return outcomes;
}

ErrorOr<std::unique_ptr<World>> execution::createMpiWorld(runtime::MpiKind kind,
                                                          double timeLimit) {
  auto world = runtime::MpiWorld::open(kind, timeLimit);
  if (!world)
    return world.error();
  return std::unique_ptr<World>(std::make_unique<Mpi>(std::move(*world)));
}

bool execution::isUnderMpi() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE");
}
