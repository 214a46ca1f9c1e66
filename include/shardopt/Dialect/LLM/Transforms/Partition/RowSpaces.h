//===- RowSpaces.h - The rows that values of a program share ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_ROWSPACES_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_ROWSPACES_H

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/RowBlocks.h"
#include "shardopt/Model/Context.h"

#include <memory>

namespace shardopt::llm {

class Emitter;

/// A set of rows that values share, and how layout T cuts it. Values of one
/// type may lie in different spaces: rows of tokens, and the copies of them
/// that a dispatch sends to experts.
struct RowSpace {
  llvm::StringRef name; ///< "tokens", "prompts" or "experts"
  RowBlocks blocks;     ///< null values where all blocks are whole
  double cost = 0;      ///< rows whose reshards are charged
  DispatchOp dispatch;  ///< what sent the rows of experts; else null
  Axis over = Axis::Tp; ///< the devices that layouts are over
  /// Rows stand [outer][rows]; the second are sharded.
  int64_t outer = 1;
  /// Rows of a prompt where positions are dealt to the blocks in turn; 0 where
  /// blocks are of rows that follow each other.
  int64_t dealt = 0;

  /// How often each device's block has a position of a prompt, over `ranks`.
  int64_t dealtRows(int64_t ranks) const {
    return shardopt::ceilDiv(dealt, ranks);
  }
};

/// Fails at `op`, which reads rows of `found`, unless these are `wanted`.
mlir::LogicalResult expectRows(mlir::Operation *op, const RowSpace *found,
                               const RowSpace *wanted);

/// Fails at `op`, which `reads` rows of two operands, unless these are the
/// same; a null `first` is of no operand yet.
mlir::LogicalResult expectSameRows(mlir::Operation *op, llvm::StringRef reads,
                                   const RowSpace *first,
                                   const RowSpace *second);

/// The row spaces of a function.
class RowSpaces {
public:
  /// Those of tokens and prompts. What depends on the number of rows alone is
  /// computed at the end of `body`, the entry of the new program of `func`.
  /// Where all rows of a stage are gathered, `emit` makes blocks of all its
  /// replicas alike.
  void create(const Emitter &emit, mlir::Operation *func, mlir::Block &body,
              const cost::Context &context);

  const RowSpace *getTokens() const { return &tokens; }
  /// The last rows of prompts of `sequence` tokens: all of them in decode.
  const RowSpace *getPrompts(int64_t sequence) const {
    return sequence == 1 ? &tokens : &prompts;
  }
  /// The `copies` rows that `dispatch` sends.
  const RowSpace *addExperts(DispatchOp dispatch, double copies);

private:
  RowSpace tokens, prompts;
  llvm::SmallVector<std::unique_ptr<RowSpace>> experts;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_ROWSPACES_H
