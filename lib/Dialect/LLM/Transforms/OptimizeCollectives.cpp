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

#include "HoistCollectives.h"
#include "LoweredModule.h"
#include "PassOptions.h"

#include "shardopt/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
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

//===----------------------------------------------------------------------===//
// What collectives say of themselves
//===----------------------------------------------------------------------===//

namespace {

/// Times of collectives on the module's grid.
struct Prices {
  const Timing &timing;
  Degrees degrees;

  double seconds(CollectiveKind kind, GridAxis axis, double bytes) const {
    return timing.time->seconds(cost::Collective{kind, axis, bytes}, degrees);
  }
  int64_t size(GridAxis axis) const { return gridShape(degrees)[axis]; }
};

/// The note on a collective.
struct Note {
  StringRef cause;
  double bytes = 0;
  bool charged = true;
};

} // namespace

static std::optional<Note> readNote(Operation *op) {
  auto fields = op->getAttrOfType<DictionaryAttr>(collectiveAttrName);
  if (!fields)
    return std::nullopt;
  auto cause = fields.getAs<StringAttr>("cause");
  auto bytes = fields.getAs<IntegerAttr>("bytes");
  auto charged = fields.getAs<BoolAttr>("charged");
  if (!cause || !bytes || !charged)
    return std::nullopt;
  return Note{cause.getValue(), static_cast<double>(bytes.getInt()),
              charged.getValue()};
}

/// The one axis that a collective is over.
template <typename OpTy> static std::optional<GridAxis> axisOf(OpTy op) {
  ArrayRef<int16_t> axes = op.getGridAxes();
  if (axes.size() != 1)
    return std::nullopt;
  return GridAxis(axes[0]);
}

static bool isSum(shard::ReductionKind kind) {
  return kind == shard::ReductionKind::Sum;
}

/// Gives `op` a note of its own, with the cause of what it replaces.
static void note(Operation *op, const Note &of, CollectiveKind kind,
                 GridAxis axis, double bytes, const Prices &prices) {
  op->setAttr(collectiveAttrName,
              describeCollective(op, of.cause, bytes,
                                 prices.seconds(kind, axis, bytes),
                                 of.charged));
}

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

template <typename OpTy> struct Pattern : public OpRewritePattern<OpTy> {
  Pattern(MLIRContext *context, const Prices &prices)
      : OpRewritePattern<OpTy>(context), prices(prices) {}
  const Prices &prices;
};

/// all_slice(f(all_reduce(x))) is reduce_scatter(f(x)), where f pads with zeros
/// or chooses columns: it commutes with the sum.
struct ScatterReduced : Pattern<shard::AllSliceOp> {
  using Pattern::Pattern;

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
    std::optional<GridAxis> axis = axisOf(reduce);
    std::optional<Note> of = readNote(reduce);
    if (!axis || !of ||
        prices.seconds(CollectiveKind::ReduceScatter, *axis, of->bytes) >
            prices.seconds(CollectiveKind::AllReduce, *axis, of->bytes))
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
    note(scatter, *of, CollectiveKind::ReduceScatter, *axis, of->bytes, prices);
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
struct DropGatherOfSlice : Pattern<shard::AllGatherOp> {
  using Pattern::Pattern;

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
struct SliceOfGather : Pattern<shard::AllSliceOp> {
  using Pattern::Pattern;

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
    std::optional<GridAxis> axis = axisOf(gather);
    std::optional<Note> of = readNote(gather);
    if (!axis || !of || !gather->hasOneUse())
      return failure();
    double held = of->bytes / prices.size(*axis);
    if (prices.seconds(CollectiveKind::AllToAll, *axis, held) >=
        prices.seconds(CollectiveKind::AllGather, *axis, of->bytes))
      return failure();
    auto exchange = shard::AllToAllOp::create(
        rewriter, gather.getLoc(), slice.getType(), slice.getGridAttr(),
        slice.getGridAxesAttr(), gather.getInput(), slice.getSliceAxisAttr(),
        gather.getGatherAxisAttr());
    note(exchange, *of, CollectiveKind::AllToAll, *axis, held, prices);
    rewriter.replaceOp(slice, exchange);
    return success();
  }
};

/// all_to_all(x) is all_slice(all_gather(x)), where that is cheaper.
struct GatherInsteadOfExchange : Pattern<shard::AllToAllOp> {
  using Pattern::Pattern;

  LogicalResult matchAndRewrite(shard::AllToAllOp exchange,
                                PatternRewriter &rewriter) const override {
    std::optional<GridAxis> axis = axisOf(exchange);
    std::optional<Note> of = readNote(exchange);
    int64_t split = exchange.getSplitAxis().getSExtValue();
    int64_t concat = exchange.getConcatAxis().getSExtValue();
    if (!axis || !of || split == concat)
      return failure();
    int64_t size = prices.size(*axis);
    double full = of->bytes * size;
    if (prices.seconds(CollectiveKind::AllGather, *axis, full) >=
        prices.seconds(CollectiveKind::AllToAll, *axis, of->bytes))
      return failure();
    auto gather = shard::AllGatherOp::create(
        rewriter, exchange.getLoc(),
        withScaledDim(exchange.getInput().getType(), concat, size, 1),
        exchange.getGridAttr(), exchange.getGridAxesAttr(), exchange.getInput(),
        exchange.getConcatAxisAttr());
    note(gather, *of, CollectiveKind::AllGather, *axis, full, prices);
    rewriter.replaceOpWithNewOp<shard::AllSliceOp>(
        exchange, exchange.getType(), exchange.getGridAttr(),
        exchange.getGridAxesAttr(), gather.getResult(),
        exchange.getSplitAxisAttr());
    return success();
  }
};

/// The sum of two reductions alike is the reduction of the sum.
struct MergeReductions : Pattern<AddOp> {
  using Pattern::Pattern;

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
    left.erase(collectiveAttrName);
    right.erase(collectiveAttrName);
    if (left != right || !readNote(lhs) ||
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
// Norms of reduced rows
//===----------------------------------------------------------------------===//

namespace {

/// rms_norm(all_reduce(x)) on every device is the norm of a block of rows
/// between a reduce-scatter and an all-gather. The new residual, where somebody
/// needs it, is gathered too; or not before it is added to the next all-reduce,
/// which then is a reduce-scatter as well.
struct NormInBlocks : Pattern<RmsNormOp> {
  using Pattern::Pattern;

  LogicalResult matchAndRewrite(RmsNormOp norm,
                                PatternRewriter &rewriter) const override {
    auto reduce = norm.getInput().getDefiningOp<shard::AllReduceOp>();
    if (!reduce || !reduce->hasOneUse() || !isSum(reduce.getReduction()) ||
        axisOf(reduce) != GridAxis::Tp)
      return failure();
    std::optional<Note> of = readNote(reduce);
    if (!of || !pays(norm, of->bytes))
      return failure();

    Rows rows = makeRows(rewriter, norm);
    auto input = shard::ReduceScatterOp::create(
        rewriter, norm.getLoc(), norm.getInput().getType(),
        reduce.getGridAttr(), reduce.getGridAxesAttr(),
        pad(rewriter, reduce.getInput(), rows), reduce.getReductionAttr(),
        rewriter.getIndexAttr(0));
    note(input, *of, CollectiveKind::ReduceScatter, GridAxis::Tp, of->bytes,
         prices);
    Value residual;
    if (norm.getResidual())
      residual = shard::AllSliceOp::create(
          rewriter, norm.getLoc(), norm.getResidual().getType(),
          reduce.getGridAttr(), reduce.getGridAxesAttr(),
          pad(rewriter, norm.getResidual(), rows), rewriter.getIndexAttr(0));
    auto block = cast<RmsNormOp>(rewriter.clone(*norm.getOperation()));
    block.getInputMutable().assign(input);
    if (residual)
      block.getResidualMutable().assign(residual);
    for (auto [whole, cut] :
         ::llvm::zip_equal(norm->getResults(), block->getResults())) {
      if (whole.use_empty())
        continue;
      if (AddOp add = addToReduced(whole))
        addInBlocks(rewriter, add, whole, cut, rows);
      else
        rewriter.replaceAllUsesWith(whole,
                                    gather(rewriter, cut, rows, reduce, *of));
    }
    rewriter.eraseOp(norm);
    return success();
  }

private:
  struct Rows {
    Value count, padding;
  };

  /// Whether the new form is faster, for activations of `bytes`.
  bool pays(RmsNormOp norm, double bytes) const {
    auto price = [&](CollectiveKind kind) {
      return prices.seconds(kind, GridAxis::Tp, bytes);
    };
    double reads = 4 * bytes / prices.timing.machine.memoryBandwidth;
    double before = price(CollectiveKind::AllReduce) + reads;
    double after =
        price(CollectiveKind::ReduceScatter) + reads / prices.degrees.tp;
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
  static AddOp addToReduced(Value value) {
    if (!value.hasOneUse())
      return {};
    auto add = dyn_cast<AddOp>(*value.getUsers().begin());
    if (!add)
      return {};
    Value other = add.getLhs() == value ? add.getRhs() : add.getLhs();
    auto reduce = other.getDefiningOp<shard::AllReduceOp>();
    bool fits = reduce && reduce->hasOneUse() && isSum(reduce.getReduction()) &&
                axisOf(reduce) == GridAxis::Tp && readNote(reduce) &&
                other != value;
    return fits ? add : AddOp();
  }

  void addInBlocks(PatternRewriter &rewriter, AddOp add, Value whole, Value cut,
                   Rows rows) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(add);
    Value other = add.getLhs() == whole ? add.getRhs() : add.getLhs();
    auto reduce = other.getDefiningOp<shard::AllReduceOp>();
    Note of = *readNote(reduce);
    auto scatter = shard::ReduceScatterOp::create(
        rewriter, reduce.getLoc(), other.getType(), reduce.getGridAttr(),
        reduce.getGridAxesAttr(), pad(rewriter, reduce.getInput(), rows),
        reduce.getReductionAttr(), rewriter.getIndexAttr(0));
    note(scatter, of, CollectiveKind::ReduceScatter, GridAxis::Tp, of.bytes,
         prices);
    Value sum =
        AddOp::create(rewriter, add.getLoc(), cut.getType(), cut, scatter);
    rewriter.replaceOp(add, gather(rewriter, sum, rows, reduce, of));
  }

  /// The number of rows of the norm, and what is missing to whole blocks.
  Rows makeRows(PatternRewriter &rewriter, RmsNormOp norm) const {
    Location loc = norm.getLoc();
    int64_t ranks = prices.degrees.tp;
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    Value count =
        tensor::DimOp::create(rewriter, loc, norm.getInput(), index(0));
    Value excess = arith::RemUIOp::create(rewriter, loc, count, index(ranks));
    Value missing = arith::SubIOp::create(rewriter, loc, index(ranks), excess);
    Value padding =
        arith::RemUIOp::create(rewriter, loc, missing, index(ranks));
    return {count, padding};
  }

  static Value pad(PatternRewriter &rewriter, Value value, Rows rows) {
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    OpFoldResult none = rewriter.getIndexAttr(0);
    return tensor::PadOp::create(
        rewriter, loc, type, value, ArrayRef<OpFoldResult>{none, none},
        ArrayRef<OpFoldResult>{rows.padding, none}, zero);
  }

  Value gather(PatternRewriter &rewriter, Value block, Rows rows,
               shard::AllReduceOp like, const Note &of) const {
    Location loc = block.getLoc();
    auto type = cast<RankedTensorType>(block.getType());
    auto whole = shard::AllGatherOp::create(
        rewriter, loc, type, like.getGridAttr(), like.getGridAxesAttr(), block,
        rewriter.getIndexAttr(0));
    note(whole, of, CollectiveKind::AllGather, GridAxis::Tp, of.bytes, prices);
    OpFoldResult zero = rewriter.getIndexAttr(0),
                 one = rewriter.getIndexAttr(1);
    OpFoldResult width = rewriter.getIndexAttr(type.getDimSize(1));
    return tensor::ExtractSliceOp::create(
        rewriter, loc, whole.getResult(), ArrayRef<OpFoldResult>{zero, zero},
        ArrayRef<OpFoldResult>{rows.count, width},
        ArrayRef<OpFoldResult>{one, one});
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
  std::optional<Degrees> degrees = recordedDegrees(module);
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
  Prices prices{*timing, *degrees};
  hoistInvariants(module);
  RewritePatternSet patterns(&getContext());
  patterns.add<ScatterReduced, DropGatherOfSlice, SliceOfGather,
               GatherInsteadOfExchange, MergeReductions, NormInBlocks>(
      &getContext(), prices);
  if (failed(applyPatternsGreedily(module, std::move(patterns))))
    return signalPassFailure();
  mergeEqualCollectives(module);
}
