//===- StageWriter.cpp - Writes the function of a stage -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageWriter.h"

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// What the stage does
//===----------------------------------------------------------------------===//

Value StageWriter::getReceived() const {
  return isFirst() ? Value() : plan.getBoundary(stage).value;
}

LogicalResult StageWriter::requireMade(OpResult value, Operation *user) {
  Operation *op = value.getOwner();
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    Iterations part = getPart(repeat);
    bool isResidual = value.getResultNumber() == 0;
    bool ends = part.end == int64_t(repeat.getCount());
    bool begins = part.begin == 0;
    if (part.isEmpty() || !ends || !(begins || isResidual))
      return user->emitOpError("needs what layers of another stage make: "
                               "expected only the residual to leave a stage")
                 .attachNote(repeat.getLoc())
             << "layers are here";
  }
  if (required.insert(op).second)
    open.push_back(op);
  return success();
}

LogicalResult StageWriter::require(Value value, Operation *user) {
  if (value == getReceived())
    return success();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return requireMade(cast<OpResult>(value), user);
  requiredArguments.insert(argument);
  return success();
}

LogicalResult StageWriter::requireOperands(Operation *op) {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (failed(require(value, op)))
      return failure();
  auto repeat = dyn_cast<RepeatOp>(op);
  if (!repeat)
    return success(llvm::all_of(op->getOperands(), [&](Value operand) {
      return succeeded(require(operand, op));
    }));
  for (Value invariant : repeat.getInvariants())
    if (failed(require(invariant, op)))
      return failure();
  for (Value stack : repeat.getStacked())
    if (!plan.getStackOwner(stack) && failed(require(stack, op)))
      return failure();
  // In its middle a repeat goes on from what was received.
  return getPart(repeat).begin == 0 ? require(repeat.getInit(), op) : success();
}

LogicalResult StageWriter::collect() {
  func::FuncOp func = plan.getFunction();
  Operation *terminator = func.front().getTerminator();
  for (RepeatOp repeat : plan.getRepeats())
    if (!getPart(repeat).isEmpty() && required.insert(repeat).second)
      open.push_back(repeat);
  if (plan.isLast(stage)) {
    for (Value result : terminator->getOperands())
      if (!plan.getStackOwner(result) && failed(require(result, terminator)))
        return failure();
  } else {
    const Boundary &end = plan.getBoundary(stage + 1);
    if (failed(require(end.rows, terminator)) ||
        (end.value && failed(require(end.value, terminator))))
      return failure();
  }
  if (!isFirst() && failed(require(plan.getBoundary(stage).rows, terminator)))
    return failure();
  while (!open.empty())
    if (failed(requireOperands(open.pop_back_val())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

bool StageWriter::keepsArgument(BlockArgument argument) const {
  if (RepeatOp repeat = plan.getStackOwner(argument))
    return !getPart(repeat).isEmpty();
  // What says how many rows there are stays.
  std::optional<Role> role =
      getRole(plan.getFunction().getArgAttrDict(argument.getArgNumber()));
  return role == Role::Tokens || role == Role::Positions ||
         requiredArguments.contains(argument);
}

bool StageWriter::keepsResult(Value result) const {
  if (RepeatOp repeat = plan.getStackOwner(result))
    return !getPart(repeat).isEmpty();
  return plan.isLast(stage);
}

Type StageWriter::typeHere(Value value) const {
  RepeatOp repeat = plan.getStackOwner(value);
  if (!repeat)
    return value.getType();
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = getPart(repeat).size();
  return type.clone(shape);
}

/// The layers that each stage has of a stack.
lowered::SliceDim StageWriter::describeLayers(RepeatOp repeat) {
  lowered::Coordinates stages;
  for (int64_t i = 0; i < plan.getNumStages(); ++i) {
    Iterations part = plan.getPart(repeat, i);
    std::vector<Run> &runs = stages.emplace_back();
    if (!part.isEmpty())
      runs.push_back({part.begin, part.size()});
  }
  lowered::SliceDim layers;
  layers.axis = Axis::Pp;
  layers.runs = lowered::writeRuns(builder.getContext(), stages);
  return layers;
}

/// What an argument or a result says of itself, `attributes` of the program's.
FailureOr<DictionaryAttr> StageWriter::describe(Value value, const Twine &place,
                                                const Twine &name,
                                                DictionaryAttr attributes) {
  RepeatOp repeat = plan.getStackOwner(value);
  if (!repeat)
    return attributes ? attributes : builder.getDictionaryAttr({});
  auto type = cast<RankedTensorType>(value.getType());
  auto known =
      lowered::readFrom<lowered::Slice>(attributes, plan.getFunction(), place);
  if (failed(known))
    return failure();
  lowered::Slice slice =
      known->value_or(lowered::Slice::whole(name.str(), type));
  if (int64_t(slice.dims.size()) != type.getRank())
    return plan.getFunction().emitOpError()
           << place << ": its slice has " << slice.dims.size()
           << " dims, expected those of " << type;
  slice.dims.front() = describeLayers(repeat);
  NamedAttrList result(attributes);
  result.set(slice.attrName, slice.write(builder.getContext()));
  return result.getDictionary(builder.getContext());
}

/// The function without its ops; arguments are mapped.
LogicalResult StageWriter::declare(StringRef name) {
  func::FuncOp func = plan.getFunction();
  Block &program = func.front();
  SmallVector<Type> inputs, outputs;
  SmallVector<DictionaryAttr> inputAttrs, outputAttrs;
  SmallVector<BlockArgument> kept;
  for (BlockArgument argument : program.getArguments()) {
    if (!keepsArgument(argument))
      continue;
    unsigned number = argument.getArgNumber();
    kept.push_back(argument);
    inputs.push_back(typeHere(argument));
    FailureOr<DictionaryAttr> attributes =
        describe(argument, "argument " + Twine(number), "arg" + Twine(number),
                 func.getArgAttrDict(number));
    if (failed(attributes))
      return failure();
    inputAttrs.push_back(*attributes);
  }
  for (OpOperand &result : program.getTerminator()->getOpOperands()) {
    if (!keepsResult(result.get()))
      continue;
    unsigned number = result.getOperandNumber();
    outputs.push_back(typeHere(result.get()));
    FailureOr<DictionaryAttr> attributes =
        describe(result.get(), "result " + Twine(number),
                 "result" + Twine(number), func.getResultAttrDict(number));
    if (failed(attributes))
      return failure();
    outputAttrs.push_back(*attributes);
  }

  builder.setInsertionPoint(func);
  auto made = cast<func::FuncOp>(builder.insert(func->cloneWithoutRegions()));
  made.setName(name);
  made.setType(builder.getFunctionType(inputs, outputs));
  made.removeArgAttrsAttr();
  made.removeResAttrsAttr();
  made.setAllArgAttrs(inputAttrs);
  made.setAllResultAttrs(outputAttrs);
  lowered::writeTo(made, lowered::Stage{stage, plan.getNumStages()});

  Block *body = made.addEntryBlock();
  for (auto [argument, local] : llvm::zip_equal(kept, body->getArguments())) {
    local.setLoc(argument.getLoc());
    mapping.map(argument, local);
  }
  builder.setInsertionPointToEnd(body);
  return success();
}

//===----------------------------------------------------------------------===//
// Body
//===----------------------------------------------------------------------===//

LogicalResult StageWriter::writePart(RepeatOp repeat) {
  Iterations part = getPart(repeat);
  auto made = cast<RepeatOp>(builder.clone(*repeat, mapping));
  if (part.begin > 0)
    made.getInitMutable().assign(received);
  made.setCount(part.size());
  for (auto [whole, local] :
       llvm::zip_equal(repeat.getStacks(), made.getStacks()))
    local.setType(cast<RankedTensorType>(typeHere(whole)));
  if (std::optional<ArrayRef<int64_t>> windows = repeat.getWindows())
    made.setWindows(windows->slice(part.begin, part.size()));
  if (part.size() == int64_t(repeat.getCount()))
    return success();
  SmallVector<int64_t> layers;
  for (int64_t iteration : llvm::seq(part.begin, part.end))
    layers.push_back(repeat.getLayer(iteration));
  made.setLayers(layers);
  for (Operation &op : *made.getBodyBlock()) {
    auto collective = lowered::readFrom<lowered::Collective>(&op);
    if (failed(collective))
      return failure();
    if (*collective)
      lowered::writeTo(&op, (*collective)->slice(part.begin, part.size()));
  }
  return success();
}

Value StageWriter::getSent() {
  const Boundary &end = plan.getBoundary(stage + 1);
  if (end.value)
    return mapping.lookup(end.value);
  // A stage without layers passes on what it received; otherwise it ends in
  // the middle of a repeat.
  for (RepeatOp repeat : llvm::reverse(plan.getRepeats()))
    if (!getPart(repeat).isEmpty())
      return mapping.lookup(repeat.getResult());
  return received;
}

void StageWriter::writeEnd() {
  Operation *terminator = plan.getFunction().front().getTerminator();
  if (!plan.isLast(stage)) {
    const Boundary &end = plan.getBoundary(stage + 1);
    transfer.send(builder, getSent(), mapping.lookup(end.rows), end, stage + 1);
  }
  SmallVector<Value> results;
  for (Value result : terminator->getOperands())
    if (keepsResult(result))
      results.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, terminator->getLoc(), results);
}

LogicalResult StageWriter::writeBody() {
  const Boundary *begin = isFirst() ? nullptr : &plan.getBoundary(stage);
  for (Operation &op : plan.getFunction().front().without_terminator()) {
    if (begin && begin->place == &op) {
      received = transfer.receive(builder, mapping.lookup(begin->rows), *begin,
                                  stage - 1);
      if (begin->value)
        mapping.map(begin->value, received);
    }
    if (!required.contains(&op))
      continue;
    auto repeat = dyn_cast<RepeatOp>(op);
    if (!repeat)
      builder.clone(op, mapping);
    else if (failed(writePart(repeat)))
      return failure();
  }
  writeEnd();
  return success();
}

LogicalResult StageWriter::write(StringRef name) {
  if (failed(collect()) || failed(declare(name)))
    return failure();
  return writeBody();
}
