//===- PartitionContext.cpp - Attention of devices that share positions ---===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp neighbours in tp share the positions of a sequence: the cache of a device
// holds every cp-th position of the kv heads that all of them read. In decode
// each attends to its positions with the queries of all, and their results are
// merged by heads. In prefill each attends by its own heads, as without cp, and
// the cache is cut afterwards; or to the gathered keys of all positions, with
// the queries of its own.
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"
#include "shardopt/Model/Heads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

namespace {

/// One attention op of a device.
class ContextAttention {
public:
  ContextAttention(OpPartition &p, AttentionOp op)
      : p(p), op(op), builder(p.getBuilder()), overCp(p.along(Axis::Cp)),
        tp(p.getSize(Axis::Tp)), cp(p.getSize(Axis::Cp)), heads(op.getHeads()),
        ownHeads(cost::localHeads(heads, tp)),
        isLatent(op.getKind() == AttentionKind::Mla) {
    if (!isLatent)
      group = cost::contextHeads(heads, *op.getKvHeads(), tp, cp);
  }

  LogicalResult write();

private:
  IntegerAttr i64(int64_t value) { return builder.getI64IntegerAttr(value); }
  /// Where this device's positions begin.
  Value getFirst() const { return p.getGrid().coordinates.at(Axis::Cp); }
  int64_t groupHeads() const { return cp * ownHeads; }

  LogicalResult sliceCaches();
  FailureOr<Value> decode();
  FailureOr<Value> prefill();
  FailureOr<Value> prefillPositions();

  Value gatherQueries();
  FailureOr<Value> latentQueries(Value kvUp);
  Value merge(Value values, Value sums, int64_t width);
  Value getGroupOffset();
  Value sliceSinks(const Packing *packing) {
    return p.sliceVector(op.getSinks(), packing);
  }
  FailureOr<Value> sliceKvUp();

  Value emptyCache(Value like, int64_t kvHeads);
  FailureOr<WriteCacheOp> writeAllKeys(Value rows);
  void keepOwn(ValueRange written);
  Value ownPositions(Value cache);
  Value exchangePositions(Value cache, const Charges &charges);

  /// The kv heads of the group, of blocks of `size` columns that hold those of
  /// each of its devices, one device after the other.
  Value selectKvHeads(Value input, int64_t size);

  OpPartition &p;
  AttentionOp op;
  OpBuilder &builder;
  const Emitter overCp;
  int64_t tp, cp, heads, ownHeads;
  bool isLatent;
  cost::ContextHeads group;
  SmallVector<Value> caches, newCaches;
  Value positions;
};

} // namespace

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

LogicalResult ContextAttention::sliceCaches() {
  for (Value cache : op.getCaches()) {
    auto type = cast<RankedTensorType>(cache.getType());
    SmallVector<Cut> cuts(type.getRank());
    cuts[0] = p.overRows(Layout::R);
    cuts[1].stride = Axis::Cp;
    if (!isLatent)
      cuts[2] = p.cutBy(
          p.getPackings().contextKvHeads(heads, *op.getKvHeads(), 1, tp, cp));
    Value local = p.slice(cache, cuts);
    if (!local)
      return failure();
    caches.push_back(local);
  }
  return success();
}

/// A cache of all positions, which nobody reads before it is written.
Value ContextAttention::emptyCache(Value like, int64_t kvHeads) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (!isLatent)
    shape[2] = kvHeads;
  Value prompts = p.create<tensor::DimOp>(like, 0);
  Value slots = p.create<tensor::DimOp>(like, 1);
  Value all = p.create<arith::MulIOp>(slots, p.getIndex(cp));
  return p.create<tensor::EmptyOp>(type.clone(shape), ValueRange{prompts, all});
}

/// Every cp-th position, from this device's first on.
Value ContextAttention::ownPositions(Value cache) {
  auto type = cast<RankedTensorType>(cache.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    sizes.push_back(
        ShapedType::isDynamic(size)
            ? OpFoldResult(p.create<tensor::DimOp>(cache, dim).getResult())
            : OpFoldResult(builder.getIndexAttr(size)));
  Value all = cast<Value>(sizes[1]);
  sizes[1] = p.create<arith::DivUIOp>(all, p.getIndex(cp)).getResult();
  offsets[1] = getFirst();
  strides[1] = builder.getIndexAttr(cp);
  return p.create<tensor::ExtractSliceOp>(type, cache, offsets, sizes, strides);
}

/// The group's kv heads at this device's positions, of own kv heads at all:
/// heads for positions.
Value ContextAttention::exchangePositions(Value cache, const Charges &charges) {
  auto type = cast<RankedTensorType>(cache.getType());
  int64_t size = type.getDimSize(3), width = type.getDimSize(2) * size;
  int64_t dynamic = ShapedType::kDynamic;
  Value prompts = p.create<tensor::DimOp>(cache, 0);
  Value all = p.create<tensor::DimOp>(cache, 1);
  Value slots = p.create<arith::DivUIOp>(all, p.getIndex(cp));
  auto wide = type.clone({dynamic, dynamic, width});
  Value rows = p.create<tensor::CollapseShapeOp>(
      wide, cache, SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  // Position slot * cp + owner.
  rows = p.create<tensor::ExpandShapeOp>(
      type.clone({dynamic, dynamic, cp, width}), rows,
      SmallVector<ReassociationIndices>{{0}, {1, 2}, {3}},
      SmallVector<OpFoldResult>{prompts, slots, builder.getIndexAttr(cp),
                                builder.getIndexAttr(width)});
  rows = overCp.allToAll(rows, 2, 2, charges);
  rows = p.create<tensor::CollapseShapeOp>(
      type.clone({dynamic, dynamic, cp * width}), rows,
      SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
  rows = selectKvHeads(rows, size);
  return p.create<tensor::ExpandShapeOp>(
      type.clone({dynamic, dynamic, group.kv, size}), rows,
      SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}},
      SmallVector<OpFoldResult>{prompts, slots, builder.getIndexAttr(group.kv),
                                builder.getIndexAttr(size)});
}

Value ContextAttention::selectKvHeads(Value input, int64_t size) {
  // places[g][u]: where in group g the u-th of its kv heads stands.
  Packings &packings = p.getPackings();
  int64_t kvHeads = *op.getKvHeads();
  const Packing *own = packings.kvHeads(heads, kvHeads, 1, tp);
  const Packing *wanted = packings.contextKvHeads(heads, kvHeads, 1, tp, cp);
  SmallVector<int32_t> places;
  for (int64_t first = 0; first < tp; first += cp) {
    std::vector<int64_t> held;
    for (int64_t rank = first; rank < first + cp; ++rank)
      llvm::append_range(held, lowered::listEntries(own->getRuns(rank)));
    for (int64_t head : lowered::listEntries(wanted->getRuns(first))) {
      auto found = llvm::find(held, head);
      places.push_back(
          head < 0 || found == held.end() ? -1 : int32_t(found - held.begin()));
    }
  }
  int64_t groups = tp / cp;
  auto table = RankedTensorType::get({groups, group.kv}, builder.getI32Type());
  Value all = p.create<arith::ConstantOp>(
      DenseElementsAttr::get(table, ArrayRef<int32_t>(places)));
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  OpFoldResult row = zero;
  if (groups > 1)
    row = p.create<arith::DivUIOp>(p.getGrid().coordinates.at(Axis::Tp),
                                   p.getIndex(cp))
              .getResult();
  Value chosen = p.create<tensor::ExtractSliceOp>(
      RankedTensorType::get({group.kv}, builder.getI32Type()), all,
      SmallVector<OpFoldResult>{row, zero},
      SmallVector<OpFoldResult>{one, builder.getIndexAttr(group.kv)},
      SmallVector<OpFoldResult>{one, one});
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = group.kv * size;
  return p.create<SelectBlocksOp>(type.clone(shape), input, chosen);
}

//===----------------------------------------------------------------------===//
// Decode
//===----------------------------------------------------------------------===//

/// Queries, keys and values of the group's heads, in their order.
Value ContextAttention::gatherQueries() {
  Packings &packings = p.getPackings();
  int64_t kvHeads = *op.getKvHeads(), size = *op.getHeadDim();
  bool isWhole = p.getPlaced(op.getInput()).copies.front().layout == Layout::R;
  if (isWhole && !op.normsHeadsApart())
    return p.get(op.getInput(), Layout::H,
                 packings.contextQkvHeads(heads, kvHeads, size, tp, cp));
  Value own = p.get(op.getInput(), Layout::H,
                    packings.qkvHeads(heads, kvHeads, size, tp));
  if (op.normsHeadsApart())
    own = normOwnHeads(p, op, own);
  if (!own)
    return {};
  int64_t queries = ownHeads * size, width = columns(own);
  Charges charges = p.own("queries");
  if (group.isSame) {
    Value all = overCp.allGather(p.sliceColumns(own, 0, queries), 1, charges);
    return p.concatColumns(
        {all, p.sliceColumns(own, queries, width - queries)});
  }
  Value all = overCp.allGather(own, 1, charges);
  auto part = [&](int64_t begin, int64_t size) {
    return p.selectColumns(all, {{begin, size, 1, cp, width}});
  };
  int64_t half = (width - queries) / 2;
  Value keys = selectKvHeads(part(queries, half), size);
  Value values = selectKvHeads(part(queries + half, half), size);
  return p.concatColumns({part(0, queries), keys, values});
}

/// The first query head of the group.
Value ContextAttention::getGroupOffset() {
  if (tp == cp)
    return p.getIndex(0);
  Value number = p.create<arith::DivUIOp>(p.getGrid().coordinates.at(Axis::Tp),
                                          p.getIndex(cp));
  return p.create<arith::MulIOp>(number, p.getIndex(groupHeads()));
}

/// By heads: what each device of the group made of its positions for this
/// device's heads.
Value ContextAttention::merge(Value values, Value sums, int64_t width) {
  Charges charges = p.own("merge");
  double rowBytes =
      double(width) *
      cast<RankedTensorType>(values.getType()).getElementTypeBitWidth() / 8;
  double share = rowBytes / (rowBytes + 4);
  values = overCp.allToAll(values, 1, 1, scaled(charges, share));
  sums = overCp.allToAll(sums, 1, 1, scaled(charges, 1 - share));
  auto type = cast<RankedTensorType>(values.getType());
  return p.create<AttentionMergeOp>(
      type.clone({type.getDimSize(0), ownHeads * width}), values, sums,
      i64(cp));
}

FailureOr<Value> ContextAttention::sliceKvUp() {
  const Packing *own =
      p.getPackings().heads(heads, columns(op.getKvUp()) / heads, tp);
  Value weight = p.slice(op.getKvUp(), {Cut(), p.cutBy(own)});
  if (!weight)
    return failure();
  return weight;
}

/// Own queries, absorbed, and gathered over the group.
FailureOr<Value> ContextAttention::latentQueries(Value kvUp) {
  int64_t width = columns(op.getInput());
  Value own = p.get(op.getInput(), Layout::H,
                    p.getPackings().heads(heads, width / heads, tp));
  int64_t features = *op.getRank() + *op.getRopeDim();
  auto type = cast<RankedTensorType>(own.getType());
  own = p.create<LatentQueriesOp>(
      type.clone({type.getDimSize(0), ownHeads * features}), own, kvUp,
      positions, i64(ownHeads), i64(*op.getNopeDim()), i64(*op.getRopeDim()),
      op.getRopeAttr());
  return overCp.allGather(own, 1, p.own("queries"));
}

FailureOr<Value> ContextAttention::decode() {
  Value kvUp, latent, queries;
  if (isLatent) {
    latent = p.get(op.getLatent(), p.getRequired(1));
    FailureOr<Value> weight = sliceKvUp();
    if (failed(weight))
      return failure();
    kvUp = *weight;
    FailureOr<Value> all = latentQueries(kvUp);
    if (failed(all))
      return failure();
    queries = *all;
  } else {
    queries = gatherQueries();
    if (!queries)
      return failure();
  }
  Value sinks = sliceSinks(p.getPackings().contextHeads(heads, 1, tp, cp));
  Value qNorm, kNorm;
  FloatAttr epsilon;
  if (!op.normsHeadsApart()) {
    qNorm = p.sliceVector(op.getQNorm(), nullptr);
    kNorm = p.sliceVector(op.getKNorm(), nullptr);
    epsilon = op.getEpsilonAttr();
    if (op.getQNorm() && (!qNorm || !kNorm))
      return failure();
  }
  Value kvNorm = p.sliceVector(op.getKvNorm(), nullptr);
  if ((op.getSinks() && !sinks) || (op.getKvNorm() && !kvNorm))
    return failure();
  int64_t width = isLatent ? *op.getRank() : *op.getHeadDim();
  Value offset;
  if (!isLatent && groupHeads() % op.getGroup() != 0 &&
      op.getGroup() % groupHeads() != 0)
    offset = getGroupOffset();

  auto type = cast<RankedTensorType>(queries.getType());
  SmallVector<Type> results = {
      type.clone({type.getDimSize(0), groupHeads() * width}),
      RankedTensorType::get({ShapedType::kDynamic, groupHeads()},
                            builder.getF32Type())};
  for (Value cache : caches)
    results.push_back(cache.getType());
  auto partial = p.create<PartialAttentionOp>(
      results, queries, latent, positions, caches, qNorm, kNorm, sinks, kvNorm,
      offset, getFirst(), i64(cp), i64(groupHeads()),
      i64(isLatent ? 1 : group.kv), i64(isLatent ? 1 : width),
      i64(isLatent ? 1 : int64_t(op.getGroup())),
      i64(isLatent ? *op.getRopeDim() : 1), i64(isLatent ? width : 1),
      op.getScaleAttr(), op.getSoftCapAttr(), op.getRopeAttr(),
      op.getWindowAttr(), op.getChunkedAttr(), op.getTemperatureAttr(), epsilon,
      op.getKvNormEpsilonAttr());
  newCaches.assign(partial.getNewCaches().begin(),
                   partial.getNewCaches().end());
  Value result = merge(partial.getResult(), partial.getSums(), width);
  if (!isLatent)
    return result;
  auto merged = cast<RankedTensorType>(result.getType());
  return p
      .create<LatentValuesOp>(
          merged.clone(
              {merged.getDimSize(0), ownHeads * int64_t(*op.getValueDim())}),
          result, kvUp, i64(ownHeads), i64(*op.getNopeDim()))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Prefill
//===----------------------------------------------------------------------===//

FailureOr<Value> ContextAttention::prefill() {
  int64_t ownKv = 0;
  SmallVector<Value> whole;
  if (!isLatent)
    ownKv =
        p.getPackings().kvHeads(heads, *op.getKvHeads(), 1, tp)->getLocalSize();
  for (Value cache : caches)
    whole.push_back(emptyCache(cache, ownKv));
  FailureOr<AttentionOp> local = attendByHeads(p, op, whole, positions);
  if (failed(local))
    return failure();
  Charges charges;
  bool exchanges = !isLatent && !group.isSame;
  if (exchanges)
    charges = scaled(p.own("positions"), 0.5);
  for (auto [cache, all] : llvm::zip_equal(caches, local->getNewCaches())) {
    Value own = exchanges ? exchangePositions(all, charges) : ownPositions(all);
    newCaches.push_back(
        p.create<WritePositionsOp>(cache.getType(), cache, own, positions,
                                   getFirst(), i64(op.getSequence()), i64(cp)));
  }
  return Value(local->getResult());
}

/// Temporary caches of what `rows`, those of all positions, add.
FailureOr<WriteCacheOp> ContextAttention::writeAllKeys(Value rows) {
  SmallVector<Value> whole;
  SmallVector<Type> types;
  for (Value cache : caches) {
    whole.push_back(emptyCache(cache, isLatent ? 0 : *op.getKvHeads()));
    types.push_back(whole.back().getType());
  }
  Value kNorm = p.sliceVector(op.getKNorm(), nullptr);
  Value kvNorm = p.sliceVector(op.getKvNorm(), nullptr);
  if ((op.getKNorm() && !kNorm) || (op.getKvNorm() && !kvNorm))
    return failure();
  IntegerAttr one = i64(1);
  return p.create<WriteCacheOp>(
      types, rows, positions, whole, kNorm, kvNorm, i64(op.getSequence()),
      isLatent ? one : op.getKvHeadsAttr(),
      isLatent ? one : op.getHeadDimAttr(), op.getRankAttr(),
      op.getRopeDimAttr(), op.getRopeAttr(), op.getQkNormAttr(),
      op.getEpsilonAttr(), op.getKvNormEpsilonAttr());
}

/// The positions of the device, of caches that hold all of them.
void ContextAttention::keepOwn(ValueRange written) {
  for (auto [cache, all] : llvm::zip_equal(caches, written))
    newCaches.push_back(p.create<WritePositionsOp>(
        cache.getType(), cache, ownPositions(all), positions, getFirst(),
        i64(op.getSequence()), i64(cp)));
}

/// Rows are dealt by position, so that a device's block has as many of each
/// prompt.
FailureOr<Value> ContextAttention::prefillPositions() {
  const RowSpace &tokens = *p.getTokens();
  Value rows;
  if (isLatent) {
    rows = p.get(op.getLatent(), Layout::R);
  } else {
    bool isWhole =
        p.getPlaced(op.getInput()).copies.front().layout == Layout::R;
    Value all = p.get(op.getInput(), isWhole ? Layout::R : Layout::T);
    int64_t queries = heads * int64_t(*op.getHeadDim());
    rows = p.sliceColumns(all, queries, columns(all) - queries);
    if (!isWhole)
      rows = p.trimRows(overCp.allGather(rows, 0, p.own("keys")), tokens);
  }
  FailureOr<WriteCacheOp> written = writeAllKeys(rows);
  if (failed(written))
    return failure();
  keepOwn(written->getNewCaches());
  FailureOr<AttentionOp> local =
      attendByHeads(p, op, written->getNewCaches(),
                    positionsIn(p, op.getPositions(), Layout::T));
  if (failed(local))
    return failure();
  local->setSequence(tokens.dealtRows(tp));
  return Value(local->getResult());
}

LogicalResult ContextAttention::write() {
  positions = p.getPlain(op.getPositions());
  if (!positions || failed(sliceCaches()))
    return failure();
  FailureOr<Value> result = !p.getContext().isPrefill() ? decode()
                            : p.getDim() == Dim::None   ? prefillPositions()
                                                        : prefill();
  if (failed(result))
    return failure();
  p.defineResult(
      cast<OpResult>(op.getResult()), *result, op.getInput(),
      p.getPackings().heads(heads, columns(op.getResult()) / heads, tp));
  for (auto [global, local, cache] :
       llvm::zip_equal(op.getNewCaches(), newCaches, op.getCaches()))
    p.defineCache(global, local, cache);
  return success();
}

LogicalResult llm::partitionContext(OpPartition &p, AttentionOp op) {
  return ContextAttention(p, op).write();
}
