//===- NormInBlocks.cpp - Norms of reduced rows ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectivePatterns.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/RowBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::CollectiveKind;

namespace {

/// norm(all_reduce(x)) on every device is the norm of a block of rows
/// between a reduce-scatter and an all-gather. The new residual, where somebody
/// needs it, is gathered too; or not before it is added to the next all-reduce,
/// which then is a reduce-scatter as well.
struct NormInBlocks : OpInterfaceRewritePattern<NormOpInterface> {
  NormInBlocks(MLIRContext *context, const CollectivePrices &prices)
      : OpInterfaceRewritePattern(context), prices(prices) {}

  LogicalResult matchAndRewrite(NormOpInterface norm,
                                PatternRewriter &rewriter) const override {
    Value whole = norm.getNormed().get();
    auto reduce = whole.getDefiningOp<shard::AllReduceOp>();
    if (!reduce || !reduce->hasOneUse() || !isSum(reduce.getReduction()) ||
        prices.axisOf(reduce) != Axis::Tp)
      return failure();
    std::optional<lowered::Collective> of = readCollective(reduce);
    if (!of || !pays(norm, *of))
      return failure();

    Location loc = norm.getLoc();
    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value count = tensor::DimOp::create(rewriter, loc, whole, zero);
    RowBlocks rows = cutRows(rewriter, loc, count, prices.size(Axis::Tp));
    auto input = shard::ReduceScatterOp::create(
        rewriter, norm.getLoc(), whole.getType(), reduce.getGridAttr(),
        reduce.getGridAxesAttr(), pad(rewriter, reduce.getInput(), rows),
        reduce.getReductionAttr(), rewriter.getIndexAttr(0));
    prices.annotate(input, CollectiveKind::ReduceScatter, Axis::Tp, *of);
    Value residual;
    if (OpOperand *added = norm.getAddedResidual())
      residual = shard::AllSliceOp::create(
          rewriter, norm.getLoc(), whole.getType(), reduce.getGridAttr(),
          reduce.getGridAxesAttr(), pad(rewriter, added->get(), rows),
          rewriter.getIndexAttr(0));
    auto block = cast<NormOpInterface>(rewriter.clone(*norm.getOperation()));
    block.getNormed().set(input);
    if (residual)
      block.getAddedResidual()->set(residual);
    for (auto [result, cut] :
         llvm::zip_equal(norm->getResults(), block->getResults())) {
      if (result.use_empty())
        continue;
      if (AddOp add = addToReduced(result))
        addInBlocks(rewriter, add, result, cut, rows);
      else
        rewriter.replaceAllUsesWith(result,
                                    gather(rewriter, cut, rows, reduce, *of));
    }
    rewriter.eraseOp(norm);
    return success();
  }

private:
  const CollectivePrices &prices;

  /// Whether the new form is faster, for an activation as large as the one
  /// that `of` is on.
  bool pays(NormOpInterface norm, const lowered::Collective &of) const {
    auto price = [&](CollectiveKind kind) {
      return prices.seconds(kind, Axis::Tp, of);
    };
    // Two reads and two writes, of all rows or of a block.
    double bytes = 4 * prices.fullBytes(Axis::Tp, of);
    double before = price(CollectiveKind::AllReduce) + prices.memory(bytes);
    double after = price(CollectiveKind::ReduceScatter) +
                   prices.memory(bytes / double(prices.size(Axis::Tp)));
    for (Value result : norm->getResults()) {
      if (result.use_empty())
        continue;
      after += price(CollectiveKind::AllGather);
      if (addToReduced(result)) {
        before += price(CollectiveKind::AllReduce);
        after += price(CollectiveKind::ReduceScatter);
      }
    }
    return after < before;
  }

  /// The sum of `value`, which nothing else reads, with an all-reduce that
  /// nothing else reads either; or null.
  AddOp addToReduced(Value value) const {
    if (!value.hasOneUse())
      return {};
    auto add = dyn_cast<AddOp>(*value.getUsers().begin());
    if (!add)
      return {};
    Value other = add.getLhs() == value ? add.getRhs() : add.getLhs();
    auto reduce = other.getDefiningOp<shard::AllReduceOp>();
    bool fits = reduce && reduce->hasOneUse() && isSum(reduce.getReduction()) &&
                prices.axisOf(reduce) == Axis::Tp && readCollective(reduce) &&
                other != value;
    return fits ? add : AddOp();
  }

  void addInBlocks(PatternRewriter &rewriter, AddOp add, Value whole, Value cut,
                   const RowBlocks &rows) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(add);
    Value other = add.getLhs() == whole ? add.getRhs() : add.getLhs();
    auto reduce = other.getDefiningOp<shard::AllReduceOp>();
    lowered::Collective of = *readCollective(reduce);
    auto scatter = shard::ReduceScatterOp::create(
        rewriter, reduce.getLoc(), other.getType(), reduce.getGridAttr(),
        reduce.getGridAxesAttr(), pad(rewriter, reduce.getInput(), rows),
        reduce.getReductionAttr(), rewriter.getIndexAttr(0));
    prices.annotate(scatter, CollectiveKind::ReduceScatter, Axis::Tp, of);
    Value sum =
        AddOp::create(rewriter, add.getLoc(), cut.getType(), cut, scatter);
    rewriter.replaceOp(add, gather(rewriter, sum, rows, reduce, of));
  }

  static Value pad(PatternRewriter &rewriter, Value value,
                   const RowBlocks &rows) {
    return padRows(rewriter, value.getLoc(), value, rows.padding);
  }

  Value gather(PatternRewriter &rewriter, Value block, const RowBlocks &rows,
               shard::AllReduceOp like, const lowered::Collective &of) const {
    Location loc = block.getLoc();
    auto type = cast<RankedTensorType>(block.getType());
    auto whole = shard::AllGatherOp::create(
        rewriter, loc, type, like.getGridAttr(), like.getGridAxesAttr(), block,
        rewriter.getIndexAttr(0));
    prices.annotate(whole, CollectiveKind::AllGather, Axis::Tp, of);
    return trimRows(rewriter, loc, whole.getResult(), rows.rows);
  }
};

} // namespace

void llm::addNormInBlocks(RewritePatternSet &patterns,
                          const CollectivePrices &prices) {
  patterns.add<NormInBlocks>(patterns.getContext(), prices);
}
