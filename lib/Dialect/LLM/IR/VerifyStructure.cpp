//===- VerifyStructure.cpp - Verifiers of params and of the scan ----------===//
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

//===----------------------------------------------------------------------===//
// llm.param
//===----------------------------------------------------------------------===//

/// Whether `name` may be the name of a tensor.
static bool isName(Attribute name) {
  auto text = dyn_cast_or_null<StringAttr>(name);
  return text && !text.getValue().empty();
}

/// One part of a source: a pattern, and how the tensor that it names is laid
/// into the param.
static LogicalResult verifyPart(ParamOp param, size_t index, Attribute part) {
  auto fields = dyn_cast<DictionaryAttr>(part);
  if (!fields)
    return param.emitOpError()
           << "part " << index << " of 'source' must be a dictionary, found "
           << part;
  auto fail = [&](StringRef field, StringRef wanted,
                  Attribute found) -> LogicalResult {
    InFlightDiagnostic error = param.emitOpError();
    error << "'" << field << "' of part " << index << " of 'source' must be "
          << wanted << ", found ";
    if (!found)
      return error << "none";
    return error << found;
  };
  Attribute pattern = fields.get("pattern");
  if (!isName(pattern))
    return fail("pattern", "the name of a tensor", pattern);
  if (Attribute size = fields.get("size")) {
    auto number = dyn_cast<IntegerAttr>(size);
    if (!number || !number.getType().isInteger(64) || number.getInt() < 1)
      return fail("size", "a positive 64-bit integer", size);
  }
  for (StringRef flag : {"transposed", "deinterleave"})
    if (Attribute value = fields.get(flag); value && !isa<UnitAttr>(value))
      return fail(flag, "a unit attribute", value);
  if (Attribute scales = fields.get("scales"); scales && !isName(scales))
    return fail("scales", "the name of a tensor", scales);
  if (Attribute block = fields.get("block")) {
    auto sizes = dyn_cast<DenseI64ArrayAttr>(block);
    if (!sizes || sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1)
      return fail("block", "two positive 64-bit integers", block);
  }
  return success();
}

static LogicalResult verifySource(ParamOp param) {
  DictionaryAttr source = param.getSourceAttr();
  if (!source)
    return success();
  auto parts = source.getAs<ArrayAttr>("parts");
  if (!parts || parts.empty())
    return param.emitOpError(
        "'source' must have 'parts', a list of at least one part");
  for (auto [index, part] : llvm::enumerate(parts))
    if (failed(verifyPart(param, index, part)))
      return failure();
  Attribute axis = source.get("axis");
  auto number = dyn_cast_or_null<IntegerAttr>(axis);
  int64_t rank = cast<ShapedType>(param.getType()).getRank();
  bool valid = number && number.getType().isInteger(64) &&
               number.getInt() >= 0 && number.getInt() < rank;
  if ((axis || parts.size() > 1) && !valid) {
    InFlightDiagnostic error = param.emitOpError();
    error << "'axis' of 'source' must be a dim of the param, a 64-bit integer "
             "below "
          << rank << ", found ";
    if (axis)
      return error << axis;
    return error << "none for " << parts.size() << " parts";
  }
  return success();
}

LogicalResult ParamOp::verify() {
  // (C1) is the type's; (C2)
  if (failed(verifySource(*this)))
    return failure();
  // (C3)
  std::optional<ArrayRef<int64_t>> layers = getLayers();
  if (!layers)
    return success();
  auto repeat = (*this)->getParentOfType<RepeatOp>();
  if (!repeat)
    return emitOpError("has 'layers', but is not inside an 'llm.repeat'");
  if (layers->size() == repeat.getCount())
    return success();
  InFlightDiagnostic error = emitOpError();
  error << "'layers' must have one entry an iteration, " << repeat.getCount()
        << ", found " << layers->size();
  error.attachNote(repeat.getLoc()) << "repeat is here";
  return error;
}

//===----------------------------------------------------------------------===//
// llm.repeat
//===----------------------------------------------------------------------===//

/// The type of one layer's slice of a stacked value.
static Type sliceType(Type stacked) {
  auto type = cast<RankedTensorType>(stacked);
  return RankedTensorType::get(type.getShape().drop_front(),
                               type.getElementType(), type.getEncoding());
}

LogicalResult RepeatOp::verify() {
  // (C1)
  int64_t count = getCount();
  if (failed(expectPositive(*this, "count", count)))
    return failure();
  // (C2)
  for (auto [index, value] : llvm::enumerate(getStacked())) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != count)
      return emitOpError() << "stacked operand " << index
                           << " must have leading size 'count', " << count
                           << ", found " << type;
  }
  // (C5)
  std::optional<ArrayRef<int64_t>> windows = getWindows();
  if (!windows)
    return success();
  if (failed(expectSize(*this, "windows", "entries", count, "one a layer",
                        windows->size())))
    return failure();
  for (auto [layer, window] : llvm::enumerate(*windows))
    if (window < 0)
      return emitOpError() << "'windows' must not be negative, found " << window
                           << " for layer " << layer;
  return success();
}

/// (C3): the body's arguments.
static LogicalResult verifyArguments(RepeatOp repeat) {
  SmallVector<Type> wanted = {repeat.getInit().getType()};
  for (Type stacked : repeat.getStacked().getTypes())
    wanted.push_back(sliceType(stacked));
  llvm::append_range(wanted, repeat.getInvariants().getTypes());
  TypeRange found = repeat.getBody().getArgumentTypes();
  if (llvm::equal(wanted, found))
    return success();
  return repeat.emitOpError()
         << "body must take the residual, the slices and the invariants, "
         << TypeRange(wanted) << ", found " << found;
}

/// (C4): the values that a layer yields, and the results that they make.
static LogicalResult verifyResults(RepeatOp repeat) {
  size_t stacks = repeat.getStacks().size();
  if (stacks > repeat.getStacked().size())
    return repeat.emitOpError()
           << "must have at most as many stacked results as stacked operands, "
           << repeat.getStacked().size() << ", found " << stacks;
  SmallVector<Type> wanted = {repeat.getInit().getType()};
  llvm::append_range(wanted, repeat.getStacked().take_front(stacks).getTypes());
  if (!llvm::equal(wanted, repeat->getResultTypes()))
    return repeat.emitOpError()
           << "results must be the residual and the first stacked operands, "
           << TypeRange(wanted) << ", found " << repeat->getResultTypes();

  auto yield = dyn_cast<YieldOp>(repeat.getBodyBlock()->back());
  if (!yield) {
    InFlightDiagnostic error =
        repeat.emitOpError("body must end in an 'llm.yield'");
    error.attachNote(repeat.getBodyBlock()->back().getLoc())
        << "body ends here";
    return error;
  }
  for (Type &type : MutableArrayRef(wanted).drop_front())
    type = sliceType(type);
  if (llvm::equal(wanted, yield.getOperandTypes()))
    return success();
  InFlightDiagnostic error = yield.emitOpError();
  error << "must give the residual and a slice of each stacked result, "
        << TypeRange(wanted) << ", found " << yield.getOperandTypes();
  error.attachNote(repeat.getLoc()) << "repeat is here";
  return error;
}

/// (C6): names are the keys of the body's decisions.
static LogicalResult verifyKeys(RepeatOp repeat) {
  llvm::SmallDenseMap<StringRef, Operation *, 16> seen;
  for (auto op : repeat.getBody().getOps<ShardableOpInterface>()) {
    auto [first, isNew] = seen.try_emplace(op.getShardingName(), op);
    if (isNew)
      continue;
    InFlightDiagnostic error = op.emitOpError();
    error << "name '" << op.getShardingName()
          << "' must be unique within a repeat";
    error.attachNote(first->second->getLoc()) << "first used here";
    return error;
  }
  return success();
}

/// (C7): a window of an op would contradict those of the layers.
static LogicalResult verifyWindows(RepeatOp repeat) {
  if (!repeat.getWindows())
    return success();
  for (Operation &op : *repeat.getBodyBlock()) {
    std::optional<Attribute> window = op.getInherentAttr("window");
    if (!window || !*window)
      continue;
    InFlightDiagnostic error = op.emitOpError();
    error << "must have no 'window' where the repeat has 'windows', found "
          << *window;
    error.attachNote(repeat.getLoc()) << "windows given here";
    return error;
  }
  return success();
}

LogicalResult RepeatOp::verifyRegions() {
  if (failed(verifyArguments(*this)) || failed(verifyResults(*this)) ||
      failed(verifyKeys(*this)))
    return failure();
  return verifyWindows(*this);
}
