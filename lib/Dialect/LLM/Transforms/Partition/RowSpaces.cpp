//===- RowSpaces.cpp - The rows that values of a program share ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/RowSpaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// The length of a prompt, as the program's attention says: 1 in decode.
static int64_t promptLength(Operation *func) {
  int64_t length = 1;
  func->walk([&](AttentionOp op) { length = op.getSequence(); });
  func->walk([&](LmHeadOp op) { length = op.getSequence(); });
  return length;
}

/// Whether rows stay cut from an attention's norm on.
static bool keepsRows(Value value) {
  Operation *op = value.getDefiningOp();
  auto shardable = dyn_cast_or_null<ShardableOpInterface>(op);
  if (!shardable || !shardable.getShardingDim())
    return false;
  if (isa<RmsNormOp>(op))
    return *shardable.getShardingDim() == Dim::Zero;
  return isa<QkvProjOp, LinearOp>(op) &&
         *shardable.getShardingDim() == Dim::None &&
         keepsRows(op->getOperand(0));
}

/// Whether an attention works on whole prompts of a device, so that blocks must
/// not split one.
static bool hasAttentionInBlocks(Operation *func,
                                 const cost::Context &context) {
  if (!context.isPrefill() || context.microBatch % context.degrees.tp != 0)
    return false;
  bool found = false;
  func->walk([&](AttentionOp op) {
    found |= op.getShardingDim() == Dim::None && keepsRows(op.getInput());
  });
  return found;
}

/// The argument whose rows are the program's.
static BlockArgument findRows(Block &body) {
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && (type.getRank() == 1 || type.getRank() == 2) &&
        type.isDynamicDim(0))
      return argument;
  }
  return {};
}

void RowSpaces::create(OpBuilder &builder, Operation *func, Block &body,
                       const cost::Context &context) {
  tokens = {"tokens", {}, double(context.rows), {}};
  prompts = {"prompts", {}, double(context.microBatch), {}};
  BlockArgument source = findRows(body);
  if (!source)
    return;
  Location loc = func->getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value rows = tensor::DimOp::create(builder, loc, source, index(0));
  tokens.blocks.rows = prompts.blocks.rows = rows;
  int64_t length = promptLength(func);
  if (length > 1)
    prompts.blocks.rows =
        arith::DivUIOp::create(builder, loc, rows, index(length));
  int64_t tp = context.degrees.tp;
  if (tp == 1)
    return;
  prompts.blocks = cutRows(builder, loc, prompts.blocks.rows, tp);
  Value block; // of tokens: blocks of prompts, or of any rows
  if (hasAttentionInBlocks(func, context))
    block = arith::MulIOp::create(builder, loc, prompts.blocks.block,
                                  index(length));
  tokens.blocks = cutRows(builder, loc, rows, tp, block);
}

const RowSpace *RowSpaces::addExperts(DispatchOp dispatch, double copies) {
  experts.push_back(
      std::make_unique<RowSpace>(RowSpace{"experts", {}, copies, dispatch}));
  return experts.back().get();
}
