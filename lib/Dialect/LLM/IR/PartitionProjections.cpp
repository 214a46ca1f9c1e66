//===- PartitionProjections.cpp - Embedding, norms and products of one device
//-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/Partitioner.h"
#include "shardopt/Dialect/LLM/IR/Sizes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Axis;
using cost::Layout;

/// The type of `like` with `width` columns.
static Type withColumns(Value like, int64_t width) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = width;
  return type.clone(shape);
}

/// A bias of a partial sum counts once: on the first device of the group.
static Value biasOfPartialSum(Partitioner &p, Value bias) {
  if (!bias || p.tp() == 1)
    return p.sliceVector(bias, nullptr);
  return p.sliceVector(bias, p.getPackings().onFirst(columns(bias), p.tp()));
}

template <typename OpTy> static void assignBias(OpTy local, Value bias) {
  if (bias)
    local.getBiasMutable().assign(bias);
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::partition(Partitioner &p) {
  auto table = cast<RankedTensorType>(getTable().getType());
  int64_t vocabulary = table.getDimSize(0), hidden = table.getDimSize(1);
  Layout layout = p.getResultLayout();
  const Packing *rows = p.getPackings().blocks(vocabulary, p.tp());
  const Packing *features = p.getPackings().blocks(hidden, p.tp());
  SmallVector<Cut> cuts(2);
  if (layout == Layout::P)
    cuts[0] = Partitioner::over(rows);
  else if (layout == Layout::H)
    cuts[1] = Partitioner::over(features);

  Value slice = p.slice(getTable(), cuts);
  if (!slice)
    return failure();
  EmbeddingOp local = p.clone(*this);
  local.getTokensMutable().assign(p.getPlain(getTokens()));
  local.getTableMutable().assign(slice);
  local.getResult().setType(
      cast<RankedTensorType>(withColumns(getResult(), columns(slice))));
  if (layout == Layout::P && p.tp() > 1) {
    OpBuilder::InsertionGuard guard(p.getBuilder());
    p.getBuilder().setInsertionPoint(local);
    local.getOffsetMutable().assign(p.getOffset(rows->getLocalSize()));
  }
  double rowBytes = hidden * table.getElementTypeBitWidth() / 8.0;
  if (auto type = dyn_cast<RankedTensorType>(getResult().getType()))
    rowBytes = hidden * type.getElementTypeBitWidth() / 8.0;
  p.define(
      getResult(),
      {local.getResult(), layout, layout == Layout::H ? features : nullptr},
      p.getTokens(), rowBytes);
  return success();
}

//===----------------------------------------------------------------------===//
// Norm
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::partition(Partitioner &p) {
  Layout anchor = p.getRequired();
  int64_t hidden = columns(getInput());
  const Packing *features =
      anchor == Layout::H ? p.getPackings().blocks(hidden, p.tp()) : nullptr;
  Value input = p.get(getInput(), anchor, features);
  Value residual =
      getResidual() ? p.get(getResidual(), anchor, features) : Value();
  Value weight = p.sliceVector(getWeight(), features);
  if (!weight)
    return failure();

  if (anchor != Layout::H || p.tp() == 1) {
    RmsNormOp local = p.clone(*this);
    local.getInputMutable().assign(input);
    if (residual)
      local.getResidualMutable().assign(residual);
    local.getWeightMutable().assign(weight);
    for (auto [global, result] :
         llvm::zip_equal(getResults(), local->getResults()))
      p.defineResult(cast<OpResult>(global), result, getInput(), features);
    return success();
  }

  // Features are cut: the sum of squares is all there is to exchange.
  Value sum = input;
  if (residual)
    sum = p.create<AddOp>(input.getType(), input, residual);
  auto squaresType = RankedTensorType::get({ShapedType::kDynamic, 1},
                                           p.getBuilder().getF32Type());
  Value squares = p.create<SumSquaresOp>(squaresType, sum,
                                         p.getBuilder().getI64IntegerAttr(1));
  squares = p.allReduce(squares, p.getOwnBytes(0));
  Value normed = p.create<ScaleNormOp>(
      sum.getType(), sum, squares, weight, getEpsilonAttr(),
      p.getBuilder().getI64IntegerAttr(hidden));
  p.defineResult(cast<OpResult>(getResult()), normed, getInput(), features);
  if (residual)
    p.defineResult(cast<OpResult>(getSum()), sum, getInput(), features);
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// How a product with a two-dimensional weight is written: which rows and
/// columns of the weight, and with which bias.
struct Product {
  Value input, weight, bias;
  const Packing *rows = nullptr;
  const Packing *columns = nullptr;
};

/// Operands of a product under its dim: 0 cuts the contracted dim by what the
/// input holds (or `rows`), 1 cuts the columns by `columns`.
static FailureOr<Product> makeProduct(Partitioner &p, Dim dim, Value input,
                                      Value weight, Value bias,
                                      const Packing *rows,
                                      const Packing *columns) {
  Product product;
  if (dim == Dim::Zero)
    product.rows = p.getContracted(input, rows);
  else if (dim == Dim::One)
    product.columns = columns;
  product.input = p.get(input, p.getRequired(), product.rows);
  product.weight = p.slice(weight, {Partitioner::over(product.rows),
                                    Partitioner::over(product.columns)});
  product.bias = dim == Dim::Zero ? biasOfPartialSum(p, bias)
                                  : p.sliceVector(bias, product.columns);
  if (!product.weight || (bias && !product.bias))
    return failure();
  return product;
}

/// The features that queries, keys and values need for the attention that reads
/// them: rotary pairs of every head where it cuts heads, whole heads otherwise.
static bool attentionCutsHeads(Value projection) {
  for (Operation *user : projection.getUsers())
    if (auto attention = dyn_cast<AttentionOp>(user))
      return attention.getShardingDim() == Dim::One;
  return false;
}

LogicalResult QkvProjOp::partition(Partitioner &p) {
  bool pairs = attentionCutsHeads(getResult());
  int64_t heads = getHeads(), kvHeads = getKvHeads(), size = getHeadDim();
  Packings &packings = p.getPackings();
  const Packing *heldHeads =
      pairs ? packings.pairs(heads + 2 * kvHeads, size, p.tp())
            : packings.qkvHeads(heads, kvHeads, size, p.tp());
  const Packing *hidden = packings.blocks(columns(getInput()), p.tp());
  FailureOr<Product> product =
      makeProduct(p, *getShardingDim(), getInput(), getWeight(), getBias(),
                  hidden, heldHeads);
  if (failed(product))
    return failure();
  QkvProjOp local = p.clone(*this);
  local.getInputMutable().assign(product->input);
  local.getWeightMutable().assign(product->weight);
  assignBias(local, product->bias);
  local.getResult().setType(cast<RankedTensorType>(
      withColumns(getResult(), columns(product->weight))));
  if (product->columns && pairs) {
    local.setHeadDim(size / p.tp());
  } else if (product->columns) {
    local.setHeads(packings.heads(heads, size, p.tp())->getLocalSize() / size);
    local.setKvHeads(
        packings.kvHeads(heads, kvHeads, size, p.tp())->getLocalSize() / size);
  }
  p.defineResult(cast<OpResult>(getResult()), local.getResult(), getInput(),
                 product->columns);
  return success();
}

LogicalResult OutProjOp::partition(Partitioner &p) {
  int64_t size = columns(getInput()) / getHeads();
  const Packing *heads = p.getPackings().heads(getHeads(), size, p.tp());
  const Packing *hidden = p.getPackings().blocks(columns(getResult()), p.tp());
  FailureOr<Product> product = makeProduct(
      p, *getShardingDim(), getInput(), getWeight(), getBias(), heads, hidden);
  if (failed(product))
    return failure();
  OutProjOp local = p.clone(*this);
  local.getInputMutable().assign(product->input);
  local.getWeightMutable().assign(product->weight);
  assignBias(local, product->bias);
  local.getResult().setType(cast<RankedTensorType>(
      withColumns(getResult(), columns(product->weight))));
  if (product->rows == heads)
    local.setHeads(columns(product->input) / size);
  p.defineResult(cast<OpResult>(getResult()), local.getResult(), getInput(),
                 product->columns);
  return success();
}

/// The input of a contracted product, normed. Where whole rows arrive they are
/// normed before they are cut; features that are cut or partial are made H
/// first, and their sums of squares all-reduced.
static FailureOr<Value> normContracted(Partitioner &p, LinearOp op,
                                       const Packing *rows) {
  const LocalCopy &source = p.getCopies(op.getInput()).front();
  bool wholeRows = source.layout == Layout::R || source.layout == Layout::T;
  Value input =
      wholeRows ? source.value : p.get(op.getInput(), Layout::H, rows);
  Value weight = p.sliceVector(op.getNorm(), wholeRows ? nullptr : rows);
  if (!weight)
    return failure();
  OpBuilder &builder = p.getBuilder();
  auto type =
      RankedTensorType::get({ShapedType::kDynamic, 1}, builder.getF32Type());
  Value squares =
      p.create<SumSquaresOp>(type, input, builder.getI64IntegerAttr(1));
  if (!wholeRows)
    squares = p.allReduce(squares, p.getOwnBytes(0));
  Value normed = p.create<ScaleNormOp>(
      input.getType(), input, squares, weight, op.getEpsilonAttr(),
      builder.getI64IntegerAttr(columns(op.getInput())));
  if (!wholeRows)
    return normed;
  return p
      .reshard({normed, source.layout}, Layout::H, rows,
               p.getRowSpace(op.getInput()), p.getRowBytes(op.getInput()))
      .value;
}

LogicalResult LinearOp::partition(Partitioner &p) {
  Dim dim = *getShardingDim();
  int64_t width = columns(getResult());
  const Packing *inputs = p.getPackings().blocks(columns(getInput()), p.tp());
  const Packing *outputs =
      getHeads()
          ? p.getPackings().heads(*getHeads(), width / *getHeads(), p.tp())
          : p.getPackings().blocks(width, p.tp());
  Product product;
  product.rows =
      dim == Dim::Zero ? p.getContracted(getInput(), inputs) : nullptr;
  product.columns = dim == Dim::One ? outputs : nullptr;
  bool normsFirst = getNorm() && dim == Dim::Zero && p.tp() > 1;
  if (normsFirst) {
    FailureOr<Value> normed = normContracted(p, *this, product.rows);
    if (failed(normed))
      return failure();
    product.input = *normed;
  } else {
    product.input = p.get(getInput(), p.getRequired(), product.rows);
  }
  SmallVector<Cut> cuts = {Partitioner::over(product.rows),
                           Partitioner::over(product.columns)};
  if (getTransposed())
    std::swap(cuts[0], cuts[1]);
  product.weight = p.slice(getWeight(), cuts);
  product.bias = dim == Dim::Zero ? biasOfPartialSum(p, getBias())
                                  : p.sliceVector(getBias(), product.columns);
  Value norm = normsFirst ? Value() : p.sliceVector(getNorm(), nullptr);
  if (!product.weight)
    return failure();

  LinearOp local = p.clone(*this);
  local.getInputMutable().assign(product.input);
  local.getWeightMutable().assign(product.weight);
  assignBias(local, product.bias);
  if (norm) {
    local.getNormMutable().assign(norm);
  } else {
    local.getNormMutable().clear();
    local.removeEpsilonAttr();
  }
  if (product.columns) {
    local.getResult().setType(cast<RankedTensorType>(
        withColumns(getResult(), outputs->getLocalSize())));
    if (getHeads())
      local.setHeads(outputs->getLocalSize() / (width / *getHeads()));
  }
  p.defineResult(cast<OpResult>(getResult()), local.getResult(), getInput(),
                 product.columns);
  return success();
}

//===----------------------------------------------------------------------===//
// Feed-forward network
//===----------------------------------------------------------------------===//

/// A weight or bias with the experts in front, or without.
static Value sliceGrouped(Partitioner &p, Value weight, bool grouped,
                          ArrayRef<Cut> cuts) {
  SmallVector<Cut> all;
  if (grouped)
    all.push_back(
        p.overExperts(cast<RankedTensorType>(weight.getType()).getDimSize(0)));
  all.append(cuts.begin(), cuts.end());
  return p.slice(weight, all);
}

/// Weight and bias of a product of a feed-forward network.
static LogicalResult sliceFfn(Partitioner &p, Dim dim, bool grouped,
                              Value weight, Value bias, Product &product) {
  product.weight = sliceGrouped(
      p, weight, grouped,
      {Partitioner::over(product.rows), Partitioner::over(product.columns)});
  if (bias) {
    const Packing *held = product.columns;
    if (dim == Dim::Zero && p.tp() > 1)
      held = p.getPackings().onFirst(columns(bias), p.tp());
    product.bias = sliceGrouped(p, bias, grouped, {Partitioner::over(held)});
  }
  return success(product.weight && (!bias || product.bias));
}

LogicalResult FfnUpOp::partition(Partitioner &p) {
  Dim dim = *getShardingDim();
  int64_t inner = columns(getResult());
  bool gated = getActivation() && getActivation()->getGated();
  Packings &packings = p.getPackings();
  const Packing *features = packings.blocks(inner, p.tp());
  Product product;
  if (dim == Dim::Zero)
    product.rows = p.getContracted(
        getInput(), packings.blocks(columns(getInput()), p.tp()));
  else if (dim == Dim::One)
    product.columns = gated ? packings.pairedBlocks(inner, p.tp()) : features;
  product.input = p.get(getInput(), p.getRequired(), product.rows);
  bool grouped = getCounts() != nullptr;
  if (failed(sliceFfn(p, dim, grouped, getWeight(), getBias(), product)))
    return failure();
  Value counts = grouped ? p.getCounts(getCounts(), p.getRequired()) : Value();

  FfnUpOp local = p.clone(*this);
  local.getInputMutable().assign(product.input);
  local.getWeightMutable().assign(product.weight);
  assignBias(local, product.bias);
  if (counts)
    local.getCountsMutable().assign(counts);
  // The activation of a partial sum comes after its reduction.
  bool defers = dim == Dim::Zero && p.tp() > 1 && getActivation();
  int64_t width = columns(product.weight);
  if (defers)
    local.removeActivationAttr();
  else
    width = gated ? width / 2 : width;
  local.getResult().setType(
      cast<RankedTensorType>(withColumns(getResult(), width)));
  p.defineResult(cast<OpResult>(getResult()), local.getResult(), getInput(),
                 product.columns ? features : nullptr,
                 defers ? getActivationAttr() : ActivationAttr());
  return success();
}

LogicalResult FfnDownOp::partition(Partitioner &p) {
  Dim dim = *getShardingDim();
  Packings &packings = p.getPackings();
  Product product;
  if (dim == Dim::Zero)
    product.rows = p.getContracted(
        getInput(), packings.blocks(columns(getInput()), p.tp()));
  else if (dim == Dim::One)
    product.columns = packings.blocks(columns(getResult()), p.tp());
  product.input = p.get(getInput(), p.getRequired(), product.rows);
  bool grouped = getCounts() != nullptr;
  if (failed(sliceFfn(p, dim, grouped, getWeight(), getBias(), product)))
    return failure();
  Value counts = grouped ? p.getCounts(getCounts(), p.getRequired()) : Value();

  FfnDownOp local = p.clone(*this);
  local.getInputMutable().assign(product.input);
  local.getWeightMutable().assign(product.weight);
  assignBias(local, product.bias);
  if (counts)
    local.getCountsMutable().assign(counts);
  local.getResult().setType(cast<RankedTensorType>(
      withColumns(getResult(), columns(product.weight))));
  p.defineResult(cast<OpResult>(getResult()), local.getResult(), getInput(),
                 product.columns);
  return success();
}
