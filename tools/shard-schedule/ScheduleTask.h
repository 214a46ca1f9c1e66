//===- ScheduleTask.h - What the options ask to schedule --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SCHEDULE_SCHEDULETASK_H
#define SHARDOPT_TOOLS_SCHEDULE_SCHEDULETASK_H

#include "shardopt/Solvers/Schedule/Baselines.h"
#include "shardopt/Support/Stop.h"

#include <string>
#include <vector>

struct Options;

struct ScheduleTask {
  explicit ScheduleTask(shardopt::schedule::Instance instance)
      : instance(std::move(instance)) {}

  shardopt::schedule::Instance instance;
  /// Orders made by hand, HEFT, or what a pattern is compared with.
  std::vector<shardopt::schedule::Baseline> baselines;
  /// Rows that the summary begins with, and their names.
  std::vector<std::pair<std::string, std::string>> notes;
};

/// The placement that the options name, or `otherwise`.
shardopt::schedule::Placement
placementOf(const Options &options, shardopt::schedule::Placement otherwise);

/// The pipeline of so many devices, and the repetitions of its graph for so
/// many micro-batches; an error where they cannot be halved.
struct PipelineTask {
  shardopt::schedule::Pipeline pipeline;
  int32_t copies = 1;
};
shardopt::ErrorOr<PipelineTask>
pipelineOf(const Options &options, int64_t devices, int64_t microbatches);

/// Reads the graph, or makes that of the pattern.
shardopt::ErrorOr<ScheduleTask> makeTask(const Options &options);

/// Steps of the module, a problem for each number of chunks, with the orders
/// that it is compared with; in a build without the compiler an error.
shardopt::ErrorOr<std::vector<ScheduleTask>>
makeModuleTasks(const Options &options);

/// What --joint prints, and what it writes to --report, -o, --gantt and
/// --trace; what is not asked for may be empty.
struct JointText {
  std::string summary, report, schedule, gantt, trace;
};

/// Chooses dims, stages and order of the module's degrees together.
shardopt::ErrorOr<JointText> planJoint(const Options &options,
                                       const shardopt::StopToken *stop);

/// One of several problems that are solved to be compared.
struct Variant {
  std::string name; ///< "memory 6", "2 batches"
  std::optional<int64_t> memory;
  ScheduleTask problem;
};

/// The points of a front, from the least memory on, or the ways to cut a batch
/// or the micro-batches of a module; a single one, without a name, where the
/// options ask for neither.
shardopt::ErrorOr<std::vector<Variant>> makeVariants(const Options &options);

#endif // SHARDOPT_TOOLS_SCHEDULE_SCHEDULETASK_H
