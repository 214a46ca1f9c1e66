//===- PlannedOrder.h - A schedule that a program follows -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `--llm-schedule-stages` writes, as ranks execute it. A turn is an op of
// a micro-batch: its kernels, the collectives in front of them, and those that
// the op before left behind. Ranks of a stage take turns in the order in which
// its kernels were planned to start.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_PLANNEDORDER_H
#define SHARDOPT_EXECUTION_PLANNEDORDER_H

#include "shardopt/Execution/ProgramInterface.h"
#include "shardopt/Execution/Runtime/Turns.h"
#include "shardopt/Support/Error.h"

namespace shardopt::execution {

class PlannedOrder {
public:
  /// Reads a schedule. Errors name the place in the file: what is no schedule
  /// of stages and micro-batches, and what no pipeline can follow, kernels of a
  /// stage that overlap, micro-batches that begin in a stage before they leave
  /// the one before, or pass each other between two.
  static ErrorOr<PlannedOrder> read(const std::string &path);

  /// Leaves out the ops whose end `interface`, a program that keeps values,
  /// does not tell of, but for the last in each stage. An error where the
  /// program, run for `prompts`, has other stages or micro-batches.
  std::optional<Error> fit(const ProgramInterface &interface, int64_t prompts);

  const std::vector<runtime::Turn> &turns(int64_t stage) const {
    return byStage[stage];
  }
  /// The label of turns of `op`; -1 where the plan has none.
  int64_t labelOf(const std::string &op) const;
  /// "'ffn_up' of micro-batch 1".
  std::string describe(const runtime::Turn &turn) const;

private:
  class Reader;

  std::vector<std::string> ops; ///< by label
  std::vector<std::vector<runtime::Turn>> byStage;
  int64_t microBatches = 0;
};

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_PLANNEDORDER_H
