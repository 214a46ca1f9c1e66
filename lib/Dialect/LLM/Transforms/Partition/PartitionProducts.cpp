//===- PartitionProducts.cpp - GEMMs of one rank --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"
#include "shardopt/Model/Ops/Ffn.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

//===----------------------------------------------------------------------===//
// Any product with a weight
//===----------------------------------------------------------------------===//

namespace {

/// How a product is written. Dim 0 cuts the contracted dim by what the input
/// holds in H, or by `rows`; dim 1 cuts the columns by `columns`.
struct ProductSpec {
  const Packing *rows = nullptr;
  const Packing *columns = nullptr;
  /// Of the result, where it has other features than the weight: half of them
  /// behind a gated activation.
  const Packing *produced = nullptr;
  Value input;             ///< where it is made already
  bool transposed = false; ///< the weight is [columns, rows]
  bool grouped = false;    ///< experts stand in front in weight and bias
  ActivationAttr activation;
};

/// A product that is written: its packings are null where nothing is cut.
template <typename OpTy> struct Product {
  OpTy local;
  const Packing *rows = nullptr;
  const Packing *columns = nullptr;
};

} // namespace

/// A weight or bias with the experts in front, or without.
static Value sliceGrouped(OpPartition &p, Value weight, bool grouped,
                          ArrayRef<Cut> cuts) {
  SmallVector<Cut> all;
  if (grouped)
    all.push_back(p.overExperts(sizeOf(weight, 0)));
  all.append(cuts.begin(), cuts.end());
  return p.slice(weight, all);
}

/// Writes `op` as `spec` says, and defines its result. Null, with a diagnostic,
/// where a weight cannot be sliced.
template <typename OpTy>
static FailureOr<Product<OpTy>> writeProduct(OpPartition &p, OpTy op,
                                             const ProductSpec &spec) {
  Dim dim = p.getDim();
  Product<OpTy> product;
  if (dim == Dim::Zero)
    product.rows = p.getContracted(op.getInput(), spec.rows);
  else if (dim == Dim::One)
    product.columns = spec.columns;
  Value input = spec.input;
  if (!input)
    input = p.get(op.getInput(), p.getRequired(), product.rows);

  SmallVector<Cut> cuts = {p.cutBy(product.rows), p.cutBy(product.columns)};
  if (spec.transposed)
    std::swap(cuts[0], cuts[1]);
  Value weight = sliceGrouped(p, op.getWeight(), spec.grouped, cuts);
  if (!weight)
    return failure();
  Value bias = op.getBias();
  if (bias) {
    // The bias of a partial sum counts once: on the first device of the group.
    const Packing *held = product.columns;
    if (dim == Dim::Zero && p.ranks() > 1)
      held = p.getPackings().onFirst(columns(bias), p.ranks());
    bias = sliceGrouped(p, bias, spec.grouped, {p.cutBy(held)});
    if (!bias)
      return failure();
  }

  OpTy local = product.local = p.clone(op);
  local.getInputMutable().assign(input);
  local.getWeightMutable().assign(weight);
  if (bias)
    local.getBiasMutable().assign(bias);
  // The activation of a partial sum comes after its reduction.
  bool defers = dim == Dim::Zero && p.ranks() > 1 && spec.activation;
  int64_t width = sizeOf(weight, spec.transposed ? -2 : -1);
  if (spec.activation && spec.activation.getGated() && !defers)
    width /= 2;
  local.getResult().setType(withColumns(op.getResult(), width));
  const Packing *produced = spec.produced ? spec.produced : product.columns;
  p.defineResult(cast<OpResult>(op.getResult()), local.getResult(),
                 op.getInput(), product.columns ? produced : nullptr,
                 defers ? spec.activation : ActivationAttr());
  return product;
}

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

/// Whether the attention that reads a projection wants some rotary pairs of
/// every head, instead of whole heads.
static bool wantsPairs(Value projection) {
  return llvm::any_of(projection.getUsers(), [](Operation *user) {
    auto op = dyn_cast<ShardableOpInterface>(user);
    return op && op.cutsInsideHeads();
  });
}

LogicalResult llm::partition(QkvProjOp op, OpPartition &p) {
  bool pairs = wantsPairs(op.getResult());
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  int64_t size = op.getHeadDim();
  Packings &packings = p.getPackings();
  ProductSpec spec;
  spec.rows = packings.blocks(columns(op.getInput()), p.ranks());
  spec.columns =
      pairs ? packings.pairs(heads + 2 * kvHeads, size, p.ranks())
            : packings.qkvHeads(heads, kvHeads, size, p.ranks(), op.getGated());
  FailureOr<Product<QkvProjOp>> product = writeProduct(p, op, spec);
  if (failed(product))
    return failure();
  if (product->columns && pairs) {
    product->local.setHeadDim(size / p.ranks());
  } else if (product->columns) {
    product->local.setHeads(
        packings.heads(heads, size, p.ranks())->getLocalSize() / size);
    product->local.setKvHeads(
        packings.kvHeads(heads, kvHeads, size, p.ranks())->getLocalSize() /
        size);
  }
  return success();
}

LogicalResult llm::partition(Mamba2ProjOp op, OpPartition &p) {
  Mamba2Packings packings(p, op);
  ProductSpec spec;
  spec.rows = p.getPackings().blocks(columns(op.getInput()), p.ranks());
  spec.columns = packings.columns;
  FailureOr<Product<Mamba2ProjOp>> product = writeProduct(p, op, spec);
  if (failed(product))
    return failure();
  if (product->columns)
    packings.setSizes(product->local);
  return success();
}

LogicalResult llm::partition(OutProjOp op, OpPartition &p) {
  int64_t size = columns(op.getInput()) / op.getHeads();
  ProductSpec spec;
  spec.rows = p.getPackings().heads(op.getHeads(), size, p.ranks());
  spec.columns = p.getPackings().blocks(columns(op.getResult()), p.ranks());
  FailureOr<Product<OutProjOp>> product = writeProduct(p, op, spec);
  if (failed(product))
    return failure();
  if (product->rows == spec.rows)
    product->local.setHeads(columns(product->local.getInput()) / size);
  return success();
}

/// The copy from which whole rows, once they are normed, are best made H.
static LocalCopy getWholeRows(OpPartition &p, Value input) {
  const LocalValues::Placed &placed = p.getPlaced(input);
  LocalCopy source = placed.copies.front();
  for (const LocalCopy &copy : placed.copies)
    if (copy.layout == Layout::R) // which is cut for nothing
      source = copy;
  return source;
}

/// The input of a contracted product, normed. Where whole rows arrive they are
/// normed before they are cut; features that are cut or partial are made H
/// first, and their sums of squares all-reduced.
static Value normContracted(OpPartition &p, LinearOp op, const Packing *rows) {
  LocalCopy source = p.getPlaced(op.getInput()).copies.front();
  bool wholeRows = source.layout == Layout::R || source.layout == Layout::T;
  if (wholeRows)
    source = getWholeRows(p, op.getInput());
  else
    source.value = p.get(op.getInput(), Layout::H, rows);
  Value weight = p.sliceVector(op.getNorm(), wholeRows ? nullptr : rows);
  if (!weight)
    return {};
  Value normed = normFeatures(p, source.value, weight, /*bias=*/Value(),
                              op.getEpsilonAttr(), columns(op.getInput()),
                              /*subtractsMean=*/false, /*areCut=*/!wholeRows);
  if (!wholeRows)
    return normed;
  return p
      .reshard({normed, source.layout}, Layout::H, rows,
               *p.getPlaced(op.getInput()).space,
               p.chargeReshard(op.getInput(), source.layout, Layout::H))
      .value;
}

LogicalResult llm::partition(LinearOp op, OpPartition &p) {
  int64_t width = columns(op.getResult());
  Packings &packings = p.getPackings();
  ProductSpec spec;
  spec.rows = packings.blocks(columns(op.getInput()), p.ranks());
  spec.columns =
      op.getHeads()
          ? packings.heads(*op.getHeads(), width / *op.getHeads(), p.ranks())
          : packings.blocks(width, p.ranks());
  spec.transposed = op.getTransposed();
  bool normsFirst = op.getNorm() && p.getDim() == Dim::Zero && p.ranks() > 1;
  if (normsFirst) {
    spec.input =
        normContracted(p, op, p.getContracted(op.getInput(), spec.rows));
    if (!spec.input)
      return failure();
  }
  FailureOr<Product<LinearOp>> product = writeProduct(p, op, spec);
  if (failed(product))
    return failure();
  LinearOp local = product->local;
  if (normsFirst) {
    local.getNormMutable().clear();
    local.removeEpsilonAttr();
  } else if (op.getNorm()) {
    OpBuilder::InsertionGuard guard(p.getBuilder());
    p.getBuilder().setInsertionPoint(local);
    Value norm = p.sliceVector(op.getNorm(), nullptr);
    if (!norm)
      return failure();
    local.getNormMutable().assign(norm);
  }
  if (product->columns && op.getHeads())
    local.setHeads(spec.columns->getLocalSize() / (width / *op.getHeads()));
  return success();
}

//===----------------------------------------------------------------------===//
// Feed-forward network
//===----------------------------------------------------------------------===//

/// Writes a product of tokens, or of rows of experts where it has counts.
template <typename OpTy>
static FailureOr<Product<OpTy>> writeFfn(OpPartition &p, OpTy op,
                                         ProductSpec spec) {
  Value counts = op.getCounts();
  if (counts && failed(p.getDispatch(op.getInput(), counts)))
    return failure();
  spec.grouped = counts != nullptr;
  FailureOr<Product<OpTy>> product = writeProduct(p, op, spec);
  if (failed(product) || !counts)
    return product;
  OpBuilder::InsertionGuard guard(p.getBuilder());
  p.getBuilder().setInsertionPoint(product->local);
  Value local = p.getCounts(op.getInput(), counts, p.getRequired());
  if (!local)
    return failure();
  product->local.getCountsMutable().assign(local);
  return product;
}

/// Writes a product that is sharded on both dims. In H over tp the input has
/// the features `from`, the raw projection `to`, and the result `produced`.
template <typename OpTy>
static LogicalResult writeOnTwoAxes(OpPartition &p, OpTy op, cost::TwoAxes axes,
                                    const Packing *from, const Packing *to,
                                    const Packing *produced,
                                    ActivationAttr activation = {}) {
  Packings &packings = p.getPackings();
  const Packing *rows = packings.gathered(from, axes.scattered);
  const Packing *columns = packings.gathered(to, axes.gathered);
  Value weight = p.slice(op.getWeight(), {Cut::over(rows, axes.scattered),
                                          Cut::over(columns, axes.gathered)});
  Value bias =
      p.sliceVector(op.getBias(), packings.onFirstOf(columns, axes.gathered));
  if (!weight || (op.getBias() && !bias))
    return failure();
  Value input = p.along(axes.gathered)
                    .allGather(p.get(op.getInput(), p.getRequired(), from), 1,
                               p.own(cost::TwoAxes::gather));
  OpTy local = p.clone(op);
  local.getInputMutable().assign(input);
  local.getWeightMutable().assign(weight);
  if (bias)
    local.getBiasMutable().assign(bias);
  local.getResult().setType(
      withColumns(op.getResult(), columns->getLocalSize()));
  Value sum =
      p.along(axes.scattered)
          .reduceScatter(local.getResult(), 1, p.own(cost::TwoAxes::scatter));
  if (activation) {
    local->removeAttr("activation");
    sum = activate(p, sum, activation);
  }
  p.defineResult(cast<OpResult>(op.getResult()), sum, op.getInput(), produced);
  return success();
}

LogicalResult llm::partition(FfnUpOp op, OpPartition &p) {
  int64_t inner = columns(op.getResult());
  Packings &packings = p.getPackings();
  ProductSpec spec;
  spec.rows = packings.hidden(columns(op.getInput()), p.getOver());
  spec.activation = op.getActivationAttr();
  spec.produced = packings.blocks(inner, p.ranks());
  spec.columns = spec.activation && spec.activation.getGated()
                     ? packings.pairedBlocks(inner, p.ranks())
                     : spec.produced;
  if (p.getDim() == dimBoth)
    return writeOnTwoAxes(p, op, cost::axesOfFfnUp, spec.rows, spec.columns,
                          spec.produced, spec.activation);
  FailureOr<Product<FfnUpOp>> product = writeFfn(p, op, spec);
  if (failed(product))
    return failure();
  if (p.getDim() == Dim::Zero && p.ranks() > 1 && spec.activation)
    product->local.removeActivationAttr();
  if (!op.getRowGate())
    return success();
  OpBuilder::InsertionGuard guard(p.getBuilder());
  p.getBuilder().setInsertionPoint(product->local);
  Value gate = p.sliceVector(op.getRowGate(), nullptr);
  if (!gate)
    return failure();
  product->local.getRowGateMutable().assign(gate);
  return success();
}

LogicalResult llm::partition(FfnDownOp op, OpPartition &p) {
  ProductSpec spec;
  spec.rows = p.getPackings().blocks(columns(op.getInput()), p.ranks());
  spec.columns = p.getPackings().hidden(columns(op.getResult()), p.getOver());
  if (p.getDim() == dimBoth)
    return writeOnTwoAxes(p, op, cost::axesOfFfnDown, spec.rows, spec.columns,
                          spec.columns);
  return success(succeeded(writeFfn(p, op, spec)));
}
