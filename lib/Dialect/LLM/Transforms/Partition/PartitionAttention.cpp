//===- PartitionAttention.cpp - Attention of one device -===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"
#include "shardopt/Model/Heads.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

Value llm::positionsIn(OpPartition &p, Value positions, Layout layout) {
  Value complete = p.getPlain(positions);
  if (!complete || layout != Layout::T || p.ranks() == 1)
    return complete;
  return p.allSlice(p.padRows(complete, *p.getTokens(), -1), 0);
}

/// The caches, with their heads or features sliced as `packing` says along
/// `dim`.
static LogicalResult sliceCaches(OpPartition &p, AttentionOp op, Layout layout,
                                 int64_t dim, const Packing *packing,
                                 SmallVectorImpl<Value> &caches) {
  for (Value cache : op.getCaches()) {
    auto type = cast<RankedTensorType>(cache.getType());
    SmallVector<Cut> cuts(type.getRank());
    cuts.front() = p.overRows(layout);
    if (packing)
      cuts[dim] = Cut::over(packing);
    Value local = p.slice(cache, cuts);
    if (!local)
      return failure();
    caches.push_back(local);
  }
  return success();
}

/// Weights of the op that every device needs whole, or by its heads.
static LogicalResult assignWeights(OpPartition &p, AttentionOp op,
                                   AttentionOp local, bool cutsHeads) {
  int64_t heads = op.getHeads();
  auto whole = [&](Value weight, MutableOperandRange operand) {
    if (weight)
      operand.assign(p.sliceVector(weight, nullptr));
  };
  if (cutsHeads && op.normsHeadsApart()) {
    local.getQNormMutable().clear();
    local.getKNormMutable().clear();
    local.removeEpsilonAttr();
    local.removeQkNormAttr();
  } else {
    whole(op.getQNorm(), local.getQNormMutable());
    whole(op.getKNorm(), local.getKNormMutable());
  }
  whole(op.getKvNorm(), local.getKvNormMutable());
  whole(op.getIndexNorm(), local.getIndexNormMutable());
  whole(op.getIndexNormBias(), local.getIndexNormBiasMutable());
  if (op.getSinks())
    local.getSinksMutable().assign(p.sliceVector(
        op.getSinks(),
        cutsHeads ? p.getPackings().heads(heads, 1, p.ranks()) : nullptr));
  if (op.getKvUp()) {
    Cut cut;
    if (cutsHeads)
      cut = Cut::over(p.getPackings().heads(
          heads, columns(op.getKvUp()) / heads, p.ranks()));
    local.getKvUpMutable().assign(p.slice(op.getKvUp(), {Cut(), cut}));
  }
  return success(llvm::all_of(local->getOperands(),
                              [](Value value) { return value != nullptr; }));
}

/// Which kv head a query head reads depends on the rank where a rank's first
/// query head is not the first of its group, or groups are split unevenly.
static bool headMapVaries(int64_t localHeads, int64_t group) {
  return localHeads % group != 0 && group % localHeads != 0;
}

namespace {

/// The fused op on the heads, or on the rows, of a device.
struct WholeAttention {
  WholeAttention(OpPartition &p, AttentionOp op);
  /// Queries, latent, and the queries of an indexer.
  LogicalResult takeInputs();
  FailureOr<AttentionOp> write(ValueRange caches, Value positions);

  OpPartition &p;
  AttentionOp op;
  Layout layout;
  bool mla, cutsHeads;
  const Packing *input = nullptr, *output = nullptr, *cached = nullptr;
  Value queries, latent, indexQueries;
};

} // namespace

WholeAttention::WholeAttention(OpPartition &p, AttentionOp op)
    : p(p), op(op), layout(p.getRequired()),
      mla(op.getKind() == AttentionKind::Mla),
      cutsHeads(layout == Layout::H && p.ranks() > 1) {
  if (layout != Layout::H)
    return;
  Packings &packings = p.getPackings();
  int64_t heads = op.getHeads(), width = columns(op.getInput());
  input = mla ? packings.heads(heads, width / heads, p.ranks())
              : packings.qkvHeads(heads, *op.getKvHeads(), *op.getHeadDim(),
                                  p.ranks(), op.getGated());
  output = packings.heads(heads, columns(op.getResult()) / heads, p.ranks());
  if (!mla)
    cached = packings.kvHeads(heads, *op.getKvHeads(), 1, p.ranks());
}

LogicalResult WholeAttention::takeInputs() {
  queries = p.get(op.getInput(), layout, input);
  if (cutsHeads && op.normsHeadsApart())
    queries = normOwnHeads(p, op, queries);
  // Where the latents of all positions are gathered, those of own rows.
  if (op.getLatent())
    latent = p.get(op.getLatent(),
                   layout == Layout::T ? Layout::T : p.getRequired(1));
  if (op.getIndexQueries())
    indexQueries = p.get(op.getIndexQueries(), p.getRequired(2));
  return success(queries != nullptr);
}

FailureOr<AttentionOp> WholeAttention::write(ValueRange caches,
                                             Value positions) {
  Value offset;
  int64_t localHeads = cost::localHeads(op.getHeads(), p.ranks());
  if (cutsHeads && !mla && headMapVaries(localHeads, op.getGroup()))
    offset = p.getOffset(localHeads);

  AttentionOp local = p.clone(op);
  {
    // Slices of weights stand in front of their user.
    OpBuilder::InsertionGuard guard(p.getBuilder());
    p.getBuilder().setInsertionPoint(local);
    local.getInputMutable().assign(queries);
    if (latent)
      local.getLatentMutable().assign(latent);
    if (indexQueries)
      local.getIndexQueriesMutable().assign(indexQueries);
    local.getPositionsMutable().assign(positions);
    local.getCachesMutable().assign(caches);
    if (offset)
      local.getHeadOffsetMutable().assign(offset);
    if (failed(assignWeights(p, op, local, cutsHeads)))
      return failure();
  }
  if (cutsHeads) {
    local.setHeads(localHeads);
    if (!mla)
      local.setKvHeads(cached->getLocalSize());
    local.getResult().setType(
        withColumns(op.getResult(), output->getLocalSize()));
  }
  for (auto [result, cache] : llvm::zip_equal(local.getNewCaches(), caches))
    result.setType(cache.getType());
  return local;
}

FailureOr<AttentionOp> llm::attendByHeads(OpPartition &p, AttentionOp op,
                                          ValueRange caches, Value positions) {
  WholeAttention attention(p, op);
  if (failed(attention.takeInputs()))
    return failure();
  return attention.write(caches, positions);
}

/// Dims 0 and none.
static LogicalResult partitionWhole(OpPartition &p, AttentionOp op) {
  WholeAttention attention(p, op);
  if (failed(attention.takeInputs()))
    return failure();
  SmallVector<Value> caches;
  if (failed(sliceCaches(p, op, attention.layout, 2, attention.cached, caches)))
    return failure();
  Value positions = positionsIn(p, op.getPositions(), attention.layout);
  if (!positions)
    return failure();
  FailureOr<AttentionOp> local = attention.write(caches, positions);
  if (failed(local))
    return failure();
  p.defineResult(cast<OpResult>(op.getResult()), local->getResult(),
                 op.getInput(), attention.output);
  for (auto [global, result, cache] : llvm::zip_equal(
           op.getNewCaches(), local->getNewCaches(), op.getCaches()))
    p.defineCache(global, result, cache);
  return success();
}

/// Dim 1: the rotary pairs of every head are cut; partial scores are
/// all-reduced.
static LogicalResult partitionPairs(OpPartition &p, AttentionOp op) {
  OpBuilder &builder = p.getBuilder();
  int64_t heads = op.getHeads(), kvHeads = *op.getKvHeads();
  int64_t size = *op.getHeadDim(), localDim = size / p.ranks();
  Packings &packings = p.getPackings();
  Value input = p.get(op.getInput(), Layout::H,
                      packings.pairs(heads + 2 * kvHeads, size, p.ranks()));
  SmallVector<Value> caches;
  if (failed(sliceCaches(p, op, Layout::H, 3,
                         packings.pairs(1, size, p.ranks()), caches)))
    return failure();
  Value positions = p.getPlain(op.getPositions());
  if (!positions)
    return failure();
  int64_t scored = (heads + kvHeads) * localDim;
  Value queriesAndKeys = p.sliceColumns(input, 0, scored);
  Value values = p.sliceColumns(input, scored, kvHeads * localDim);
  if (op.getEpsilon()) {
    queriesAndKeys = normCutHeads(p, op, queriesAndKeys);
    if (!queriesAndKeys)
      return failure();
  }
  auto scoresType =
      RankedTensorType::get({ShapedType::kDynamic, heads, ShapedType::kDynamic},
                            builder.getF32Type());
  auto i64 = [&](int64_t value) { return builder.getI64IntegerAttr(value); };
  auto scores = p.create<AttentionScoresOp>(
      TypeRange{scoresType, caches[0].getType()}, queriesAndKeys, positions,
      caches[0], p.getOffset(localDim / 2), i64(heads), i64(kvHeads),
      i64(localDim), op.getGroupAttr(), op.getScaleAttr(),
      op.getTemperatureAttr(), op.getRopeAttr(), op.getWindowAttr(),
      op.getChunkedAttr());
  Value reduced = p.allReduce(scores.getScores(), p.own("scores"));
  Value sinks = p.sliceVector(op.getSinks(), nullptr);
  auto weighted = p.create<AttentionValuesOp>(
      TypeRange{withColumns(op.getResult(), heads * localDim),
                caches[1].getType()},
      reduced, values, positions, caches[1], sinks, i64(heads), i64(kvHeads),
      i64(localDim), op.getGroupAttr(), op.getSoftCapAttr(), op.getWindowAttr(),
      op.getChunkedAttr());
  p.defineResult(cast<OpResult>(op.getResult()), weighted.getResult(),
                 op.getInput(), packings.pairs(heads, size, p.ranks()));
  p.defineCache(op.getNewCaches()[0], scores.getNewCache(), op.getCaches()[0]);
  p.defineCache(op.getNewCaches()[1], weighted.getNewCache(),
                op.getCaches()[1]);
  return success();
}

LogicalResult llm::partition(AttentionOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getInput(), p.getTokens())))
    return failure();
  if (p.getSize(Axis::Cp) > 1)
    return partitionContext(p, op);
  if (op.getShardingDim() == Dim::One && p.ranks() > 1)
    return partitionPairs(p, op);
  return partitionWhole(p, op);
}
