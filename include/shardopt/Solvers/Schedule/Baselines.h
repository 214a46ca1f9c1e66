//===- Baselines.h - What a pipeline's schedule is compared with *- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_BASELINES_H
#define SHARDOPT_SOLVERS_SCHEDULE_BASELINES_H

#include "shardopt/Solvers/Schedule/ExpertOrders.h"

namespace shardopt::schedule {

/// An order made by hand, for as many devices, micro-batches and layers, or by
/// the usual heuristic.
struct Baseline {
  std::string name; ///< "1f1b", "zb1p", "dualpipe", "dualpipe_retimed", "heft"
  int64_t makespan = 0;
  int64_t bubble = 0;
  int64_t peak = 0; ///< activations of chunks of its own placement
  /// The bubble of its published formula, where there is one.
  std::optional<int64_t> published;
  /// Where it is a schedule of the same instance.
  std::optional<Schedule> schedule;
};

/// Those that are defined for the pipeline: of chunks, or, with
/// `expertTimes`, of single operators. A placement with several chunks a device
/// is compared with linear orders of as many times longer chunks. `instance` is
/// of `pipeline`.
std::vector<Baseline>
computeBaselines(const Instance &instance, const Pipeline &pipeline,
                 int32_t microbatches, const TrainTimes &times,
                 const std::optional<ExpertTimes> &expertTimes);

/// HEFT, for graphs with groups that are free; nothing for others, and where it
/// finds no schedule.
std::vector<Baseline> computeFreeBaselines(const Instance &instance);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_BASELINES_H
