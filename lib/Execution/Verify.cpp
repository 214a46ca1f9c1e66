//===- Verify.cpp - Sharded against unsharded -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Verify.h"
#include "FirstDifference.h"

#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Execution/Arguments.h"
#include "shardopt/Execution/Feeds.h"

#include <algorithm>
#include <cstdio>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::execution;

//===----------------------------------------------------------------------===//
// What is run
//===----------------------------------------------------------------------===//

static constexpr int64_t defaultPrompts = 4;
static constexpr int64_t defaultContext = 8;

ErrorOr<std::vector<RunRequest>>
execution::planRequests(const std::vector<ModuleOp> &modules,
                        const VerifyOptions &options) {
  std::vector<ProgramWorkload> workloads;
  for (ModuleOp module : modules) {
    ErrorOr<ProgramWorkload> workload = readProgramWorkload(module);
    if (!workload)
      return workload.error();
    workloads.push_back(*workload);
  }
  int64_t batch = workloads.front().batch;
  int64_t prompts = options.prompts ? options.prompts
                    : batch         ? batch
                                    : defaultPrompts;
  auto contextOf = [&](const ProgramWorkload &workload) {
    // The length of prompts is written into a program for prefill.
    return options.context && !workload.isPrefill ? options.context
           : workload.context                     ? workload.context
                                                  : defaultContext;
  };
  int64_t room = 0; // for the positions of all programs
  for (const ProgramWorkload &workload : workloads)
    room = std::max(room, contextOf(workload));
  for (const ProgramWorkload &workload : workloads)
    room += workload.isPrefill ? 0 : options.steps;

  int64_t rows = 0; // of a prompt, over the steps of all programs
  for (const ProgramWorkload &workload : workloads)
    rows += workload.isPrefill ? contextOf(workload) : options.steps;
  if (auto error = expectRoom(
          "the tokens and positions of " + std::to_string(prompts) + " prompts",
          tensors::countBytes(tensors::Element::I32, {2 * rows + 2, prompts})))
    return *error;
  std::vector<RunRequest> requests;
  std::vector<int64_t> position(prompts, 0); // where the prompts have come to
  for (size_t i = 0; i < modules.size(); ++i) {
    RunRequest &request = requests.emplace_back();
    request.seed = options.seed;
    request.prompts = prompts;
    request.cachePositions = room;
    ErrorOr<int64_t> vocabulary = findVocabulary(modules[i]);
    if (!vocabulary)
      return vocabulary.error();
    int64_t context = contextOf(workloads[i]);
    if (workloads[i].isPrefill) {
      request.rowsPerPrompt = context;
      request.steps = {
          randomPrompts(options.seed, prompts, context, *vocabulary)};
      std::fill(position.begin(), position.end(), context);
      continue;
    }
    if (requests.size() == 1) {
      request.areCachesRandom = true;
      for (int64_t p = 0; p < prompts; ++p)
        position[p] = std::max<int64_t>(0, context - 1 - p % 3);
    }
    request.steps = randomSteps(options.seed + requests.size(), position,
                                options.steps, *vocabulary);
    for (int64_t &place : position)
      place += options.steps;
  }
  return requests;
}

ErrorOr<Built> execution::buildWhole(ModuleOp module,
                                     const BuildOptions &options,
                                     Codegen codegen) {
  OwningOpRef<ModuleOp> copy = module.clone();
  dropAnnotation(*copy);
  requestLogits(*copy); // token ids alone would hide small errors
  return build(*copy, options, codegen);
}

ErrorOr<Built> execution::buildParts(ModuleOp module,
                                     const VerifyOptions &options,
                                     Codegen codegen) {
  OwningOpRef<ModuleOp> copy = module.clone();
  requestLogits(*copy);
  if (auto error = partition(*copy, options.partition))
    return *error;
  return build(*copy, options.build, codegen);
}

static ErrorOr<Executable>
loadWhole(ModuleOp module, const VerifyOptions &options, World &world) {
  return world.load([&](Codegen codegen) {
    return buildWhole(module, options.build, codegen);
  });
}

static ErrorOr<Executable>
loadParts(ModuleOp module, const VerifyOptions &options, World &world) {
  return world.load(
      [&](Codegen codegen) { return buildParts(module, options, codegen); });
}

//===----------------------------------------------------------------------===//
// Verdict
//===----------------------------------------------------------------------===//

static std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2e", value);
  return text;
}

std::string Verdict::line() const {
  if (!failure.empty()) // one line: what follows says where each rank was
    return "verify: FAILED " + failure.substr(0, failure.find('\n'));
  std::string text = isEqual ? "verify: OK" : "verify: FAILED";
  text += " max_abs=" + scientific(maxAbs) + " max_rel=" + scientific(maxRel);
  for (const ResultError &result : results)
    if (result.unequal > 0)
      text += " " + result.name + ": " + std::to_string(result.unequal) +
              " of " + std::to_string(result.count) + " differ";
  if (!firstDifference.empty())
    text += " first: " + firstDifference;
  return text;
}

void Verdict::add(std::vector<ResultError> found, double tolerance) {
  for (ResultError &result : found) {
    isEqual &= result.isWithin(tolerance);
    // A NaN stays.
    if (!(result.maxAbs <= maxAbs))
      maxAbs = result.maxAbs;
    if (!(result.maxRel <= maxRel))
      maxRel = result.maxRel;
    results.push_back(std::move(result));
  }
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Which op of `module` went wrong first: both forms again, keeping values.
static ErrorOr<std::string> explain(ModuleOp module, RunRequest whole,
                                    RunRequest parts,
                                    const VerifyOptions &options,
                                    const Weights &weights, World &world) {
  VerifyOptions keeping = options;
  keeping.build.lowering.keepValues = true;
  whole.wantsValues = parts.wantsValues = true;
  whole.wantsCaches = parts.wantsCaches = false;
  ErrorOr<Executable> one = loadWhole(module, keeping, world);
  if (!one)
    return one.error();
  auto expected = world.run(*one, weights, whole);
  if (!expected)
    return expected.error();
  ErrorOr<Executable> many = loadParts(module, keeping, world);
  if (!many)
    return many.error();
  auto found = world.run(*many, weights, parts);
  if (!found)
    return found.error();
  if (!world.isLeader())
    return std::string();
  return findFirstDifference(one->interface, expected->front(), many->interface,
                             *found, parts, options.tolerance);
}

ErrorOr<Verdict>
execution::verify(const std::vector<ModuleOp> &modules,
                  const VerifyOptions &options, const Weights &weights,
                  World &world, const std::vector<const Executable *> &wholes) {
  Verdict verdict;
  NamedTensors wholeCaches, partCaches;
  ErrorOr<std::vector<RunRequest>> requests = planRequests(modules, options);
  if (!requests)
    return requests.error();
  for (size_t i = 0; i < modules.size(); ++i) {
    ModuleOp module = modules[i];
    std::optional<Executable> built;
    if (wholes.empty()) {
      ErrorOr<Executable> whole = loadWhole(module, options, world);
      if (!whole)
        return whole.error();
      built = std::move(*whole);
    }
    const Executable &whole = wholes.empty() ? *built : *wholes[i];
    ErrorOr<Executable> parts = loadParts(module, options, world);
    if (!parts)
      return parts.error();

    RunRequest forWhole = (*requests)[i], forParts = (*requests)[i];
    forWhole.arguments = wholeCaches;
    forParts.arguments = partCaches;
    auto expected = world.run(whole, weights, forWhole);
    if (!expected)
      return expected.error();
    auto found = world.run(*parts, weights, forParts);
    if (!found) {
      verdict.isEqual = false;
      verdict.failure = found.error().message;
      return verdict;
    }
    Expected right;
    if (world.isLeader()) {
      right = collect(whole.interface, std::move(expected->front()));
      auto results = compare(right, parts->interface, *found, forParts);
      if (results && results->empty())
        verdict.failure = "the program has no results to compare";
      else if (results)
        verdict.add(std::move(*results), options.tolerance);
      else
        verdict.failure = results.error().message;
    }
    if (!world.agree(verdict.failure.empty())) {
      verdict.isEqual = false;
      return verdict;
    }
    if (!world.agree(verdict.isEqual)) {
      verdict.isEqual = false;
      ErrorOr<std::string> first =
          explain(module, forWhole, forParts, options, weights, world);
      verdict.firstDifference = first ? *first : first.error().message;
      return verdict;
    }
    if (!world.isLeader())
      continue;
    ErrorOr<Expected> assembled = assemble(parts->interface, *found, forParts);
    if (!assembled)
      return assembled.error();
    partCaches = std::move(assembled->caches);
    wholeCaches = std::move(right.caches);
  }
  return verdict;
}
