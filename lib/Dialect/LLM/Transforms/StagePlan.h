//===- StagePlan.h - Where the stages of a program begin --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of an entry function are the iterations of its repeats, in
// program order. A boundary lies in front of a layer; across it travels the
// residual, as the loop that follows carries it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGEPLAN_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGEPLAN_H

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Model/Placement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "llvm/ADT/DenseMap.h"

namespace shardopt::llm {

/// The residual where one stage ends and the next begins.
struct Boundary {
  /// The value of the program, null where layers of one repeat are parted.
  mlir::Value value;
  mlir::RankedTensorType type;
  mlir::Operation *place = nullptr; ///< what a stage receives it in front of
  mlir::Value rows; ///< how many it has on a device, an index of the program
  cost::Layout layout = cost::Layout::R;
  double rowBytes = 0; ///< of a row with all features
};

/// Iterations [begin, end) of a repeat.
struct Iterations {
  int64_t begin = 0, end = 0;
  bool isEmpty() const { return begin >= end; }
  int64_t size() const { return end - begin; }
};

class StagePlan {
public:
  /// Plans the stages of `degrees` for `func`, whose one block it gives ops
  /// that compute rows of boundaries. Errors: no layers, stages that do not
  /// divide them, ops that have no stage, stacks of layers that something
  /// next to their repeat reads, or a residual of unknown rows.
  static mlir::FailureOr<StagePlan> create(mlir::func::FuncOp func,
                                           mlir::shard::GridOp grid,
                                           const Degrees &degrees);

  mlir::func::FuncOp getFunction() const { return func; }
  mlir::shard::GridOp getGrid() const { return grid; }
  int64_t getNumStages() const { return numStages; }
  bool isLast(int64_t stage) const { return stage + 1 == numStages; }

  llvm::ArrayRef<RepeatOp> getRepeats() const { return repeats; }
  /// What stage `stage` does of `repeat`.
  Iterations getPart(RepeatOp repeat, int64_t stage) const;
  /// The residual in front of stage `stage`, which is not the first.
  const Boundary &getBoundary(int64_t stage) const {
    return boundaries[stage - 1];
  }
  /// The repeat that has `value` as a stack, an argument or a result; null if
  /// it is none.
  RepeatOp getStackOwner(mlir::Value value) const {
    return stackOwners.lookup(value);
  }

private:
  StagePlan(mlir::func::FuncOp func, mlir::shard::GridOp grid,
            const Degrees &degrees)
      : func(func), grid(grid), numStages(degrees.pp), cut(degrees.stages) {}

  /// The first layer of `stage`, of those of all repeats.
  int64_t firstLayer(int64_t stage) const {
    return cut.firstLayer(numLayers, stage, numStages);
  }
  /// The first stage that begins in the middle of `repeat`.
  std::optional<int64_t> findParting(RepeatOp repeat) const;
  mlir::LogicalResult findLayers();
  mlir::LogicalResult findStacks();
  mlir::LogicalResult placeBoundaries();
  mlir::FailureOr<Boundary> makeBoundary(int64_t layer);

  mlir::func::FuncOp func;
  mlir::shard::GridOp grid;
  int64_t numStages;
  StageCut cut;
  llvm::SmallVector<RepeatOp> repeats;
  llvm::DenseMap<mlir::Operation *, int64_t> firstLayers; ///< of repeats
  int64_t numLayers = 0;
  llvm::SmallVector<Boundary> boundaries;
  llvm::DenseMap<mlir::Value, RepeatOp> stackOwners;
};

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGEPLAN_H
