//===- OpTypes.cpp - Types that follow from others ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule says which types an op has where its author does not say otherwise.
// Verifiers say which ones it may have.
//
//===----------------------------------------------------------------------===//

#include "OpSyntax.h"

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

static constexpr int64_t dynamic = ShapedType::kDynamic;

//===----------------------------------------------------------------------===//
// What rules are written with
//===----------------------------------------------------------------------===//

int64_t OpTypes::getInteger(StringRef name, int64_t whenAbsent) {
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute(name));
  return integer && integer.getType().isInteger(64) ? integer.getInt()
                                                    : whenAbsent;
}

int64_t OpTypes::getInteger(StringRef name) { return getInteger(name, -1); }

int64_t OpTypes::getSize(Type tensor, int dim) {
  auto type = dyn_cast_or_null<RankedTensorType>(tensor);
  if (!type || type.getRank() < std::max(dim + 1, -dim)) {
    hasFailed = true;
    return 1;
  }
  return type.getDimSize(dim < 0 ? type.getRank() + dim : dim);
}

Type OpTypes::getElement(Type tensor) {
  if (auto type = dyn_cast_or_null<RankedTensorType>(tensor))
    return type.getElementType();
  hasFailed = true;
  return Type();
}

Type OpTypes::tensor(ArrayRef<int64_t> shape, Type element) {
  if (!element)
    element = getElement(operands[0]);
  auto isSize = [](int64_t size) { return size >= 0 || size == dynamic; };
  if (!element || !TensorType::isValidElementType(element) ||
      !llvm::all_of(shape, isSize)) {
    hasFailed = true;
    return Type();
  }
  return RankedTensorType::get(shape, element);
}

Type OpTypes::weight(ArrayRef<int64_t> shape) {
  return tensor(shape, weightElement);
}

Type OpTypes::indices(ArrayRef<int64_t> shape) {
  return tensor(shape, IntegerType::get(context, 32));
}

Type OpTypes::floats(ArrayRef<int64_t> shape) {
  return tensor(shape, Float32Type::get(context));
}

Type OpTypes::index() { return IndexType::get(context); }

namespace shardopt::llm {

void noTypes(OpTypes &) {}

//===----------------------------------------------------------------------===//
// Fused operators
//===----------------------------------------------------------------------===//

void typesOfEmbedding(OpTypes &types) {
  types.operands[0] = types.indices({types.getRows(types.results[0])});
  types.operands[2] = types.index();
}

void typesOfNorm(OpTypes &types) {
  Type input = types.operands[0];
  bool hasSum = types.has(1) && !types.getAttribute("norm_first");
  types.operands[1] = input;
  for (Type &vector : MutableArrayRef(types.operands).drop_front(2))
    vector = types.tensor({types.getColumns(input)});
  types.results.assign(hasSum ? 2 : 1, input);
}

void typesOfProjection(OpTypes &types) {
  int64_t in = types.getColumns(types.operands[0]);
  int64_t out = types.getColumns(types.results[0]);
  types.operands[1] = types.weight({in, out});
  types.operands[2] = types.tensor({out});
}

void typesOfLinear(OpTypes &types) {
  int64_t in = types.getColumns(types.operands[0]);
  int64_t out = types.getColumns(types.results[0]);
  bool isTransposed = bool(types.getAttribute("transposed"));
  types.operands[1] =
      isTransposed ? types.weight({out, in}) : types.weight({in, out});
  types.operands[2] = types.tensor({in});
  types.operands[3] = types.tensor({out});
}

/// Types of what only multi-head latent attention has.
static void typesOfLatent(OpTypes &types, int64_t rows) {
  int64_t heads = types.getInteger("heads");
  int64_t rank = types.getInteger("rank");
  int64_t given = plus(rank, types.getInteger("rope_dim"));
  if (auto indexer =
          dyn_cast_or_null<IndexerAttr>(types.getAttribute("indexer"))) {
    given = plus(given, plus(indexer.getDim(), indexer.getHeads()));
    types.operands[10] =
        types.tensor({rows, times(indexer.getHeads(), indexer.getDim())});
    types.operands[11] = types.operands[12] = types.tensor({indexer.getDim()});
  }
  int64_t perHead =
      plus(types.getInteger("nope_dim"), types.getInteger("value_dim"));
  types.operands[1] = types.tensor({rows, given});
  types.operands[7] = types.tensor({rank});
  types.operands[8] = types.weight({rank, times(heads, perHead)});
}

void typesOfAttention(OpTypes &types) {
  Type cache = types.operands[3];
  int64_t rows = types.getRows(types.operands[0]);
  auto kind = cast<AttentionKindAttr>(types.getAttribute("kind"));
  types.operands[2] = types.indices({rows});
  if (kind.getValue() == AttentionKind::Mla)
    typesOfLatent(types, rows);
  if (types.has(4) || types.has(5)) {
    int64_t size = types.getInteger("head_dim");
    bool isEach = bool(types.getAttribute("qk_norm"));
    auto weight = [&](StringRef heads) {
      return types.tensor(
          {isEach ? times(types.getInteger(heads), size) : size});
    };
    types.operands[4] = weight("heads");
    types.operands[5] = weight("kv_heads");
  }
  if (types.has(6))
    types.operands[6] = types.tensor({types.getInteger("heads")});
  types.operands[9] = types.index();
  types.results.append(types.getSize(3), cache);
}

void typesOfGatedDeltaNet(OpTypes &types) {
  int64_t valueHeads = types.getInteger("value_heads");
  Type convState = types.operands[2];
  types.operands[1] = types.indices({types.getRows(types.operands[0])});
  types.operands[4] = types.tensor(
      {plus(types.getSize(convState, 1), 1), types.getColumns(convState)});
  types.operands[5] = types.operands[6] = types.tensor({valueHeads});
  types.operands[7] = types.tensor({types.getInteger("value_dim")});
  types.results.append({convState, types.operands[3]});
}

void typesOfMamba2(OpTypes &types) {
  int64_t heads = types.getInteger("heads");
  Type convState = types.operands[2];
  int64_t channels = types.getColumns(convState);
  types.operands[1] = types.indices({types.getRows(types.operands[0])});
  types.operands[4] =
      types.tensor({plus(types.getSize(convState, 1), 1), channels});
  types.operands[5] = types.tensor({channels});
  for (unsigned ofHeads : {6, 7, 8})
    types.operands[ofHeads] = types.tensor({heads});
  types.operands[9] = types.tensor({types.getColumns(types.results[0])});
  types.results.append({convState, types.operands[3]});
}

void typesOfFfn(OpTypes &types) {
  auto activation =
      dyn_cast_or_null<ActivationAttr>(types.getAttribute("activation"));
  SmallVector<int64_t> shape;
  if (types.has(3))
    shape.push_back(types.getColumns(types.operands[3]));
  int64_t out = types.getColumns(types.results[0]);
  int64_t columns = activation && activation.getGated() ? times(out, 2) : out;
  shape.push_back(columns);
  types.operands[2] = types.tensor(shape);
  if (types.operands.size() > 4) // the row gate of an up-projection
    types.operands[4] = types.tensor({types.getColumns(types.operands[0])});
  shape.insert(shape.end() - 1, types.getColumns(types.operands[0]));
  types.operands[1] = types.weight(shape);
}

void typesOfRouter(OpTypes &types) {
  Type input = types.operands[0];
  int64_t rows = types.getRows(input), choices = types.getInteger("top_k");
  int64_t experts = types.getColumns(types.operands[1]);
  types.operands[2] = types.tensor({experts});
  types.operands[3] = types.floats({experts});
  types.results = {input, types.indices({rows, choices}),
                   types.floats({rows, choices})};
}

void typesOfDispatch(OpTypes &types) {
  types.operands[2] = types.floats(
      {types.getRows(types.operands[1]), types.getColumns(types.operands[1])});
  types.results = {types.tensor({dynamic, types.getColumns(types.operands[0])}),
                   types.indices({1, 1, types.getInteger("experts")}),
                   types.indices({dynamic})};
}

void typesOfCombine(OpTypes &types) {
  types.operands[2] = types.indices({types.getRows(types.operands[0])});
  types.results = {types.tensor(
      {types.getRows(types.operands[3]), types.getColumns(types.operands[0])})};
}

void typesOfLmHead(OpTypes &types) {
  types.operands[1] = types.operands[3] =
      types.tensor({types.getColumns(types.operands[0])});
  types.operands[4] = types.tensor({types.getAttribute("tied")
                                        ? types.getRows(types.operands[2])
                                        : types.getColumns(types.operands[2])});
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

void typesOfSumSquares(OpTypes &types) {
  int64_t groups = types.getInteger("groups", 1);
  int64_t columns = types.getAttribute("sums") ? times(groups, 2) : groups;
  types.results = {types.floats({types.getRows(types.operands[0]), columns})};
}

void typesOfScaleNorm(OpTypes &types) {
  bool hasSums = types.has(3) || types.getAttribute("sums");
  int64_t groups = types.getColumns(types.operands[1]) / (hasSums ? 2 : 1);
  types.operands[2] = types.operands[3] = types.tensor(
      {types.getColumns(types.operands[0]) / std::max<int64_t>(groups, 1)});
  types.results = {types.operands[0]};
}

/// The cache of one of the two halves of attention with cut head features.
static Type cacheOfHalf(OpTypes &types) {
  return types.tensor({dynamic, dynamic, types.getInteger("kv_heads"),
                       types.getInteger("head_dim")},
                      types.getElement(types.results[0]));
}

void typesOfAttentionScores(OpTypes &types) {
  types.operands[1] = types.indices({types.getRows(types.operands[0])});
  types.operands[2] =
      types.tensor({dynamic, dynamic, types.getInteger("kv_heads"),
                    types.getInteger("head_dim")});
  types.operands[3] = types.index();
  types.results.push_back(types.operands[2]);
}

void typesOfAttentionValues(OpTypes &types) {
  Type element = types.getElement(types.operands[1]);
  types.operands[2] = types.indices({types.getRows(types.operands[1])});
  types.operands[3] = cacheOfHalf(types);
  types.operands[4] = types.tensor({types.getInteger("heads", 0)}, element);
  types.results.push_back(types.operands[3]);
}

void typesOfScaleRows(OpTypes &types) {
  types.operands[1] = types.floats({types.getRows(types.operands[0]), 1});
  types.results = {types.operands[0]};
}

void typesOfTopK(OpTypes &types) {
  int64_t rows = types.getRows(types.operands[0]);
  int64_t choices = types.getInteger("top_k");
  types.results = {types.indices({rows, choices}),
                   types.floats({rows, choices})};
}

void typesOfExchangePlan(OpTypes &types) {
  types.operands[1] = types.index();
  types.results.push_back(types.indices({dynamic}));
}

void typesOfLocalExperts(OpTypes &types) {
  types.operands[1] = types.index();
  types.results = {types.operands[0]};
}

void typesOfPermute(OpTypes &types) {
  types.operands[1] = types.indices({dynamic});
  types.operands[2] = types.floats(
      {types.getRows(types.operands[0]), types.getInteger("top_k")});
  types.results = {
      types.tensor({dynamic, types.getColumns(types.operands[0])})};
}

void typesOfUnpermute(OpTypes &types) {
  types.operands[1] = types.indices({types.getRows(types.operands[0])});
  types.results = {types.tensor(
      {types.getRows(types.operands[2]), types.getColumns(types.operands[0])})};
}

void typesOfBlockSize(OpTypes &types) { types.results = {types.indices({1})}; }

void typesOfPackHomes(OpTypes &types) {
  Type counts = types.operands[1];
  types.operands[2] = types.indices({1});
  types.results = {
      types.tensor({dynamic, types.getColumns(types.operands[0])}),
      types.indices({types.getSize(counts, 1), types.getSize(counts, 0),
                     types.getSize(counts, 2)})};
}

void typesOfUnpackHomes(OpTypes &types) {
  types.results = {
      types.tensor({dynamic, types.getColumns(types.operands[0])})};
}

void typesOfPartialAttention(OpTypes &types) {
  Type cache = types.operands[3];
  int64_t rows = types.getRows(types.operands[0]);
  int64_t heads = types.getInteger("heads");
  if (types.has(1)) {
    int64_t rank = types.getInteger("rank");
    types.operands[1] =
        types.tensor({rows, plus(rank, types.getInteger("rope_dim"))});
    types.operands[7] = types.tensor({rank});
  }
  types.operands[2] = types.indices({rows});
  if (types.has(4) || types.has(5))
    types.operands[4] = types.operands[5] =
        types.tensor({types.getInteger("head_dim")});
  if (types.has(6))
    types.operands[6] = types.tensor({heads});
  types.operands[8] = types.operands[9] = types.index();
  types.results.push_back(types.floats({rows, heads}));
  types.results.append(types.getSize(3), cache);
}

void typesOfLatentQueries(OpTypes &types) {
  types.operands[2] = types.indices({types.getRows(types.operands[0])});
}

void typesOfWritePositions(OpTypes &types) {
  types.operands[1] = types.operands[0];
  types.operands[2] = types.indices({dynamic});
  types.operands[3] = types.index();
  types.results = {types.operands[0]};
}

void typesOfWriteCache(OpTypes &types) {
  types.operands[1] = types.indices({types.getRows(types.operands[0])});
  if (types.has(3))
    types.operands[3] = types.tensor({types.getInteger("head_dim")});
  if (types.has(4))
    types.operands[4] = types.tensor({types.getInteger("rank")});
  types.results.append(types.getSize(2), types.operands[2]);
}

void typesOfDealtRows(OpTypes &types) {
  types.operands[1] = types.index();
  SmallVector<int64_t> shape = {dynamic};
  if (auto rows = dyn_cast_or_null<RankedTensorType>(types.operands[0]))
    llvm::append_range(shape, rows.getShape().drop_front(rows.getRank() > 0));
  types.results = {types.tensor(shape)};
}

void typesOfLastRows(OpTypes &types) {
  types.operands[1] = types.operands[2] = types.index();
  types.results = {
      types.tensor({dynamic, types.getColumns(types.operands[0])})};
}

void typesOfArgmax(OpTypes &types) {
  types.operands[1] = types.index();
  types.results = {types.indices({types.getRows(types.operands[0]), 2})};
}

void typesOfArgmaxMerge(OpTypes &types) {
  types.results = {types.indices({types.getRows(types.operands[0])})};
}

} // namespace shardopt::llm
