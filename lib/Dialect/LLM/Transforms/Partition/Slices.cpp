//===- Slices.cpp - Slices of weights and caches --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Slices.h"

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

Cut Slices::overRows(Layout layout) const {
  Cut cut;
  cut.rows = {Axis::Dp};
  if (layout != Layout::T)
    return cut;
  cut.rows.push_back(Axis::Tp);
  cut.areRowsAlike = grid.degrees.gathers();
  return cut;
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

ArrayAttr Slices::describeRuns(const Packing *packing, Builder &builder) {
  ArrayAttr &runs = runsOf[packing];
  if (runs)
    return runs;
  lowered::Coordinates coordinates;
  for (int64_t rank = 0; rank < packing->getNumRanks(); ++rank)
    coordinates.push_back(packing->getRuns(rank));
  return runs = lowered::writeRuns(builder.getContext(), coordinates);
}

lowered::Slice Slices::describe(StringRef name, RankedTensorType type,
                                ArrayRef<Cut> cuts, Builder &builder) {
  lowered::Slice slice = lowered::Slice::whole(name, type);
  for (auto [dim, cut] : llvm::zip_equal(slice.dims, cuts)) {
    for (Axis axis : cut.rows)
      dim.rows.push_back(writtenAxis(axis, grid.groups()));
    dim.areRowsAlike = cut.areRowsAlike;
    if (cut.stride)
      dim.stride = writtenAxis(*cut.stride, grid.groups());
    if (!cut.rows.empty() || !cut.packing)
      continue;
    dim.axis = writtenAxis(cut.axis, grid.groups());
    dim.runs = describeRuns(cut.packing, builder);
  }
  return slice;
}

static std::string nameOf(BlockArgument argument) {
  return "arg" + std::to_string(argument.getArgNumber());
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Sizes of the slice.
static RankedTensorType localType(RankedTensorType type, ArrayRef<Cut> cuts) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, cut] : llvm::zip_equal(shape, cuts))
    if (cut.packing)
      size = cut.packing->getLocalSize();
  return type.clone(shape);
}

Value Slices::slice(const Emitter &emit, Operation *user, Value global,
                    ArrayRef<Cut> cuts) {
  auto type = cast<RankedTensorType>(global.getType());
  assert(type.getRank() == int64_t(cuts.size()) && "one cut for each dim");
  if (auto param = global.getDefiningOp<ParamOp>())
    return sliceParam(emit, user, param, type, cuts);
  auto argument = dyn_cast<BlockArgument>(global);
  if (argument && values.lookupPlain(argument))
    return sliceArgument(emit, user, argument, type, cuts);
  auto diagnostic = user->emitOpError(
      argument ? "reads as a weight what is an activation elsewhere: expected "
                 "an 'llm.param' or an argument that is only that"
               : "cannot slice a weight that is computed: expected an "
                 "'llm.param' or an argument");
  diagnostic.attachNote(global.getLoc()) << "weight defined here";
  return {};
}

/// A weight that is used with two slices becomes two params.
Value Slices::sliceParam(const Emitter &emit, Operation *user, ParamOp param,
                         RankedTensorType type, ArrayRef<Cut> cuts) {
  OpBuilder &builder = emit.getBuilder();
  DictionaryAttr description = describe(param.getParam(), type, cuts, builder)
                                   .write(builder.getContext());
  Value &local = params[{param.getResult(), description}];
  if (local)
    return local;
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *repeat = repeats.lookup(user->getBlock());
      repeat && param->getBlock() != user->getBlock())
    builder.setInsertionPoint(repeat);
  auto copy = cast<ParamOp>(builder.clone(*param.getOperation()));
  copy.getResult().setType(localType(type, cuts));
  unsigned count = slicesOfParam[param.getResult()]++;
  if (count > 0)
    copy.setParam((param.getParam() + "." + Twine(count)).str());
  copy->setAttr(lowered::Slice::attrName, description);
  return local = copy.getResult();
}

/// An argument is one tensor on a device, so it has one slice.
static void refuseSecondSlice(Operation *user, BlockArgument argument,
                              Operation *first) {
  auto diagnostic = user->emitOpError("reads argument #")
                    << argument.getArgNumber()
                    << " of its block, which is used with two different "
                       "slices: expected an 'llm.param'";
  if (first)
    diagnostic.attachNote(first->getLoc()) << "used here with another slice";
}

/// Arguments take the local type in place.
LogicalResult Slices::take(Value local, BlockArgument argument,
                           lowered::Slice slice, RankedTensorType type,
                           Operation *user) {
  auto [it, isNew] = known.try_emplace(local, Known{slice, user});
  Known &before = it->second;
  bool agrees = before.slice ? *before.slice == slice : type == local.getType();
  if (!isNew && !agrees) {
    refuseSecondSlice(user, argument, before.user);
    return failure();
  }
  before.slice = std::move(slice);
  local.setType(type);
  return success();
}

/// The operand that a repeat slices for its body, and its result, follow when
/// the body is done.
Value Slices::sliceArgument(const Emitter &emit, Operation *user,
                            BlockArgument argument, RankedTensorType type,
                            ArrayRef<Cut> cuts) {
  Value local = values.lookupPlain(argument);
  if (failed(take(local, argument,
                  describe(nameOf(argument), type, cuts, emit.getBuilder()),
                  localType(type, cuts), user)))
    return {};
  return local;
}

LogicalResult Slices::expectWhole(Value global, Value local, Operation *user) {
  auto argument = dyn_cast<BlockArgument>(global);
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!argument || !type || !type.hasStaticShape()) {
    if (global.getType() == local.getType())
      return success();
    auto diagnostic =
        user->emitOpError("reads a sharded tensor: expected an op of the "
                          "'llm' dialect to");
    diagnostic.attachNote(global.getLoc()) << "made here";
    return diagnostic;
  }
  auto [it, isNew] = known.try_emplace(local, Known{{}, user});
  if (isNew || global.getType() == local.getType())
    return success();
  refuseSecondSlice(user, argument, it->second.user);
  return failure();
}

void Slices::describeRows(Value local, BlockArgument argument, Operation *user,
                          Builder &builder) {
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<Cut> cuts(type.getRank());
  cuts.front() = overRows(Layout::R);
  known[local] = {describe(nameOf(argument), type, cuts, builder), user};
}

void Slices::inherit(Value local, Value cache) {
  auto source = known.find(cache);
  if (source != known.end() && source->second.slice)
    known[local] = Known(source->second);
}

LogicalResult Slices::follow(Value outer, BlockArgument argument,
                             std::vector<lowered::SliceDim> dims,
                             RankedTensorType type, Operation *user) {
  lowered::Slice slice = lowered::Slice::whole(
      nameOf(argument), cast<RankedTensorType>(argument.getType()));
  slice.dims = std::move(dims);
  return take(outer, argument, std::move(slice), type, user);
}

bool Slices::areCutAlike(Value one, Value other) const {
  if (!isSliced(one) || !isSliced(other))
    return isSliced(one) == isSliced(other);
  return known.find(one)->second.slice->dims ==
         known.find(other)->second.slice->dims;
}

/// The first two of `caches` that are one tensor: each is written in its place.
static std::optional<std::pair<size_t, size_t>> findTwice(ValueRange caches) {
  for (size_t i = 0; i < caches.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (caches[i] == caches[j])
        return std::pair(j, i);
  return std::nullopt;
}

/// The cache that a layer gives becomes what the next one reads, so that
/// devices have the same part of both. What nothing cuts takes the other's
/// slice.
LogicalResult Slices::agreeOnCaches(RepeatOp from, RepeatOp to) {
  auto yield = cast<YieldOp>(from.getBodyBlock()->getTerminator());
  ValueRange given =
      to.getBodyBlock()->getTerminator()->getOperands().drop_front();
  ArrayRef<BlockArgument> taken = to.getSlices().take_front(given.size());
  if (auto twice = findTwice(given))
    return yield.emitOpError("gives one tensor as caches #")
           << twice->first << " and #" << twice->second
           << ": expected one for each place";
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (auto [read, left] : llvm::zip_equal(taken, given)) {
      if (isSliced(read) == isSliced(left))
        continue;
      Value whole = isSliced(read) ? left : Value(read);
      Value part = isSliced(read) ? Value(read) : left;
      auto argument = dyn_cast<BlockArgument>(whole);
      if (!argument)
        continue;
      if (failed(take(whole, argument, *known.find(part)->second.slice,
                      cast<RankedTensorType>(part.getType()), yield)))
        return failure();
      hasChanged = true;
    }
  }
  for (auto [index, read, left] : llvm::enumerate(taken, given)) {
    if (areCutAlike(read, left))
      continue;
    auto diagnostic = yield.emitOpError("gives as cache #")
                      << index
                      << " a tensor with another sharding: "
                         "expected that of the cache that the layer reads";
    if (Operation *reader = known.lookup(read).user)
      diagnostic.attachNote(reader->getLoc()) << "read here";
    return diagnostic;
  }
  return success();
}

LogicalResult Slices::leaveBody(RepeatOp from, RepeatOp to) {
  if (failed(agreeOnCaches(from, to)))
    return failure();
  auto argumentOf = [&](OperandRange operands, int64_t index, StringRef what) {
    auto argument = dyn_cast<BlockArgument>(operands[index]);
    if (!argument)
      from.emitOpError() << what << " operand #" << index
                         << " is computed: expected an argument, which can be "
                            "sliced";
    return argument;
  };
  // `outer` is what `argument` became, with the layers in front if stacked.
  auto sliceOuter = [&](BlockArgument inner, Value outer,
                        BlockArgument argument, bool isStacked) {
    auto type = cast<RankedTensorType>(inner.getType());
    std::vector<lowered::SliceDim> dims = known.find(inner)->second.slice->dims;
    SmallVector<int64_t> shape(type.getShape());
    if (isStacked) {
      auto whole = cast<RankedTensorType>(argument.getType());
      shape.insert(shape.begin(), whole.getDimSize(0));
      dims.emplace(dims.begin());
    }
    return follow(outer, argument, std::move(dims), type.clone(shape), from);
  };
  for (auto [index, inner] : llvm::enumerate(to.getSlices())) {
    if (!isSliced(inner))
      continue;
    BlockArgument argument = argumentOf(from.getStacked(), index, "stacked");
    if (!argument || failed(sliceOuter(inner, to.getStacked()[index], argument,
                                       /*isStacked=*/true)))
      return failure();
  }
  for (auto [index, inner] : llvm::enumerate(to.getInvariantArguments())) {
    if (!isSliced(inner))
      continue;
    BlockArgument argument =
        argumentOf(from.getInvariants(), index, "invariant");
    if (!argument || failed(sliceOuter(inner, to.getInvariants()[index],
                                       argument, /*isStacked=*/false)))
      return failure();
  }
  for (auto [global, local, outer] :
       llvm::zip(from.getStacks(), to.getStacks(), to.getStacked())) {
    local.setType(cast<RankedTensorType>(outer.getType()));
    values.definePlain(global, local);
    inherit(local, outer);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

/// A caller has one place for a cache and what it becomes.
LogicalResult Slices::checkCaches(FunctionOpInterface func, Block &body) {
  SmallVector<Value> read;
  for (BlockArgument argument : body.getArguments())
    if (getRole(func.getArgAttrDict(argument.getArgNumber())) == Role::Cache)
      read.push_back(argument);
  SmallVector<Value> left;
  for (OpOperand &result : body.getTerminator()->getOpOperands())
    if (getRole(func.getResultAttrDict(result.getOperandNumber())) ==
        Role::Cache)
      left.push_back(result.get());
  if (auto twice = findTwice(left))
    return func.emitOpError("returns one tensor as caches #")
           << twice->first << " and #" << twice->second
           << ": expected one for each place";
  for (auto [index, cache] : llvm::enumerate(llvm::zip(read, left)))
    if (!areCutAlike(std::get<0>(cache), std::get<1>(cache)))
      return func.emitOpError("returns as cache #")
             << index
             << " a tensor with another sharding: expected "
                "that of the argument";
  return success();
}

LogicalResult Slices::describeSignature(FunctionOpInterface func, Block &body,
                                        Builder &builder) {
  if (failed(checkCaches(func, body)))
    return failure();
  Operation *terminator = body.getTerminator();
  func.setType(func.cloneTypeWith(body.getArgumentTypes(),
                                  terminator->getOperandTypes()));
  MLIRContext *context = builder.getContext();
  /// Rows are sharded on replicas wherever they are.
  auto describeValue = [&](Value value,
                           const std::string &name) -> DictionaryAttr {
    if (isSliced(value))
      return known.find(value)->second.slice->write(context);
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (!tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0))
      return {};
    SmallVector<Cut> cuts(tensor.getRank());
    cuts.front() = overRows(Layout::R);
    return describe(name, tensor, cuts, builder).write(context);
  };
  for (BlockArgument argument : body.getArguments())
    if (DictionaryAttr slice = describeValue(argument, nameOf(argument)))
      func.setArgAttr(argument.getArgNumber(), lowered::Slice::attrName, slice);
  for (OpOperand &result : terminator->getOpOperands()) {
    unsigned number = result.getOperandNumber();
    if (DictionaryAttr slice =
            describeValue(result.get(), "result" + std::to_string(number)))
      func.setResultAttr(number, lowered::Slice::attrName, slice);
  }
  return success();
}
