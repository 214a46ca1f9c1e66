//===- PartitionProjections.cpp - Embedding, norms and products of one device
//-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Axis;
using cost::Layout;

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

LogicalResult llm::partition(EmbeddingOp op, Partitioner &p) {
  auto table = cast<RankedTensorType>(op.getTable().getType());
  int64_t vocabulary = table.getDimSize(0), hidden = table.getDimSize(1);
  Layout layout = p.getResultLayout();
  const Packing *rows = p.getPackings().blocks(vocabulary, p.tp());
  const Packing *features = p.getPackings().blocks(hidden, p.tp());
  SmallVector<Cut> cuts(2);
  if (layout == Layout::P)
    cuts[0] = Partitioner::over(rows);
  else if (layout == Layout::H)
    cuts[1] = Partitioner::over(features);

  Value slice = p.slice(op.getTable(), cuts);
  if (!slice)
    return failure();
  EmbeddingOp local = p.clone(op);
  local.getTokensMutable().assign(p.getPlain(op.getTokens()));
  local.getTableMutable().assign(slice);
  local.getResult().setType(withColumns(op.getResult(), columns(slice)));
  if (layout == Layout::P && p.tp() > 1) {
    OpBuilder::InsertionGuard guard(p.getBuilder());
    p.getBuilder().setInsertionPoint(local);
    local.getOffsetMutable().assign(p.getOffset(rows->getLocalSize()));
  }
  double rowBytes = hidden * table.getElementTypeBitWidth() / 8.0;
  if (auto type = dyn_cast<RankedTensorType>(op.getResult().getType()))
    rowBytes = hidden * type.getElementTypeBitWidth() / 8.0;
  p.define(
      op.getResult(),
      {local.getResult(), layout, layout == Layout::H ? features : nullptr},
      p.getTokens(), rowBytes);
  return success();
}

//===----------------------------------------------------------------------===//
// Norm
//===----------------------------------------------------------------------===//

LogicalResult llm::partition(RmsNormOp op, Partitioner &p) {
  Layout anchor = p.getRequired();
  int64_t hidden = columns(op.getInput());
  const Packing *features =
      anchor == Layout::H ? p.getPackings().blocks(hidden, p.tp()) : nullptr;
  Value input = p.get(op.getInput(), anchor, features);
  Value residual =
      op.getResidual() ? p.get(op.getResidual(), anchor, features) : Value();
  Value weight = p.sliceVector(op.getWeight(), features);
  if (!weight)
    return failure();

  if (anchor != Layout::H || p.tp() == 1) {
    RmsNormOp local = p.clone(op);
    local.getInputMutable().assign(input);
    if (residual)
      local.getResidualMutable().assign(residual);
    local.getWeightMutable().assign(weight);
    for (auto [global, result] :
         llvm::zip_equal(op->getResults(), local->getResults()))
      p.defineResult(cast<OpResult>(global), result, op.getInput(), features);
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
      sum.getType(), sum, squares, weight, op.getEpsilonAttr(),
      p.getBuilder().getI64IntegerAttr(hidden));
  p.defineResult(cast<OpResult>(op.getResult()), normed, op.getInput(),
                 features);
  if (residual)
    p.defineResult(cast<OpResult>(op.getSum()), sum, op.getInput(), features);
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

LogicalResult llm::partition(QkvProjOp op, Partitioner &p) {
  bool pairs = attentionCutsHeads(op.getResult());
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads(),
          size = op.getHeadDim();
  Packings &packings = p.getPackings();
  const Packing *heldHeads =
      pairs ? packings.pairs(heads + 2 * kvHeads, size, p.tp())
            : packings.qkvHeads(heads, kvHeads, size, p.tp());
  const Packing *hidden = packings.blocks(columns(op.getInput()), p.tp());
  FailureOr<Product> product =
      makeProduct(p, *op.getShardingDim(), op.getInput(), op.getWeight(),
                  op.getBias(), hidden, heldHeads);
  if (failed(product))
    return failure();
  QkvProjOp local = p.clone(op);
  local.getInputMutable().assign(product->input);
  local.getWeightMutable().assign(product->weight);
  assignBias(local, product->bias);
  local.getResult().setType(
      withColumns(op.getResult(), columns(product->weight)));
  if (product->columns && pairs) {
    local.setHeadDim(size / p.tp());
  } else if (product->columns) {
    local.setHeads(packings.heads(heads, size, p.tp())->getLocalSize() / size);
    local.setKvHeads(
        packings.kvHeads(heads, kvHeads, size, p.tp())->getLocalSize() / size);
  }
  p.defineResult(cast<OpResult>(op.getResult()), local.getResult(),
                 op.getInput(), product->columns);
  return success();
}

LogicalResult llm::partition(OutProjOp op, Partitioner &p) {
  int64_t size = columns(op.getInput()) / op.getHeads();
  const Packing *heads = p.getPackings().heads(op.getHeads(), size, p.tp());
  const Packing *hidden =
      p.getPackings().blocks(columns(op.getResult()), p.tp());
  FailureOr<Product> product =
      makeProduct(p, *op.getShardingDim(), op.getInput(), op.getWeight(),
                  op.getBias(), heads, hidden);
  if (failed(product))
    return failure();
  OutProjOp local = p.clone(op);
  local.getInputMutable().assign(product->input);
  local.getWeightMutable().assign(product->weight);
  assignBias(local, product->bias);
  local.getResult().setType(
      withColumns(op.getResult(), columns(product->weight)));
  if (product->rows == heads)
    local.setHeads(columns(product->input) / size);
  p.defineResult(cast<OpResult>(op.getResult()), local.getResult(),
                 op.getInput(), product->columns);
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

LogicalResult llm::partition(LinearOp op, Partitioner &p) {
  Dim dim = *op.getShardingDim();
  int64_t width = columns(op.getResult());
  const Packing *inputs =
      p.getPackings().blocks(columns(op.getInput()), p.tp());
  const Packing *outputs =
      op.getHeads() ? p.getPackings().heads(*op.getHeads(),
                                            width / *op.getHeads(), p.tp())
                    : p.getPackings().blocks(width, p.tp());
  Product product;
  product.rows =
      dim == Dim::Zero ? p.getContracted(op.getInput(), inputs) : nullptr;
  product.columns = dim == Dim::One ? outputs : nullptr;
  bool normsFirst = op.getNorm() && dim == Dim::Zero && p.tp() > 1;
  if (normsFirst) {
    FailureOr<Value> normed = normContracted(p, op, product.rows);
    if (failed(normed))
      return failure();
    product.input = *normed;
  } else {
    product.input = p.get(op.getInput(), p.getRequired(), product.rows);
  }
  SmallVector<Cut> cuts = {Partitioner::over(product.rows),
                           Partitioner::over(product.columns)};
  if (op.getTransposed())
    std::swap(cuts[0], cuts[1]);
  product.weight = p.slice(op.getWeight(), cuts);
  product.bias = dim == Dim::Zero
                     ? biasOfPartialSum(p, op.getBias())
                     : p.sliceVector(op.getBias(), product.columns);
  Value norm = normsFirst ? Value() : p.sliceVector(op.getNorm(), nullptr);
  if (!product.weight)
    return failure();

  LinearOp local = p.clone(op);
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
    local.getResult().setType(
        withColumns(op.getResult(), outputs->getLocalSize()));
    if (op.getHeads())
      local.setHeads(outputs->getLocalSize() / (width / *op.getHeads()));
  }
  p.defineResult(cast<OpResult>(op.getResult()), local.getResult(),
                 op.getInput(), product.columns);
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

LogicalResult llm::partition(FfnUpOp op, Partitioner &p) {
  Dim dim = *op.getShardingDim();
  int64_t inner = columns(op.getResult());
  bool gated = op.getActivation() && op.getActivation()->getGated();
  Packings &packings = p.getPackings();
  const Packing *features = packings.blocks(inner, p.tp());
  Product product;
  if (dim == Dim::Zero)
    product.rows = p.getContracted(
        op.getInput(), packings.blocks(columns(op.getInput()), p.tp()));
  else if (dim == Dim::One)
    product.columns = gated ? packings.pairedBlocks(inner, p.tp()) : features;
  product.input = p.get(op.getInput(), p.getRequired(), product.rows);
  bool grouped = op.getCounts() != nullptr;
  if (failed(sliceFfn(p, dim, grouped, op.getWeight(), op.getBias(), product)))
    return failure();
  Value counts =
      grouped ? p.getCounts(op.getCounts(), p.getRequired()) : Value();

  FfnUpOp local = p.clone(op);
  local.getInputMutable().assign(product.input);
  local.getWeightMutable().assign(product.weight);
  assignBias(local, product.bias);
  if (counts)
    local.getCountsMutable().assign(counts);
  // The activation of a partial sum comes after its reduction.
  bool defers = dim == Dim::Zero && p.tp() > 1 && op.getActivation();
  int64_t width = columns(product.weight);
  if (defers)
    local.removeActivationAttr();
  else
    width = gated ? width / 2 : width;
  local.getResult().setType(withColumns(op.getResult(), width));
  p.defineResult(cast<OpResult>(op.getResult()), local.getResult(),
                 op.getInput(), product.columns ? features : nullptr,
                 defers ? op.getActivationAttr() : ActivationAttr());
  return success();
}

LogicalResult llm::partition(FfnDownOp op, Partitioner &p) {
  Dim dim = *op.getShardingDim();
  Packings &packings = p.getPackings();
  Product product;
  if (dim == Dim::Zero)
    product.rows = p.getContracted(
        op.getInput(), packings.blocks(columns(op.getInput()), p.tp()));
  else if (dim == Dim::One)
    product.columns = packings.blocks(columns(op.getResult()), p.tp());
  product.input = p.get(op.getInput(), p.getRequired(), product.rows);
  bool grouped = op.getCounts() != nullptr;
  if (failed(sliceFfn(p, dim, grouped, op.getWeight(), op.getBias(), product)))
    return failure();
  Value counts =
      grouped ? p.getCounts(op.getCounts(), p.getRequired()) : Value();

  FfnDownOp local = p.clone(op);
  local.getInputMutable().assign(product.input);
  local.getWeightMutable().assign(product.weight);
  assignBias(local, product.bias);
  if (counts)
    local.getCountsMutable().assign(counts);
  local.getResult().setType(
      withColumns(op.getResult(), columns(product.weight)));
  p.defineResult(cast<OpResult>(op.getResult()), local.getResult(),
                 op.getInput(), product.columns);
  return success();
}
