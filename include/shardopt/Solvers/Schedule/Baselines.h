//===- Baselines.h - What a pipeline's schedule is compared with *- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_BASELINES_H
#define SHARDOPT_SOLVERS_SCHEDULE_BASELINES_H

#include "shardopt/Solvers/Schedule/ExpertOrders.h"

#include <functional>

namespace shardopt::schedule {

/// An order made by hand, for as many devices, micro-batches and layers, or by
/// the usual heuristic.
struct Baseline {
  /// "1f1b", "zb1p", "zbv", "v_half", "v_min", "chimera", "hanayo", "dualpipe",
  /// or "heft"; with "_retimed" behind it if operators start early.
  std::string name;
  int64_t makespan = 0;
  int64_t bubble = 0;
  /// Of the worst device: activations of chunks of its own placement, or bytes
  /// with those of parameters.
  int64_t peak = 0;
  /// The bubble of its published formula, where there is one.
  std::optional<int64_t> published;
  /// Where it is a schedule of the same instance.
  std::optional<Schedule> schedule;
};

/// The model that is trained in as many chunks as a pipeline has; nothing where
/// it has no such chunks.
using TrainedModel =
    std::function<std::optional<TrainChunks>(const Pipeline &)>;

/// Those that are defined for the pipeline: of `instance`, which is of
/// `pipeline`, and of the same model in the placements of other orders.
std::vector<Baseline> computeBaselines(const Instance &instance,
                                       const Pipeline &pipeline,
                                       int32_t microbatches,
                                       const TrainedModel &model);
/// The same of equal chunks. Orders with fewer chunks on a device than the
/// pipeline have as many times longer ones; those with more are left out.
std::vector<Baseline> computeBaselines(const Instance &instance,
                                       const Pipeline &pipeline,
                                       int32_t microbatches,
                                       const TrainTimes &times);
/// The same of single operators.
std::vector<Baseline> computeBaselines(const Instance &instance,
                                       const Pipeline &pipeline,
                                       int32_t microbatches,
                                       const ExpertTimes &times);

/// HEFT, for graphs with groups that are free; nothing for others, and where it
/// finds no schedule.
std::vector<Baseline> computeFreeBaselines(const Instance &instance);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_BASELINES_H
