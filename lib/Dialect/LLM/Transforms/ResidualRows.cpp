//===- ResidualRows.cpp - How many rows a device holds --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidualRows.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

/// Follows a value to where its rows come from, and comes back with what every
/// op on the way did to their number.
class RowCounter {
public:
  RowCounter(OpBuilder &builder, Operation *user, shard::GridOp grid)
      : builder(builder), loc(user->getLoc()), user(user), grid(grid) {}

  FailureOr<ResidualRows> count(Value value);

private:
  FailureOr<ResidualRows> countMade(Operation *op);
  ResidualRows sizeOf(Value tensor);
  /// The rows of `op`'s operand, gathered over its group or sharded on it.
  template <typename OpTy> FailureOr<ResidualRows> gathered(OpTy op);
  template <typename OpTy> FailureOr<ResidualRows> cut(OpTy op);
  template <typename OpTy> Value groupSize(OpTy op);

  OpBuilder &builder;
  Location loc;
  Operation *user;
  shard::GridOp grid;
};

} // namespace

ResidualRows RowCounter::sizeOf(Value tensor) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return {tensor::DimOp::create(builder, loc, tensor, zero), false};
}

template <typename OpTy> Value RowCounter::groupSize(OpTy op) {
  int64_t size = 1;
  for (int16_t axis : op.getGridAxes())
    size *= grid.getShape()[axis];
  return arith::ConstantIndexOp::create(builder, loc, size);
}

template <typename OpTy> FailureOr<ResidualRows> RowCounter::gathered(OpTy op) {
  FailureOr<ResidualRows> rows = count(op.getInput());
  if (failed(rows))
    return failure();
  Value all = arith::MulIOp::create(builder, loc, rows->number, groupSize(op));
  return ResidualRows{all, false};
}

template <typename OpTy> FailureOr<ResidualRows> RowCounter::cut(OpTy op) {
  FailureOr<ResidualRows> rows = count(op.getInput());
  if (failed(rows))
    return failure();
  Value block =
      arith::DivUIOp::create(builder, loc, rows->number, groupSize(op));
  return ResidualRows{block, true};
}

FailureOr<ResidualRows> RowCounter::count(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return sizeOf(argument);
  return countMade(value.getDefiningOp());
}

FailureOr<ResidualRows> RowCounter::countMade(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return count(repeat.getInit());
  if (auto embedding = dyn_cast<EmbeddingOp>(op))
    return sizeOf(embedding.getTokens());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return ResidualRows{getValueOrCreateConstantIndexOp(
                            builder, loc, slice.getMixedSizes().front()),
                        false};
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    FailureOr<ResidualRows> rows = count(pad.getSource());
    if (failed(rows))
      return failure();
    Value high = getValueOrCreateConstantIndexOp(builder, loc,
                                                 pad.getMixedHighPad().front());
    Value all = arith::AddIOp::create(builder, loc, rows->number, high);
    return ResidualRows{all, rows->areCut};
  }
  if (auto deal = dyn_cast<DealRowsOp>(op)) {
    Value ranks = arith::ConstantIndexOp::create(builder, loc, deal.getRanks());
    Value all = arith::MulIOp::create(builder, loc, deal.getBlock(), ranks);
    return ResidualRows{all, false};
  }
  if (auto collect = dyn_cast<CollectRowsOp>(op))
    return ResidualRows{collect.getRows(), false};
  if (auto gather = dyn_cast<shard::AllGatherOp>(op))
    return gather.getGatherAxis().isZero() ? gathered(gather)
                                           : count(gather.getInput());
  if (auto slice = dyn_cast<shard::AllSliceOp>(op))
    return slice.getSliceAxis().isZero() ? cut(slice) : count(slice.getInput());
  if (auto scatter = dyn_cast<shard::ReduceScatterOp>(op))
    return scatter.getScatterAxis().isZero() ? cut(scatter)
                                             : count(scatter.getInput());
  if (auto exchange = dyn_cast<shard::AllToAllOp>(op)) {
    if (exchange.getSplitAxis() == exchange.getConcatAxis())
      return count(exchange.getInput());
    return exchange.getSplitAxis().isZero() ? cut(exchange)
                                            : gathered(exchange);
  }
  // What works row by row.
  if (OpTrait::hasElementwiseMappableTraits(op) || op->hasTrait<RowByRow>() ||
      isa<shard::AllReduceOp>(op))
    return count(op->getOperand(0));
  return user->emitOpError("needs the number of rows of its residual: expected "
                           "a known one")
             .attachNote(op->getLoc())
         << "'" << op->getName() << "' does not say how many it has";
}

FailureOr<ResidualRows> llm::computeRows(OpBuilder &builder, Value value,
                                         Operation *user, shard::GridOp grid) {
  return RowCounter(builder, user, grid).count(value);
}
