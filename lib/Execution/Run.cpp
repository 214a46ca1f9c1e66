//===- Run.cpp - Runs a program, rank by rank -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Run.h"
#include "Descriptors.h"

#include "shardopt/Conversion/Pipelines.h"
#include "shardopt/Execution/Arguments.h"

using namespace shardopt;
using namespace shardopt::execution;
using namespace shardopt::tensors;

namespace {

class Rank {
public:
  Rank(runtime::Process &process, const Executable &program,
       const RunRequest &request)
      : process(process), request(request), sites(program.interface.sites),
        place(program.interface.place(process.rank(), request.prompts)),
        stage(program.interface.stages[place.coordinate(Axis::Pp)]) {}

  std::optional<Error> prepare(const Executable &program,
                               const Weights &weights);
  std::optional<Error> step(const Feed &feed);
  RankOutcome finish();

private:
  Place placeOf(int64_t microBatch) const;
  Tensor cut(const Tensor &global, const Operand &operand,
             int64_t microBatch) const;
  std::optional<Error> call(std::vector<Tensor *> &arguments,
                            std::vector<Tensor> &results);
  std::optional<Error> runMicroBatch(const Feed &feed, int64_t index,
                                     std::vector<Tensor> &results);
  std::optional<Error> stepInTurns(const Feed &feed,
                                   std::vector<std::vector<Tensor>> &results);

  runtime::Process &process;
  const RunRequest &request;
  const std::vector<Site> &sites;
  Place place;
  const Entry &stage;
  EntryPoint entry = nullptr;
  /// By argument of the stage: params, and what does not change.
  std::vector<Tensor> fixed;
  /// By micro-batch, cache of the stage.
  std::vector<std::vector<Tensor>> caches;
  int64_t microBatch = 0; ///< that is being run
  RankOutcome outcome;
};

} // namespace

Place Rank::placeOf(int64_t index) const {
  Place result = place;
  result.microBatch = index;
  return result;
}

Tensor Rank::cut(const Tensor &global, const Operand &operand,
                 int64_t index) const {
  return take(global, entriesOf(operand.slice, global.shape(), request.prompts,
                                placeOf(index)));
}

std::optional<Error> Rank::prepare(const Executable &program,
                                   const Weights &weights) {
  ErrorOr<EntryPoint> found = program.code.find(entryName(stage.name));
  if (!found)
    return found.error();
  entry = *found;
  caches.resize(place.microBatches);
  for (const Operand &operand : stage.arguments) {
    Tensor &slot = fixed.emplace_back();
    if (operand.role == Role::Tokens || operand.role == Role::Positions)
      continue;
    bool isGiven = request.arguments.count(operand.name);
    if (operand.role == Role::Param && !isGiven) {
      ErrorOr<Tensor> param = weights.load(operand, place);
      if (!param)
        return param.error();
      slot = std::move(*param);
      continue;
    }
    ErrorOr<Tensor> global = makeArgument(operand, request);
    if (!global)
      return global.error();
    if (operand.role != Role::Cache) {
      slot = cut(*global, operand, 0);
      continue;
    }
    for (int64_t i = 0; i < place.microBatches; ++i)
      caches[i].push_back(cut(*global, operand, i));
  }
  process.statistics().setParts(program.interface.listParts());
  if (request.wantsValues)
    process.setKeepSink([this](int64_t site, Tensor value) {
      outcome.values.push_back({site, microBatch, std::move(value)});
    });
  return std::nullopt;
}

std::optional<Error> Rank::call(std::vector<Tensor *> &arguments,
                                std::vector<Tensor> &results) {
  std::vector<Descriptor> descriptors;
  for (Tensor *argument : arguments)
    descriptors.emplace_back(*argument);
  ResultSpace space(stage.results);

  // All arguments are pointers: to the results, then to the descriptors.
  std::vector<void *> pointers;
  if (void *address = space.address())
    pointers.push_back(address);
  for (Descriptor &descriptor : descriptors)
    pointers.push_back(descriptor.address());
  if (auto error = process.protect([&] { entry(pointers.data()); }))
    return error;
  results = space.take();
  return std::nullopt;
}

std::optional<Error> Rank::runMicroBatch(const Feed &feed, int64_t index,
                                         std::vector<Tensor> &results) {
  microBatch = index;
  Tensor tokens, positions;
  std::vector<Tensor *> arguments;
  size_t cache = 0;
  for (size_t i = 0; i < stage.arguments.size(); ++i) {
    const Operand &operand = stage.arguments[i];
    if (operand.role == Role::Tokens)
      tokens = cut(feed.tokens, operand, index);
    if (operand.role == Role::Positions)
      positions = cut(feed.positions, operand, index);
    arguments.push_back(operand.role == Role::Tokens      ? &tokens
                        : operand.role == Role::Positions ? &positions
                        : operand.role == Role::Cache ? &caches[index][cache++]
                                                      : &fixed[i]);
  }
  return call(arguments, results);
}

std::optional<Error> Rank::step(const Feed &feed) {
  auto &results = outcome.results.emplace_back(place.microBatches);
  if (request.plan)
    return stepInTurns(feed, results);
  for (int64_t index = 0; index < place.microBatches; ++index)
    if (auto error = runMicroBatch(feed, index, results[index]))
      return error;
  return std::nullopt;
}

/// Micro-batches give way to each other where an op has made its value.
std::optional<Error>
Rank::stepInTurns(const Feed &feed, std::vector<std::vector<Tensor>> &results) {
  const PlannedOrder &plan = *request.plan;
  runtime::Turns turns(
      process, plan.turns(place.coordinate(Axis::Pp)), place.microBatches,
      [&](const runtime::Turn &turn) { return plan.describe(turn); });
  process.setKeepSink([&](int64_t site, Tensor value) {
    if (request.wantsValues)
      outcome.values.push_back({site, turns.running(), std::move(value)});
    turns.finish(plan.labelOf(sites[site].kept->op));
  });
  std::optional<Error> error = turns.run([&](int64_t index) {
    return runMicroBatch(feed, index, results[index]);
  });
  process.setKeepSink(nullptr);
  outcome.turns.push_back(turns.done());
  return error;
}

RankOutcome Rank::finish() {
  process.setKeepSink(nullptr);
  outcome.statistics = process.statistics().sites();
  if (request.wantsCaches)
    outcome.caches = std::move(caches);
  return std::move(outcome);
}

ErrorOr<RankOutcome> execution::runRank(runtime::Process &process,
                                        const Executable &program,
                                        const Weights &weights,
                                        const RunRequest &request) {
  Rank rank(process, program, request);
  if (auto error = rank.prepare(program, weights))
    return *error;
  for (const Feed &feed : request.steps)
    if (auto error = rank.step(feed))
      return *error;
  return rank.finish();
}
