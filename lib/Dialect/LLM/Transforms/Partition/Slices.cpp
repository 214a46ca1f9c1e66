//===- Slices.cpp - Slices of weights and caches --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Slices.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

Cut Cut::overRows(Layout layout) {
  Cut cut;
  cut.rows = {GridAxis::Ep};
  if (layout == Layout::T)
    cut.rows.push_back(GridAxis::Tp);
  return cut;
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

/// The entries of every coordinate, as lists of runs: a run is [start, size,
/// stride], or [start, size, stride, count, step] where it repeats; a start of
/// -1 means zeros.
ArrayAttr Slices::describeRuns(const Packing *packing, Builder &builder) {
  ArrayAttr &runs = runsOf[packing];
  if (runs)
    return runs;
  SmallVector<Attribute> ranks;
  for (int64_t rank = 0; rank < packing->getNumRanks(); ++rank) {
    SmallVector<Attribute> list;
    for (const Run &run : packing->getRuns(rank)) {
      SmallVector<int64_t> numbers = {run.start, run.size, run.stride};
      if (run.count > 1)
        numbers.append({run.count, run.step});
      list.push_back(builder.getDenseI64ArrayAttr(numbers));
    }
    ranks.push_back(builder.getArrayAttr(list));
  }
  return runs = builder.getArrayAttr(ranks);
}

/// {} for a whole dim; {rows = [axes]} for a dynamic one that is cut by rows;
/// {axis, runs} for one that is cut by entries.
Attribute Slices::describeCut(const Cut &cut, Builder &builder) {
  if (!cut.rows.empty()) {
    SmallVector<Attribute> axes;
    for (GridAxis axis : cut.rows)
      axes.push_back(builder.getStringAttr(spell(axis)));
    return builder.getDictionaryAttr(
        builder.getNamedAttr("rows", builder.getArrayAttr(axes)));
  }
  if (!cut.packing)
    return builder.getDictionaryAttr({});
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axis", builder.getStringAttr(spell(cut.axis))),
       builder.getNamedAttr("runs", describeRuns(cut.packing, builder))});
}

DictionaryAttr Slices::describe(StringRef name, RankedTensorType type,
                                ArrayRef<Cut> cuts, Builder &builder) {
  SmallVector<Attribute> dims;
  for (const Cut &cut : cuts)
    dims.push_back(describeCut(cut, builder));
  SmallVector<int64_t> shape;
  for (int64_t size : type.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(name)),
       builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape)),
       builder.getNamedAttr("dims", builder.getArrayAttr(dims))});
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
  DictionaryAttr description = describe(param.getParam(), type, cuts, builder);
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
                           DictionaryAttr description, RankedTensorType type,
                           Operation *user) {
  auto [it, isNew] = known.try_emplace(local, Known{description, user});
  Known &before = it->second;
  bool agrees =
      before.slice ? before.slice == description : type == local.getType();
  if (!isNew && !agrees) {
    refuseSecondSlice(user, argument, before.user);
    return failure();
  }
  before.slice = description;
  local.setType(type);
  return success();
}

/// The operand that a repeat slices for its body, and its result, follow when
/// the body is done.
Value Slices::sliceArgument(const Emitter &emit, Operation *user,
                            BlockArgument argument, RankedTensorType type,
                            ArrayRef<Cut> cuts) {
  Value local = values.lookupPlain(argument);
  DictionaryAttr description =
      describe(nameOf(argument), type, cuts, emit.getBuilder());
  if (failed(take(local, argument, description, localType(type, cuts), user)))
    return {};
  return local;
}

LogicalResult Slices::expectWhole(Value global, Value local, Operation *user) {
  auto argument = dyn_cast<BlockArgument>(global);
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!argument || !type || !type.hasStaticShape()) {
    if (global.getType() == local.getType())
      return success();
    auto diagnostic = user->emitOpError(
        "reads a tensor of which devices have parts: expected an op of the "
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
  cuts.front() = Cut::overRows(Layout::R);
  known[local] = {describe(nameOf(argument), type, cuts, builder), user};
}

void Slices::inherit(Value local, Value cache) {
  if (Known source = known.lookup(cache); source.slice)
    known[local] = source;
}

LogicalResult Slices::follow(Value outer, BlockArgument argument,
                             Attribute dims, RankedTensorType type,
                             Operation *user, Builder &builder) {
  SmallVector<int64_t> sizes;
  for (int64_t size : cast<RankedTensorType>(argument.getType()).getShape())
    sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  DictionaryAttr description = builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(nameOf(argument))),
       builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(sizes)),
       builder.getNamedAttr("dims", dims)});
  return take(outer, argument, description, type, user);
}

LogicalResult Slices::leaveBody(RepeatOp from, RepeatOp to, Builder &builder) {
  auto argumentOf = [&](OperandRange operands, int64_t index, StringRef what) {
    auto argument = dyn_cast<BlockArgument>(operands[index]);
    if (!argument)
      from.emitOpError() << what << " operand #" << index
                         << " is computed: expected an argument, which can be "
                            "sliced";
    return argument;
  };
  for (auto [index, inner] : llvm::enumerate(to.getSlices())) {
    DictionaryAttr slice = known.lookup(inner).slice;
    if (!slice)
      continue;
    BlockArgument argument = argumentOf(from.getStacked(), index, "stacked");
    if (!argument)
      return failure();
    SmallVector<int64_t> shape = {
        cast<RankedTensorType>(argument.getType()).getDimSize(0)};
    auto type = cast<RankedTensorType>(inner.getType());
    llvm::append_range(shape, type.getShape());
    SmallVector<Attribute> dims = {builder.getDictionaryAttr({})};
    llvm::append_range(dims, slice.getAs<ArrayAttr>("dims"));
    if (failed(follow(to.getStacked()[index], argument,
                      builder.getArrayAttr(dims), type.clone(shape), from,
                      builder)))
      return failure();
  }
  for (auto [index, inner] : llvm::enumerate(to.getInvariantArguments())) {
    DictionaryAttr slice = known.lookup(inner).slice;
    if (!slice)
      continue;
    BlockArgument argument =
        argumentOf(from.getInvariants(), index, "invariant");
    if (!argument ||
        failed(follow(to.getInvariants()[index], argument, slice.get("dims"),
                      cast<RankedTensorType>(inner.getType()), from, builder)))
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

void Slices::describeSignature(FunctionOpInterface func, Block &body,
                               Builder &builder) {
  Operation *terminator = body.getTerminator();
  func.setType(func.cloneTypeWith(body.getArgumentTypes(),
                                  terminator->getOperandTypes()));
  /// Rows are cut over ep wherever they are.
  auto describeValue = [&](Value value, const std::string &name) {
    DictionaryAttr slice = known.lookup(value).slice;
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (slice || !tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0))
      return slice;
    SmallVector<Cut> cuts(tensor.getRank());
    cuts.front() = Cut::overRows(Layout::R);
    return describe(name, tensor, cuts, builder);
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
}
