//===- VerifyAttention.cpp - Verifiers of attention and its pieces --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// The cache of keys or of values, `[?, ?, kv_heads, head_dim]`, or of latents,
/// `[?, ?, width]`: its sizes after sequence and position are `wanted`.
static LogicalResult expectCache(Operation *op, Value cache,
                                 ArrayRef<int64_t> wanted) {
  auto type = cast<ShapedType>(cache.getType());
  if (type.getShape().drop_front(2) == wanted)
    return success();
  InFlightDiagnostic error = op->emitOpError();
  error << "a cache must be [sequences, positions";
  for (int64_t size : wanted)
    error << ", " << size;
  return error << "], found " << type;
}

/// The attributes and operands that only one kind of attention has.
namespace {
struct Member {
  StringRef name;
  bool present;
};
} // namespace

static LogicalResult expectMembers(Operation *op, StringRef kind,
                                   ArrayRef<Member> needed,
                                   ArrayRef<Member> foreign) {
  for (const Member &member : needed)
    if (!member.present)
      return op->emitOpError()
             << "of kind " << kind << " needs '" << member.name << "'";
  for (const Member &member : foreign)
    if (member.present)
      return op->emitOpError()
             << "of kind " << kind << " has no '" << member.name << "'";
  return success();
}

/// Sizes of gqa, constraints (C1), (C4) and (C7).
static LogicalResult verifyGqa(AttentionOp attention) {
  Operation *op = attention;
  // (C1)
  if (failed(expectMembers(
          op, "gqa",
          {{"kv_heads", attention.getKvHeads().has_value()},
           {"head_dim", attention.getHeadDim().has_value()}},
          {{"latent", bool(attention.getLatent())},
           {"kv_norm", bool(attention.getKvNorm())},
           {"kv_up", bool(attention.getKvUp())},
           {"kv_norm_epsilon", attention.getKvNormEpsilon().has_value()},
           {"nope_dim", attention.getNopeDim().has_value()},
           {"rope_dim", attention.getRopeDim().has_value()},
           {"value_dim", attention.getValueDim().has_value()},
           {"rank", attention.getRank().has_value()},
           {"indexer", attention.getIndexer().has_value()}})))
    return failure();
  int64_t heads = attention.getHeads();
  int64_t kvHeads = *attention.getKvHeads();
  int64_t headDim = *attention.getHeadDim();
  int64_t queries = attention.getGated() ? times(2, heads) : heads;
  if (failed(expectAllPositive(
          op,
          {{"heads", heads}, {"kv_heads", kvHeads}, {"head_dim", headDim}})) ||
      failed(expectSize(op, "input", "columns",
                        times(plus(queries, times(2, kvHeads)), headDim),
                        attention.getGated()
                            ? "(2 * heads + 2 * kv_heads) * head_dim"
                            : "(heads + 2 * kv_heads) * head_dim",
                        columns(attention.getInput()))) ||
      failed(expectSize(op, "cache", "tensors", 2, "keys and values",
                        attention.getCaches().size())))
    return failure();
  for (Value cache : attention.getCaches())
    if (failed(expectCache(op, cache, {kvHeads, headDim})))
      return failure();
  if (failed(expectSize(op, "result", "columns", times(heads, headDim),
                        "heads * head_dim", columns(attention.getResult()))))
    return failure();
  // (C4)
  bool isEach = attention.getQkNorm().has_value();
  for (auto [name, norm, count, reason] :
       {std::tuple(StringRef("q_norm"), attention.getQNorm(), heads,
                   StringRef("heads * head_dim")),
        std::tuple(StringRef("k_norm"), attention.getKNorm(), kvHeads,
                   StringRef("kv_heads * head_dim"))})
    if (norm && failed(expectSize(op, name, "entries",
                                  isEach ? times(count, headDim) : headDim,
                                  isEach ? reason : StringRef("head_dim"),
                                  sizeOf(norm, 0))))
      return failure();
  // (C7)
  if (attention.getRope() && attention.getRope()->getDim() > headDim)
    return op->emitOpError()
           << "'rope' must turn at most head_dim, " << headDim
           << ", features, found " << attention.getRope()->getDim();
  return success();
}

/// Constraint (C13).
static LogicalResult verifyIndexer(AttentionOp attention) {
  Operation *op = attention;
  std::optional<IndexerAttr> indexer = attention.getIndexer();
  for (auto [name, operand] :
       {std::pair(StringRef("index_queries"), attention.getIndexQueries()),
        std::pair(StringRef("index_norm"), attention.getIndexNorm()),
        std::pair(StringRef("index_norm_bias"), attention.getIndexNormBias())})
    if (bool(operand) != indexer.has_value())
      return op->emitOpError() << (indexer ? "with an 'indexer' needs '"
                                           : "without an 'indexer' has no '")
                               << name << "'";
  if (!indexer)
    return success();
  int64_t dim = indexer->getDim();
  if (attention.getWindow())
    return op->emitOpError("with an 'indexer' has no 'window'");
  if (attention.getRope() && attention.getRope()->getDim() > dim)
    return op->emitOpError() << "'rope' must turn at most the " << dim
                             << " features of the 'indexer', found "
                             << attention.getRope()->getDim();
  if (failed(expectSize(
          op, "index_queries", "columns", times(indexer->getHeads(), dim),
          "heads * dim of the indexer", columns(attention.getIndexQueries()))))
    return failure();
  for (auto [name, vector] :
       {std::pair(StringRef("index_norm"), attention.getIndexNorm()),
        std::pair(StringRef("index_norm_bias"), attention.getIndexNormBias())})
    if (failed(expectSize(op, name, "entries", dim, "dim of the indexer",
                          sizeOf(vector, 0))))
      return failure();
  return success();
}

/// Sizes of mla, constraints (C2), (C4), (C7) and (C12).
static LogicalResult verifyMla(AttentionOp attention) {
  Operation *op = attention;
  // (C2), (C4), (C12)
  if (failed(expectMembers(
          op, "mla",
          {{"latent", bool(attention.getLatent())},
           {"kv_norm", bool(attention.getKvNorm())},
           {"kv_up", bool(attention.getKvUp())},
           {"kv_norm_epsilon", attention.getKvNormEpsilon().has_value()},
           {"nope_dim", attention.getNopeDim().has_value()},
           {"rope_dim", attention.getRopeDim().has_value()},
           {"value_dim", attention.getValueDim().has_value()},
           {"rank", attention.getRank().has_value()}},
          {{"gated", attention.getGated()},
           {"q_norm", bool(attention.getQNorm())},
           {"k_norm", bool(attention.getKNorm())},
           {"epsilon", attention.getEpsilon().has_value()},
           {"qk_norm", attention.getQkNorm().has_value()},
           {"temperature", attention.getTemperature().has_value()},
           {"kv_heads", attention.getKvHeads().has_value()},
           {"head_dim", attention.getHeadDim().has_value()}})))
    return failure();
  // (C2)
  int64_t heads = attention.getHeads();
  int64_t nopeDim = *attention.getNopeDim();
  int64_t ropeDim = *attention.getRopeDim();
  int64_t valueDim = *attention.getValueDim();
  int64_t rank = *attention.getRank();
  bool indexes = attention.getIndexer().has_value();
  int64_t indexDim = attention.indexDim();
  int64_t indexed =
      indexes ? plus(indexDim, attention.getIndexer()->getHeads()) : 0;
  if (failed(expectAllPositive(op, {{"heads", heads},
                                    {"nope_dim", nopeDim},
                                    {"rope_dim", ropeDim},
                                    {"value_dim", valueDim},
                                    {"rank", rank}})) ||
      failed(expectSize(
          op, "input", "columns", times(heads, plus(nopeDim, ropeDim)),
          "heads * (nope_dim + rope_dim)", columns(attention.getInput()))) ||
      failed(expectSize(
          op, "latent", "columns", plus(plus(rank, ropeDim), indexed),
          indexes ? "rank + rope_dim, and dim + heads of the indexer"
                  : "rank + rope_dim",
          columns(attention.getLatent()))) ||
      failed(expectSize(op, "cache", "tensors", 1, "the latents",
                        attention.getCaches().size())) ||
      failed(expectCache(op, attention.getCaches()[0],
                         plus(plus(rank, ropeDim), indexDim))) ||
      failed(expectSize(op, "kv_norm", "entries", rank, "rank",
                        sizeOf(attention.getKvNorm(), 0))) ||
      failed(expectPositive(op, "kv_norm_epsilon",
                            *attention.getKvNormEpsilon())) ||
      failed(expectSize(op, "kv_up", "rows", rank, "rank",
                        sizeOf(attention.getKvUp(), 0))) ||
      failed(expectSize(
          op, "kv_up", "columns", times(heads, plus(nopeDim, valueDim)),
          "heads * (nope_dim + value_dim)", columns(attention.getKvUp()))) ||
      failed(expectSize(op, "result", "columns", times(heads, valueDim),
                        "heads * value_dim", columns(attention.getResult()))))
    return failure();
  // (C7)
  if (attention.getRope() && attention.getRope()->getDim() != ropeDim)
    return op->emitOpError()
           << "'rope' must turn rope_dim, " << ropeDim << ", features, found "
           << attention.getRope()->getDim();
  return success();
}

bool AttentionOp::turnsWholeHalves() {
  std::optional<RopeAttr> rope = getRope();
  return !rope || (rope->getStyle() == RopeStyle::Half &&
                   rope->getDim() == int64_t(*getHeadDim()));
}

/// Limits of dim 1 that do not depend on degrees.
static LogicalResult verifyFeatureSharding(AttentionOp attention) {
  std::optional<Dim> dim = attention.getShardingDim();
  if (!dim || *dim != Dim::One)
    return success();
  if (attention.getKind() == AttentionKind::Mla)
    return attention.emitOpError(
        "sharding dim 1 is illegal for mla, whose latent all heads share");
  if (attention.getGated())
    return attention.emitOpError(
        "sharding dim 1 is illegal if gates are interleaved with queries");
  if (attention.getSequence() != 1)
    return attention.emitOpError()
           << "sharding dim 1 is illegal in prefill: 'sequence' must be 1, "
              "found "
           << attention.getSequence();
  if (*attention.getHeadDim() % 2 != 0)
    return attention.emitOpError()
           << "sharding dim 1 cuts rotary pairs, so 'head_dim' must be even, "
              "found "
           << *attention.getHeadDim();
  if (!attention.turnsWholeHalves())
    return attention.emitOpError()
           << "sharding dim 1 cuts rotary pairs of whole heads in style half, "
              "found "
           << attention.getRopeAttr();
  return success();
}

LogicalResult AttentionOp::verify() {
  Operation *op = getOperation();
  // (C6)
  if (failed(expectAllPositive(
          op, {{"sequence", getSequence()}, {"group", getGroup()}})) ||
      (getWindow() && failed(expectPositive(op, "window", *getWindow()))))
    return failure();
  // (C4)
  if ((getQNorm() != nullptr) != (getKNorm() != nullptr) ||
      (getQNorm() && !getEpsilon()))
    return emitOpError("'q_norm', 'k_norm' and 'epsilon' come together");
  if (getQkNorm() && !getQNorm())
    return emitOpError("of a 'qk_norm' needs 'q_norm' and 'k_norm'");
  if (getEpsilon() && failed(expectPositive(op, "epsilon", *getEpsilon())))
    return failure();
  bool mla = getKind() == AttentionKind::Mla;
  if (failed(mla ? verifyMla(*this) : verifyGqa(*this)))
    return failure();
  // (C13)
  if (failed(verifyIndexer(*this)))
    return failure();
  // (C11)
  if (getSoftCap() && failed(expectPositive(op, "soft_cap", *getSoftCap())))
    return failure();
  // (C3)
  if (!llvm::equal(getCaches().getTypes(), getNewCaches().getTypes()))
    return emitOpError() << "must return its caches with their types, "
                         << getCaches().getTypes() << ", found "
                         << getNewCaches().getTypes();
  // (C5)
  if (getSinks() && failed(expectSize(op, "sinks", "entries", getHeads(),
                                      "one a head", sizeOf(getSinks(), 0))))
    return failure();
  // (C8)
  if (failed(verifyFeatureSharding(*this)))
    return failure();
  // (C9)
  llvm::SmallPtrSet<Value, 2> caches;
  for (auto [index, cache] : llvm::enumerate(getCaches()))
    if (!caches.insert(cache).second)
      return emitOpError("must have a cache for each of keys and values, found "
                         "one twice: cache #")
             << index;
  // (C10)
  return expectPositions(op, getPositions());
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Constraints (C2) and (C4), which both halves share.
template <typename HalfOp> static LogicalResult verifyHalf(HalfOp half) {
  Operation *op = half;
  // (C4)
  if (failed(expectAllPositive(op, {{"heads", half.getHeads()},
                                    {"kv_heads", half.getKvHeads()},
                                    {"head_dim", half.getHeadDim()},
                                    {"group", half.getGroup()}})))
    return failure();
  // (C2)
  if (failed(expectCache(
          op, half.getCache(),
          {int64_t(half.getKvHeads()), int64_t(half.getHeadDim())})))
    return failure();
  return expectType(op, "new_cache", half.getCache().getType(), "the cache",
                    half.getNewCache().getType());
}

LogicalResult AttentionScoresOp::verify() {
  Operation *op = getOperation();
  if (failed(verifyHalf(*this)))
    return failure();
  // (C4)
  if (getWindow() && failed(expectPositive(op, "window", *getWindow())))
    return failure();
  // (C1)
  if (getHeadDim() % 2 != 0)
    return emitOpError() << "'head_dim' must be even, found " << getHeadDim();
  if (failed(expectSize(op, "input", "columns",
                        times(plus(getHeads(), getKvHeads()), getHeadDim()),
                        "(heads + kv_heads) * head_dim", columns(getInput()))))
    return failure();
  // (C3)
  return expectSize(op, "scores", "planes", getHeads(), "one a query head",
                    sizeOf(getScores(), 1));
}

/// (C6): what the scores are of, where an op of this block gave them. Those of
/// the whole cache, which programs of before reduce, have a place for each
/// window.
static LogicalResult verifyScores(AttentionValuesOp op) {
  Value scores = op.getScores();
  if (auto sum = scores.getDefiningOp<shard::AllReduceOp>())
    scores = sum.getInput();
  auto made = scores.getDefiningOp<AttentionScoresOp>();
  if (!made || (!made.getWindowAttr() && !made.getChunked()) ||
      (made.getWindowAttr() == op.getWindowAttr() &&
       made.getChunked() == op.getChunked()))
    return success();
  InFlightDiagnostic error = op.emitOpError(
      "must have the 'window' and 'chunked' of what made the scores");
  error.attachNote(made.getLoc()) << "scores from here";
  return error;
}

LogicalResult AttentionValuesOp::verify() {
  Operation *op = getOperation();
  if (failed(verifyHalf(*this)))
    return failure();
  // (C4)
  if ((getWindow() && failed(expectPositive(op, "window", *getWindow()))) ||
      (getSoftCap() && failed(expectPositive(op, "soft_cap", *getSoftCap()))))
    return failure();
  // (C1)
  if (failed(expectSize(op, "input", "columns",
                        times(getKvHeads(), getHeadDim()),
                        "kv_heads * head_dim", columns(getInput()))) ||
      failed(expectSize(op, "result", "columns",
                        times(getHeads(), getHeadDim()), "heads * head_dim",
                        columns(getResult()))))
    return failure();
  // (C5)
  if (failed(expectSize(op, "scores", "planes", getHeads(), "one a query head",
                        sizeOf(getScores(), 1))) ||
      failed(verifyScores(*this)))
    return failure();
  // (C3)
  if (!getSinks())
    return success();
  return expectSize(op, "sinks", "entries", getHeads(), "one a head",
                    sizeOf(getSinks(), 0));
}
