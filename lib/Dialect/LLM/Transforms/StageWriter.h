//===- StageWriter.h - Writes the function of a stage -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stage does its iterations of the repeats, and whatever else its results
// are made of: sizes, coordinates and reshards of positions, say, are made
// again in every stage that reads them. What is made of layers comes with the
// residual, or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGEWRITER_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGEWRITER_H

#include "StagePlan.h"
#include "StageTransfer.h"

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace shardopt::llm {

class StageWriter {
public:
  StageWriter(const StagePlan &plan, const StageTransfer &transfer,
              int64_t stage)
      : plan(plan), transfer(transfer), stage(stage),
        builder(plan.getFunction().getContext()) {}

  /// Writes the function, called `name`, in front of the one that is cut.
  /// Errors: an op that needs what another stage makes.
  mlir::LogicalResult write(llvm::StringRef name);

private:
  bool isFirst() const { return stage == 0; }
  Iterations getPart(RepeatOp repeat) const {
    return plan.getPart(repeat, stage);
  }
  /// The value that the stage receives; null where it has no name.
  mlir::Value getReceived() const;

  mlir::LogicalResult collect();
  mlir::LogicalResult require(mlir::Value value, mlir::Operation *user);
  mlir::LogicalResult requireOperands(mlir::Operation *op);
  mlir::LogicalResult requireMade(mlir::OpResult value, mlir::Operation *user);

  bool keepsArgument(mlir::BlockArgument argument) const;
  bool keepsResult(mlir::Value result) const;
  mlir::Type typeHere(mlir::Value value) const;
  mlir::FailureOr<mlir::DictionaryAttr>
  describe(mlir::Value value, const llvm::Twine &place, const llvm::Twine &name,
           mlir::DictionaryAttr attributes);
  lowered::SliceDim describeLayers(RepeatOp repeat);

  mlir::LogicalResult declare(llvm::StringRef name);
  mlir::LogicalResult writeBody();
  mlir::LogicalResult writePart(RepeatOp repeat);
  void writeEnd();
  mlir::Value getSent();

  const StagePlan &plan;
  const StageTransfer &transfer;
  int64_t stage;
  mlir::OpBuilder builder;
  mlir::IRMapping mapping;

  /// Ops of the program that the stage does, and those whose operands are to
  /// be looked at yet.
  llvm::DenseSet<mlir::Operation *> required;
  llvm::SmallVector<mlir::Operation *> open;
  llvm::DenseSet<mlir::Value> requiredArguments;
  mlir::Value received; ///< in the stage's function
};

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGEWRITER_H
