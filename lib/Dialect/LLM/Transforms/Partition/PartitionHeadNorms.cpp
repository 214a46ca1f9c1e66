//===- PartitionHeadNorms.cpp - Norms of queries and keys of a device -----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where devices have other heads, or other features of them, norms of queries
// and keys are written apart from attention: sums, their all-reduce where what
// is normed lies on several devices, and the scaling.
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

/// Queries and keys of a device, and what is known of their norms.
struct HeadNorms {
  HeadNorms(OpPartition &p, AttentionOp op, int64_t queries, int64_t keys)
      : p(p), op(op), builder(p.getBuilder()), queries(queries), keys(keys),
        allHeads(op.getQkNorm() == HeadNorm::AllHeads),
        subtractsMean(op.getQkNorm() == HeadNorm::Mean) {}

  IntegerAttr i64(int64_t value) { return builder.getI64IntegerAttr(value); }
  UnitAttr sumsAttr() {
    return subtractsMean ? builder.getUnitAttr() : UnitAttr();
  }

  /// The sums of `groups` groups of the columns of `input`.
  Value sumsOf(Value input, int64_t groups) {
    auto type = RankedTensorType::get(
        {ShapedType::kDynamic, subtractsMean ? 2 * groups : groups},
        builder.getF32Type());
    return p.create<SumSquaresOp>(type, input, i64(groups), sumsAttr());
  }

  /// Of the heads `input`: those of `sums` that are of queries, or of keys.
  Value sumsOfPart(Value sums, bool ofKeys) {
    if (allHeads)
      return p.sliceColumns(sums, ofKeys, 1);
    int64_t begin = ofKeys ? queries : 0, count = ofKeys ? keys : queries;
    Value squares = p.sliceColumns(sums, begin, count);
    if (!subtractsMean)
      return squares;
    return p.concatColumns(
        {squares, p.sliceColumns(sums, queries + keys + begin, count)});
  }

  Value scale(Value input, Value sums, Value weight, bool ofKeys) {
    int64_t size = *op.getHeadDim();
    if (allHeads)
      size *= ofKeys ? int64_t(*op.getKvHeads()) : int64_t(op.getHeads());
    return p.create<ScaleNormOp>(
        input.getType(), input, sumsOfPart(sums, ofKeys), weight,
        /*bias=*/Value(), op.getEpsilonAttr(), i64(size), sumsAttr());
  }

  OpPartition &p;
  AttentionOp op;
  OpBuilder &builder;
  int64_t queries, keys; ///< heads on this device
  bool allHeads, subtractsMean;
};

} // namespace

/// The keys of a device's kv heads, with zeros for those that a device before
/// it has, too.
static Value ownKeys(OpPartition &p, Value keys, const Packing *held) {
  if (!held->isReplicated())
    return keys;
  int64_t ranks = held->getNumRanks(), count = held->getLocalSize();
  SmallVector<int32_t> places;
  llvm::SmallSet<int64_t, 16> seen;
  for (int64_t rank = 0; rank < ranks; ++rank)
    for (auto [place, head] :
         llvm::enumerate(lowered::listEntries(held->getRuns(rank)))) {
      bool isFirst = head >= 0 && seen.insert(head).second;
      places.push_back(isFirst ? int32_t(place) : -1);
    }
  OpBuilder &builder = p.getBuilder();
  Type i32 = builder.getI32Type();
  Value all = p.create<arith::ConstantOp>(DenseElementsAttr::get(
      RankedTensorType::get({ranks, count}, i32), ArrayRef<int32_t>(places)));
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  Value chosen = p.create<tensor::ExtractSliceOp>(
      RankedTensorType::get({count}, i32), all,
      SmallVector<OpFoldResult>{p.getGrid().coordinates.at(Axis::Tp), zero},
      SmallVector<OpFoldResult>{one, builder.getIndexAttr(count)},
      SmallVector<OpFoldResult>{one, one});
  return p.create<SelectBlocksOp>(keys.getType(), keys, chosen);
}

Value llm::normOwnHeads(OpPartition &p, AttentionOp op, Value input) {
  int64_t heads = op.getHeads(), kvHeads = *op.getKvHeads();
  int64_t size = *op.getHeadDim(), ranks = p.ranks();
  Packings &packings = p.getPackings();
  const Packing *held = packings.kvHeads(heads, kvHeads, 1, ranks);
  HeadNorms norms(p, op, packings.heads(heads, 1, ranks)->getLocalSize(),
                  held->getLocalSize());
  Value qWeight =
      p.sliceVector(op.getQNorm(), packings.heads(heads, size, ranks));
  Value kWeight = p.sliceVector(op.getKNorm(),
                                packings.kvHeads(heads, kvHeads, size, ranks));
  if (!qWeight || !kWeight)
    return {};
  int64_t queryWidth = norms.queries * size, keyWidth = norms.keys * size;
  Value queries = p.sliceColumns(input, 0, queryWidth);
  Value keys = p.sliceColumns(input, queryWidth, keyWidth);
  Value values = p.sliceColumns(input, queryWidth + keyWidth, keyWidth);
  Value sums;
  if (norms.allHeads) {
    sums = p.concatColumns(
        {norms.sumsOf(queries, 1), norms.sumsOf(ownKeys(p, keys, held), 1)});
    sums = p.allReduce(sums, p.own("norm"));
  } else {
    sums = norms.sumsOf(p.sliceColumns(input, 0, queryWidth + keyWidth),
                        norms.queries + norms.keys);
  }
  return p.concatColumns({norms.scale(queries, sums, qWeight, false),
                          norms.scale(keys, sums, kWeight, true), values});
}

Value llm::normCutHeads(OpPartition &p, AttentionOp op, Value heads) {
  HeadNorms norms(p, op, op.getHeads(), *op.getKvHeads());
  int64_t size = *op.getHeadDim(), localDim = size / p.ranks();
  // Weights are of a head, or of all.
  auto weightOf = [&](Value weight, int64_t count) {
    int64_t each = op.normsHeadsApart() ? count : 1;
    return p.sliceVector(weight, p.getPackings().pairs(each, size, p.ranks()));
  };
  Value qWeight = weightOf(op.getQNorm(), norms.queries);
  Value kWeight = weightOf(op.getKNorm(), norms.keys);
  if (op.getQNorm() && (!qWeight || !kWeight))
    return {};
  Value queries = p.sliceColumns(heads, 0, norms.queries * localDim);
  Value keys =
      p.sliceColumns(heads, norms.queries * localDim, norms.keys * localDim);
  Value sums =
      norms.allHeads
          ? p.concatColumns({norms.sumsOf(queries, 1), norms.sumsOf(keys, 1)})
          : norms.sumsOf(heads, norms.queries + norms.keys);
  sums = p.allReduce(sums, p.own("norm"));
  return p.concatColumns({norms.scale(queries, sums, qWeight, false),
                          norms.scale(keys, sums, kWeight, true)});
}
