//===- VerifyStructure.cpp - Verifiers of params and of the scan ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Support/Limits.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// llm.param
//===----------------------------------------------------------------------===//

LogicalResult ParamOp::verify() {
  // (C1) is the type's; (C2)
  int64_t rank = cast<ShapedType>(getType()).getRank();
  if (DictionaryAttr source = getSourceAttr();
      source && failed(Source::read(source, "'source'", rank,
                                    [&] { return emitOpError(); })))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// llm.repeat
//===----------------------------------------------------------------------===//

/// (C8): an iteration is a layer of the checkpoint.
static LogicalResult verifyLayers(RepeatOp repeat) {
  std::optional<ArrayRef<int64_t>> layers = repeat.getLayers();
  if (!layers)
    return success();
  if (failed(expectSize(repeat, "layers", "entries", repeat.getCount(),
                        "one an iteration", layers->size())))
    return failure();
  for (auto [iteration, layer] : llvm::enumerate(*layers))
    if (layer < 0)
      return repeat.emitOpError() << "'layers' must not be negative, found "
                                  << layer << " for iteration " << iteration;
  return success();
}

LogicalResult RepeatOp::verify() {
  // (C1)
  int64_t count = getCount();
  if (failed(expectPositive(*this, "count", count)))
    return failure();
  if (count > maxLayers)
    return emitOpError() << "'count' must be at most " << maxLayers
                         << ", found " << count;
  // (C2)
  for (auto [index, value] : llvm::enumerate(getStacked())) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != count)
      return emitOpError() << "stacked operand " << index
                           << " must have leading size 'count', " << count
                           << ", found " << type;
  }
  if (failed(verifyLayers(*this)))
    return failure();
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
    wanted.push_back(RepeatOp::getSliceType(cast<RankedTensorType>(stacked)));
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
    type = RepeatOp::getSliceType(cast<RankedTensorType>(type));
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
