//===- OptimizeCollectives.cpp - Cheaper collectives ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Patterns over the collectives of a partitioned module. Each one is an
// identity of what is computed, and applies where the time model says that it
// pays. The bytes that a collective is charged for are read from
// `shardopt.collective`: the full tensor V for an all-reduce, all-gather or
// reduce-scatter, and V over the size of the group for an all-to-all.
//
//===----------------------------------------------------------------------===//

#include "CollectivePatterns.h"
#include "HoistCollectives.h"
#include "PassOptions.h"

#include "shardopt/Dialect/LLM/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_OPTIMIZECOLLECTIVESPASS
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::CollectiveKind;

/// The size of dim `dim` of `type`, times or over the size of a group.
static RankedTensorType withScaledDim(Type type, int64_t dim, int64_t times,
                                      int64_t over) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  if (!ShapedType::isDynamic(shape[dim]))
    shape[dim] = shape[dim] * times / over;
  return tensor.clone(shape);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// all_slice(f(all_reduce(x))) is reduce_scatter(f(x)), where f pads with zeros
/// or chooses columns: it commutes with the sum.
struct ScatterReduced : CollectivePattern<shard::AllSliceOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(shard::AllSliceOp slice,
                                PatternRewriter &rewriter) const override {
    Operation *between = slice.getInput().getDefiningOp();
    shard::AllReduceOp reduce;
    if (between && isLinear(between) && between->hasOneUse())
      reduce = between->getOperand(0).getDefiningOp<shard::AllReduceOp>();
    else
      reduce = dyn_cast_or_null<shard::AllReduceOp>(between);
    if (!reduce || !reduce->hasOneUse() || !isSum(reduce.getReduction()) ||
        reduce.getGridAxes() != slice.getGridAxes())
      return failure();
    std::optional<Axis> axis = prices.axisOf(reduce);
    std::optional<lowered::Collective> of = readCollective(reduce);
    if (!axis || !of ||
        prices.seconds(CollectiveKind::ReduceScatter, *axis, *of) >
            prices.seconds(CollectiveKind::AllReduce, *axis, *of))
      return failure();
    Value input = reduce.getInput();
    if (between != reduce.getOperation()) {
      rewriter.modifyOpInPlace(between, [&] { between->setOperand(0, input); });
      input = between->getResult(0);
    }
    rewriter.setInsertionPoint(slice);
    auto scatter = shard::ReduceScatterOp::create(
        rewriter, reduce.getLoc(), slice.getType(), slice.getGridAttr(),
        slice.getGridAxesAttr(), input, reduce.getReductionAttr(),
        slice.getSliceAxisAttr());
    prices.annotate(scatter, CollectiveKind::ReduceScatter, *axis, *of);
    rewriter.replaceOp(slice, scatter);
    return success();
  }

  static bool isLinear(Operation *op) {
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      Value fill = pad.getConstantPaddingValue();
      return fill && matchPattern(fill, m_AnyZeroFloat());
    }
    return isa<SelectColumnsOp>(op);
  }
};

/// all_gather(all_slice(x)) is x.
struct DropGatherOfSlice : CollectivePattern<shard::AllGatherOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(shard::AllGatherOp gather,
                                PatternRewriter &rewriter) const override {
    auto slice = gather.getInput().getDefiningOp<shard::AllSliceOp>();
    if (!slice || slice.getGridAxes() != gather.getGridAxes() ||
        slice.getSliceAxis() != gather.getGatherAxis() ||
        slice.getInput().getType() != gather.getType())
      return failure();
    rewriter.replaceOp(gather, slice.getInput());
    return success();
  }
};

/// all_slice(all_gather(x)) along one dim is x; along two it is an all-to-all,
/// where that is cheaper and nobody else needs the whole.
struct SliceOfGather : CollectivePattern<shard::AllSliceOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(shard::AllSliceOp slice,
                                PatternRewriter &rewriter) const override {
    auto gather = slice.getInput().getDefiningOp<shard::AllGatherOp>();
    if (!gather || gather.getGridAxes() != slice.getGridAxes())
      return failure();
    if (gather.getGatherAxis() == slice.getSliceAxis()) {
      if (gather.getInput().getType() != slice.getType())
        return failure();
      rewriter.replaceOp(slice, gather.getInput());
      return success();
    }
    std::optional<Axis> axis = prices.axisOf(gather);
    std::optional<lowered::Collective> of = readCollective(gather);
    if (!axis || !of || !gather->hasOneUse())
      return failure();
    if (prices.seconds(CollectiveKind::AllToAll, *axis, *of) >=
        prices.seconds(CollectiveKind::AllGather, *axis, *of))
      return failure();
    auto exchange = shard::AllToAllOp::create(
        rewriter, gather.getLoc(), slice.getType(), slice.getGridAttr(),
        slice.getGridAxesAttr(), gather.getInput(), slice.getSliceAxisAttr(),
        gather.getGatherAxisAttr());
    prices.annotate(exchange, CollectiveKind::AllToAll, *axis, *of);
    rewriter.replaceOp(slice, exchange);
    return success();
  }
};

/// all_to_all(x) is all_slice(all_gather(x)), where that is cheaper.
struct GatherInsteadOfExchange : CollectivePattern<shard::AllToAllOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(shard::AllToAllOp exchange,
                                PatternRewriter &rewriter) const override {
    std::optional<Axis> axis = prices.axisOf(exchange);
    std::optional<lowered::Collective> of = readCollective(exchange);
    int64_t split = exchange.getSplitAxis().getSExtValue();
    int64_t concat = exchange.getConcatAxis().getSExtValue();
    if (!axis || !of || split == concat)
      return failure();
    int64_t size = prices.size(*axis);
    if (prices.seconds(CollectiveKind::AllGather, *axis, *of) >=
        prices.seconds(CollectiveKind::AllToAll, *axis, *of))
      return failure();
    auto gather = shard::AllGatherOp::create(
        rewriter, exchange.getLoc(),
        withScaledDim(exchange.getInput().getType(), concat, size, 1),
        exchange.getGridAttr(), exchange.getGridAxesAttr(), exchange.getInput(),
        exchange.getConcatAxisAttr());
    prices.annotate(gather, CollectiveKind::AllGather, *axis, *of);
    rewriter.replaceOpWithNewOp<shard::AllSliceOp>(
        exchange, exchange.getType(), exchange.getGridAttr(),
        exchange.getGridAxesAttr(), gather.getResult(),
        exchange.getSplitAxisAttr());
    return success();
  }
};

/// The sum of two reductions alike is the reduction of the sum.
struct MergeReductions : CollectivePattern<AddOp> {
  using CollectivePattern::CollectivePattern;

  LogicalResult matchAndRewrite(AddOp add,
                                PatternRewriter &rewriter) const override {
    Operation *lhs = add.getLhs().getDefiningOp();
    Operation *rhs = add.getRhs().getDefiningOp();
    if (!lhs || !rhs || lhs == rhs || lhs->getName() != rhs->getName() ||
        !isa<shard::AllReduceOp, shard::ReduceScatterOp>(lhs) ||
        !lhs->hasOneUse() || !rhs->hasOneUse())
      return failure();
    NamedAttrList left(lhs->getAttrDictionary()),
        right(rhs->getAttrDictionary());
    left.erase(lowered::Collective::attrName);
    right.erase(lowered::Collective::attrName);
    if (left != right || !readCollective(lhs) ||
        lhs->getOperand(0).getType() != rhs->getOperand(0).getType())
      return failure();
    // Both operands exist where the sum was; the later reduction moves there.
    rewriter.setInsertionPoint(add);
    Value sum =
        AddOp::create(rewriter, add.getLoc(), lhs->getOperand(0).getType(),
                      lhs->getOperand(0), rhs->getOperand(0));
    Operation *merged = rewriter.clone(*lhs);
    merged->setOperand(0, sum);
    rewriter.replaceOp(add, merged->getResult(0));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct OptimizeCollectives
    : public ListsOptions<shardopt::llm::impl::OptimizeCollectivesPassBase<
          OptimizeCollectives>> {
  using ListsOptions::ListsOptions;

  void runOnOperation() override;
};

} // namespace

void OptimizeCollectives::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<std::optional<Degrees>> read = readLoweredStrategy(module);
  if (failed(read) || failed(checkCollectives(module)))
    return signalPassFailure();
  std::optional<Degrees> degrees = *read;
  if (!degrees) {
    emitError(module.getLoc(),
              "module has no 'shardopt.strategy': expected a partitioned "
              "module; run --llm-insert-collectives first");
    return signalPassFailure();
  }
  ErrorOr<Timing> timing = createTiming(module, {machine, commModel});
  if (!timing) {
    emitError(module.getLoc(), timing.error().message);
    return signalPassFailure();
  }
  CollectivePrices prices(*timing->time, *degrees);
  hoistInvariants(module);
  RewritePatternSet patterns(&getContext());
  patterns.add<ScatterReduced, DropGatherOfSlice, SliceOfGather,
               GatherInsteadOfExchange, MergeReductions>(&getContext(), prices);
  addNormInBlocks(patterns, prices);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return signalPassFailure();
  mergeEqualCollectives(module);
}
