//===- ShardToRuntime.cpp - From collectives to the runtime ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in program order, which is the order of the sites. Ops are replaced
// one for one; only all_slice and the indices of a rank become arithmetic.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"
#include "shardopt/Conversion/ShardToRuntime/Passes.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_CONVERTSHARDTORUNTIMEPASS
#include "shardopt/Conversion/ShardToRuntime/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

/// Replaces the ops of one module.
class Converter {
public:
  Converter(ModuleOp module, shard::GridOp grid)
      : calls(module), shape(grid.getShape()), rewriter(module.getContext()) {}

  LogicalResult convert(Operation *op);
  void writeSites() { calls.writeSites(); }

private:
  /// Replaces `op` by a call on `tensors`; with an op of no use the result
  /// goes.
  LogicalResult replace(Operation *op, StringRef function, ValueRange tensors,
                        ValueRange arguments, ArrayRef<int16_t> axes);

  LogicalResult convertReduction(shard::AllReduceOp op);
  LogicalResult convertReduction(shard::ReduceScatterOp op);
  LogicalResult convertSend(shard::SendOp op);
  LogicalResult convertRecv(shard::RecvOp op);
  LogicalResult convertSlice(shard::AllSliceOp op);
  LogicalResult convertIndices(shard::ProcessMultiIndexOp op);

  Value constant(Operation *op, int64_t value) {
    return llm::constant(rewriter, op->getLoc(), value);
  }
  /// Where the rank stands in its group along `axes`, an index.
  Value linearIndex(Location loc, ArrayRef<int16_t> axes);
  /// Where the member at static or dynamic coordinates stands, an i64.
  Value memberAt(Operation *op, ArrayRef<int64_t> coordinates,
                 ValueRange dynamic, ArrayRef<int16_t> axes);
  SmallVector<int16_t> allAxes() const;

  RuntimeCalls calls;
  ArrayRef<int64_t> shape;
  IRRewriter rewriter;
};

} // namespace

//===----------------------------------------------------------------------===//
// Places on the grid
//===----------------------------------------------------------------------===//

SmallVector<int16_t> Converter::allAxes() const {
  auto axes = int16_t(shape.size());
  return llvm::to_vector(llvm::seq<int16_t>(0, axes));
}

Value Converter::linearIndex(Location loc, ArrayRef<int16_t> axes) {
  Value index;
  for (int16_t axis : axes) {
    Value along = calls.coordinate(rewriter, loc, axis);
    if (index) {
      Value size = arith::ConstantIndexOp::create(rewriter, loc, shape[axis]);
      index = arith::MulIOp::create(rewriter, loc, index, size);
      index = arith::AddIOp::create(rewriter, loc, index, along);
    } else {
      index = along;
    }
  }
  return index ? index : arith::ConstantIndexOp::create(rewriter, loc, 0);
}

Value Converter::memberAt(Operation *op, ArrayRef<int64_t> coordinates,
                          ValueRange dynamic, ArrayRef<int16_t> axes) {
  // The sum of coordinate times stride: the known terms, then the others.
  Location loc = op->getLoc();
  int64_t known = 0, stride = 1;
  SmallVector<int64_t> strides;
  for (auto [axis, coordinate] :
       llvm::reverse(llvm::zip_equal(axes, coordinates))) {
    if (ShapedType::isDynamic(coordinate))
      strides.push_back(stride);
    else
      known += coordinate * stride;
    stride *= shape[axis];
  }
  Value index = constant(op, known);
  for (auto [coordinate, along] :
       llvm::zip_equal(dynamic, llvm::reverse(strides))) {
    Value term = arith::IndexCastOp::create(rewriter, loc,
                                            rewriter.getI64Type(), coordinate);
    term = arith::MulIOp::create(rewriter, loc, term, constant(op, along));
    index = arith::AddIOp::create(rewriter, loc, index, term);
  }
  return index;
}

LogicalResult Converter::convertIndices(shard::ProcessMultiIndexOp op) {
  SmallVector<int16_t> axes(op.getAxes());
  if (axes.empty())
    axes = allAxes();
  SmallVector<Value> coordinates;
  for (int16_t axis : axes)
    coordinates.push_back(calls.coordinate(rewriter, op.getLoc(), axis));
  rewriter.replaceOp(op, coordinates);
  return success();
}

LogicalResult Converter::convertSlice(shard::AllSliceOp op) {
  Location loc = op.getLoc();
  auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto result = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (!input || !result)
    return op.emitOpError("needs a ranked tensor to be executed");
  int64_t sliced = op.getSliceAxis().getSExtValue();
  int64_t group = shard::collectiveProcessGroupSize(op.getGridAxes(), shape);
  SmallVector<OpFoldResult> offsets(input.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(input.getRank(), rewriter.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getInput());
  Value size;
  if (std::optional<int64_t> known = getConstantIntValue(sizes[sliced])) {
    sizes[sliced] = rewriter.getIndexAttr(*known / group);
    size = arith::ConstantIndexOp::create(rewriter, loc, *known / group);
  } else {
    Value members = arith::ConstantIndexOp::create(rewriter, loc, group);
    size = arith::DivUIOp::create(rewriter, loc, cast<Value>(sizes[sliced]),
                                  members);
    sizes[sliced] = size;
  }
  Value index = linearIndex(loc, op.getGridAxes());
  offsets[sliced] =
      arith::MulIOp::create(rewriter, loc, index, size).getResult();
  Value slice = tensor::ExtractSliceOp::create(rewriter, loc, op.getInput(),
                                               offsets, sizes, strides);
  if (slice.getType() != result)
    slice = tensor::CastOp::create(rewriter, loc, result, slice);
  rewriter.replaceOp(op, slice);
  return success();
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

LogicalResult Converter::replace(Operation *op, StringRef function,
                                 ValueRange tensors, ValueRange arguments,
                                 ArrayRef<int16_t> axes) {
  FailureOr<Value> result =
      calls.call(rewriter, op, function, tensors, arguments, axes,
                 op->getResult(0).getType());
  if (failed(result))
    return failure();
  rewriter.replaceOp(op, *result);
  return success();
}

LogicalResult Converter::convertReduction(shard::AllReduceOp op) {
  shard::ReductionKind kind = op.getReduction();
  if (kind != shard::ReductionKind::Sum && kind != shard::ReductionKind::Max)
    return op.emitOpError("can be executed as a sum or a max, found '")
           << stringifyReductionKind(kind) << "'";
  StringRef function =
      kind == shard::ReductionKind::Sum ? "all_reduce_sum" : "all_reduce_max";
  return replace(op, function, op.getInput(), {}, op.getGridAxes());
}

LogicalResult Converter::convertReduction(shard::ReduceScatterOp op) {
  shard::ReductionKind kind = op.getReduction();
  if (kind != shard::ReductionKind::Sum)
    return op.emitOpError("can be executed as a sum, found '")
           << stringifyReductionKind(kind) << "'";
  return replace(op, "reduce_scatter", op.getInput(),
                 constant(op, op.getScatterAxis().getSExtValue()),
                 op.getGridAxes());
}

LogicalResult Converter::convertSend(shard::SendOp op) {
  Value destination = memberAt(op, op.getDestination(),
                               op.getDestinationDynamic(), op.getGridAxes());
  if (failed(calls.call(rewriter, op, "send", op.getInput(), destination,
                        op.getGridAxes(), /*result=*/Type())))
    return failure();
  // What a send gives is what it sent.
  rewriter.replaceOp(op, op.getInput());
  return success();
}

LogicalResult Converter::convertRecv(shard::RecvOp op) {
  std::optional<ArrayRef<int64_t>> source = op.getSource();
  if (!source)
    return op.emitOpError("needs a source to be executed");
  return replace(op, "recv", op.getInput(),
                 memberAt(op, *source, op.getSourceDynamic(), op.getGridAxes()),
                 op.getGridAxes());
}

LogicalResult Converter::convert(Operation *op) {
  rewriter.setInsertionPoint(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<shard::AllReduceOp, shard::ReduceScatterOp>(
          [&](auto reduction) { return convertReduction(reduction); })
      .Case([&](shard::AllGatherOp gather) {
        return replace(op, "all_gather", gather.getInput(),
                       constant(op, gather.getGatherAxis().getSExtValue()),
                       gather.getGridAxes());
      })
      .Case([&](shard::AllToAllOp exchange) {
        Value split = constant(op, exchange.getSplitAxis().getSExtValue());
        Value concat = constant(op, exchange.getConcatAxis().getSExtValue());
        return replace(op, "all_to_all", exchange.getInput(), {split, concat},
                       exchange.getGridAxes());
      })
      .Case([&](AllToAllVOp exchange) {
        return replace(
            op, "all_to_all_v",
            {exchange.getInput(), exchange.getSend(), exchange.getRecv()}, {},
            exchange.getGridAxes());
      })
      .Case([&](shard::BroadcastOp broadcast) {
        Value root =
            memberAt(op, broadcast.getRoot(), broadcast.getRootDynamic(),
                     broadcast.getGridAxes());
        return replace(op, "broadcast", broadcast.getInput(), root,
                       broadcast.getGridAxes());
      })
      .Case([&](shard::SendOp send) { return convertSend(send); })
      .Case([&](shard::RecvOp recv) { return convertRecv(recv); })
      .Case([&](shard::AllSliceOp slice) { return convertSlice(slice); })
      .Case([&](shard::ProcessMultiIndexOp indices) {
        return convertIndices(indices);
      })
      .Case([&](shard::ProcessLinearIndexOp index) {
        rewriter.replaceOp(op, linearIndex(index.getLoc(), allAxes()));
        return success();
      })
      .Default([](Operation *other) {
        return other->emitOpError("has no meaning in the runtime");
      });
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class ConvertShardToRuntimePass final
    : public llm::impl::ConvertShardToRuntimePassBase<
          ConvertShardToRuntimePass> {
public:
  void runOnOperation() override;

private:
  /// The only grid of the module, null where it has none.
  FailureOr<shard::GridOp> findGrid();
};

} // namespace

FailureOr<shard::GridOp> ConvertShardToRuntimePass::findGrid() {
  shard::GridOp grid;
  for (auto found : getOperation().getOps<shard::GridOp>()) {
    if (grid) {
      InFlightDiagnostic error =
          found.emitOpError("is a second grid, expected one to be executed");
      error.attachNote(grid.getLoc()) << "first grid is here";
      return error;
    }
    grid = found;
  }
  if (grid && ShapedType::isDynamicShape(grid.getShape()))
    return grid.emitOpError("needs a static shape to be executed");
  return grid;
}

void ConvertShardToRuntimePass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<shard::GridOp> grid = findGrid();
  if (failed(grid))
    return signalPassFailure();
  if (!*grid)
    return;

  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    bool ofShard = isa_and_present<shard::ShardDialect>(op->getDialect());
    if (isa<AllToAllVOp>(op) || (ofShard && op != *grid))
      ops.push_back(op);
  });
  Converter converter(module, *grid);
  for (Operation *op : ops)
    if (failed(converter.convert(op)))
      return signalPassFailure();
  converter.writeSites();
  module->setAttr(lowered::gridAttrName,
                  DenseI64ArrayAttr::get(&getContext(), grid->getShape()));
  grid->erase();
}
