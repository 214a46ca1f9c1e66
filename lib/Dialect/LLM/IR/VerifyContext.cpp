//===- VerifyContext.cpp - Verifiers of attention over shared positions ---===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// Sizes behind sequences and positions.
static LogicalResult expectCacheSizes(Operation *op, ValueRange caches,
                                      ArrayRef<int64_t> wanted,
                                      size_t howMany) {
  if (failed(expectSize(op, "cache", "tensors", int64_t(howMany),
                        howMany == 1 ? "the latents" : "keys and values",
                        int64_t(caches.size()))))
    return failure();
  for (Value cache : caches) {
    auto type = cast<ShapedType>(cache.getType());
    if (type.getShape().drop_front(2) == wanted)
      continue;
    InFlightDiagnostic error = op->emitOpError();
    error << "a cache must be [sequences, positions";
    for (int64_t size : wanted)
      error << ", " << size;
    return error << "], found " << type;
  }
  return success();
}

static LogicalResult verifyHeads(PartialAttentionOp attention) {
  Operation *op = attention;
  int64_t heads = attention.getHeads(), kv = attention.getKvHeads();
  int64_t size = attention.getHeadDim();
  if (failed(expectSize(op, "input", "columns",
                        times(plus(heads, times(2, kv)), size),
                        "(heads + 2 * kv_heads) * head_dim",
                        columns(attention.getInput()))) ||
      failed(expectCacheSizes(op, attention.getCaches(), {kv, size}, 2)))
    return failure();
  return expectSize(op, "result", "columns", times(heads, size),
                    "heads * head_dim", columns(attention.getResult()));
}

static LogicalResult verifyLatents(PartialAttentionOp attention) {
  Operation *op = attention;
  int64_t heads = attention.getHeads(), rank = attention.getRank();
  int64_t features = plus(rank, attention.getRopeDim());
  if (!attention.getKvNorm() || !attention.getKvNormEpsilon())
    return attention.emitOpError(
        "with a latent needs 'kv_norm' and 'kv_norm_epsilon'");
  if (failed(expectPositive(op, "kv_norm_epsilon",
                            *attention.getKvNormEpsilon())) ||
      failed(expectSize(op, "input", "columns", times(heads, features),
                        "heads * (rank + rope_dim)",
                        columns(attention.getInput()))) ||
      failed(expectSize(op, "latent", "columns", features, "rank + rope_dim",
                        columns(attention.getLatent()))) ||
      failed(expectSize(op, "kv_norm", "entries", rank, "rank",
                        sizeOf(attention.getKvNorm(), 0))) ||
      failed(expectCacheSizes(op, attention.getCaches(), features, 1)))
    return failure();
  return expectSize(op, "result", "columns", times(heads, rank), "heads * rank",
                    columns(attention.getResult()));
}

LogicalResult PartialAttentionOp::verify() {
  Operation *op = getOperation();
  // (C5)
  for (auto [name, value] : {std::pair(StringRef("stride"), getStride()),
                             {"heads", getHeads()},
                             {"kv_heads", getKvHeads()},
                             {"head_dim", getHeadDim()},
                             {"group", getGroup()},
                             {"rope_dim", getRopeDim()},
                             {"rank", getRank()}})
    if (failed(expectPositive(op, name, int64_t(value))))
      return failure();
  if ((getWindow() && failed(expectPositive(op, "window", *getWindow()))) ||
      (getSoftCap() && failed(expectPositive(op, "soft_cap", *getSoftCap()))))
    return failure();
  if ((getQNorm() != nullptr) != (getKNorm() != nullptr) ||
      (getQNorm() && !getEpsilon()))
    return emitOpError("'q_norm', 'k_norm' and 'epsilon' come together");
  for (auto [name, norm] : {std::pair(StringRef("q_norm"), getQNorm()),
                            std::pair(StringRef("k_norm"), getKNorm())})
    if (norm && failed(expectSize(op, name, "entries", getHeadDim(), "head_dim",
                                  sizeOf(norm, 0))))
      return failure();
  // (C1), (C2)
  if (failed(getLatent() ? verifyLatents(*this) : verifyHeads(*this)))
    return failure();
  // (C3)
  if (!llvm::equal(getCaches().getTypes(), getNewCaches().getTypes()))
    return emitOpError() << "must return its caches with their types, "
                         << getCaches().getTypes() << ", found "
                         << getNewCaches().getTypes();
  // (C4)
  if (failed(expectSize(op, "sums", "columns", getHeads(), "one a head",
                        columns(getSums()))))
    return failure();
  if (!getSinks())
    return success();
  return expectSize(op, "sinks", "entries", getHeads(), "one a head",
                    sizeOf(getSinks(), 0));
}

LogicalResult AttentionMergeOp::verify() {
  Operation *op = getOperation();
  // (C1)
  int64_t values = columns(getValues()), sums = columns(getSums());
  if (failed(expectDivides(op, "parts", getParts(), "the columns of 'sums'",
                           sums)) ||
      failed(expectDivides(op, "parts", getParts(), "the columns of 'values'",
                           values)))
    return failure();
  // (C2)
  int64_t width = values / int64_t(getParts());
  if (failed(expectDivides(op, "sums", sums / int64_t(getParts()),
                           "the columns of a part", width)))
    return failure();
  // (C3)
  return expectSize(op, "result", "columns", width, "those of a part",
                    columns(getResult()));
}

LogicalResult LatentQueriesOp::verify() {
  Operation *op = getOperation();
  // (C3)
  for (auto [name, value] : {std::pair(StringRef("heads"), getHeads()),
                             {"nope_dim", getNopeDim()},
                             {"rope_dim", getRopeDim()}})
    if (failed(expectPositive(op, name, int64_t(value))))
      return failure();
  // (C2)
  if (failed(expectDivides(op, "heads", getHeads(), "the columns of 'kv_up'",
                           columns(getKvUp()))))
    return failure();
  if (columns(getKvUp()) / int64_t(getHeads()) <= int64_t(getNopeDim()))
    return emitOpError() << "'kv_up' must have more than nope_dim, "
                         << getNopeDim() << ", columns a head, found "
                         << columns(getKvUp()) / int64_t(getHeads());
  // (C1)
  if (failed(expectSize(op, "input", "columns",
                        times(getHeads(), plus(getNopeDim(), getRopeDim())),
                        "heads * (nope_dim + rope_dim)", columns(getInput()))))
    return failure();
  return expectSize(op, "result", "columns",
                    times(getHeads(), plus(sizeOf(getKvUp(), 0), getRopeDim())),
                    "heads * (rank + rope_dim)", columns(getResult()));
}

LogicalResult LatentValuesOp::verify() {
  Operation *op = getOperation();
  // (C3)
  if (failed(expectPositive(op, "heads", int64_t(getHeads()))) ||
      failed(expectPositive(op, "nope_dim", int64_t(getNopeDim()))))
    return failure();
  // (C2)
  if (failed(expectDivides(op, "heads", getHeads(), "the columns of 'kv_up'",
                           columns(getKvUp()))))
    return failure();
  int64_t value = columns(getKvUp()) / int64_t(getHeads()) - getNopeDim();
  if (value < 1)
    return emitOpError() << "'kv_up' must have more than nope_dim, "
                         << getNopeDim() << ", columns a head, found "
                         << columns(getKvUp()) / int64_t(getHeads());
  // (C1)
  if (failed(expectSize(op, "input", "columns",
                        times(getHeads(), sizeOf(getKvUp(), 0)), "heads * rank",
                        columns(getInput()))))
    return failure();
  return expectSize(op, "result", "columns", times(getHeads(), value),
                    "heads * value_dim", columns(getResult()));
}

LogicalResult WritePositionsOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectType(op, "values", getCache().getType(), "the cache",
                        getValues().getType())) ||
      failed(expectType(op, "result", getCache().getType(), "the cache",
                        getResult().getType())))
    return failure();
  // (C2)
  if (failed(expectPositive(op, "sequence", int64_t(getSequence()))))
    return failure();
  return expectPositive(op, "stride", int64_t(getStride()));
}

LogicalResult WriteCacheOp::verify() {
  Operation *op = getOperation();
  // (C4)
  int64_t kv = getKvHeads(), size = getHeadDim();
  if (failed(expectAllPositive(
          op,
          {{"sequence", getSequence()}, {"kv_heads", kv}, {"head_dim", size}})))
    return failure();
  // (C3)
  if (!llvm::equal(getCaches().getTypes(), getNewCaches().getTypes()))
    return emitOpError() << "must return its caches with their types, "
                         << getCaches().getTypes() << ", found "
                         << getNewCaches().getTypes();
  // (C1)
  if (!getRank()) {
    if (failed(expectSize(op, "input", "columns", times(times(2, kv), size),
                          "2 * kv_heads * head_dim", columns(getInput()))))
      return failure();
    return expectCacheSizes(op, getCaches(), {kv, size}, 2);
  }
  // (C2)
  if (!getRopeDim() || !getKvNorm() || !getKvNormEpsilon())
    return emitOpError(
        "with a 'rank' needs 'rope_dim', 'kv_norm' and 'kv_norm_epsilon'");
  int64_t rank = *getRank(), features = plus(rank, *getRopeDim());
  if (failed(expectAllPositive(
          op, {{"rank", rank}, {"rope_dim", *getRopeDim()}})) ||
      failed(expectPositive(op, "kv_norm_epsilon", *getKvNormEpsilon())) ||
      failed(expectSize(op, "input", "columns", features, "rank + rope_dim",
                        columns(getInput()))) ||
      failed(expectSize(op, "kv_norm", "entries", rank, "rank",
                        sizeOf(getKvNorm(), 0))))
    return failure();
  return expectCacheSizes(op, getCaches(), features, 1);
}

/// Rows that another order has.
static LogicalResult verifyOrder(Operation *op, Value from, Value to,
                                 int64_t sequence, int64_t ranks) {
  // (C1)
  auto wanted = cast<RankedTensorType>(from.getType());
  auto found = cast<RankedTensorType>(to.getType());
  if (wanted.getElementType() != found.getElementType() ||
      wanted.getShape().drop_front() != found.getShape().drop_front())
    return op->emitOpError() << "'result' must be " << wanted
                             << " but for the number of rows, found " << found;
  // (C2)
  return expectAllPositive(op, {{"sequence", sequence}, {"ranks", ranks}});
}

LogicalResult DealRowsOp::verify() {
  return verifyOrder(*this, getInput(), getResult(), getSequence(), getRanks());
}

LogicalResult CollectRowsOp::verify() {
  return verifyOrder(*this, getInput(), getResult(), getSequence(), getRanks());
}

LogicalResult SelectBlocksOp::verify() {
  Operation *op = getOperation();
  // (C2)
  auto from = cast<ShapedType>(getInput().getType()).getShape();
  auto to = cast<ShapedType>(getResult().getType()).getShape();
  if (from.drop_back() != to.drop_back())
    return emitOpError() << "'result' must have the sizes of the input but for "
                            "the last, those of "
                         << getInput().getType() << ", found "
                         << getResult().getType();
  // (C1)
  int64_t places = sizeOf(getPlaces(), 0);
  if (failed(expectDivides(op, "places", places, "the columns of the result",
                           to.back())))
    return failure();
  return expectDivides(op, "a block", to.back() / places,
                       "the columns of the input", from.back());
}
