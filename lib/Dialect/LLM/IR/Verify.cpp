//===- Verify.cpp - Checks that verifiers share ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Support/Limits.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace shardopt;

int64_t llm::times(int64_t a, int64_t b) {
  int64_t product;
  return llvm::MulOverflow(a, b, product) ? std::numeric_limits<int64_t>::max()
                                          : product;
}

int64_t llm::plus(int64_t a, int64_t b) {
  int64_t sum;
  return llvm::AddOverflow(a, b, sum) ? std::numeric_limits<int64_t>::max()
                                      : sum;
}

LogicalResult llm::verifySizes(Operation *op) {
  auto verify = [&](StringRef what, unsigned index, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    int64_t elements = 1;
    for (int64_t size : tensor.getShape()) {
      if (ShapedType::isDynamic(size))
        continue;
      if (size > maxDimSize)
        return LogicalResult(op->emitOpError()
                             << what << " " << index << " has a size of "
                             << size << ", expected at most " << maxDimSize);
      elements = times(elements, size);
    }
    if (elements > maxElements)
      return LogicalResult(op->emitOpError()
                           << what << " " << index << " has " << elements
                           << " elements, expected at most " << maxElements);
    return success();
  };
  for (auto [index, type] : llvm::enumerate(op->getOperandTypes()))
    if (failed(verify("operand", index, type)))
      return failure();
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (failed(verify("result", index, type)))
      return failure();
  return success();
}

LogicalResult llm::expectSize(Operation *op, StringRef what, StringRef unit,
                              int64_t wanted, StringRef reason, int64_t found) {
  if (found == wanted)
    return success();
  return op->emitOpError() << "'" << what << "' must have " << wanted << " "
                           << unit << ", " << reason << ", found " << found;
}

LogicalResult llm::expectType(Operation *op, StringRef what, Type wanted,
                              StringRef whose, Type found) {
  if (found == wanted)
    return success();
  return op->emitOpError() << "'" << what << "' must have type " << wanted
                           << ", that of " << whose << ", found " << found;
}

LogicalResult llm::expectLike(Operation *op, StringRef what, Value value,
                              StringRef whose, Value pattern) {
  if (failed(expectSize(op, what, "columns", columns(pattern),
                        ("like " + whose).str(), columns(value))))
    return failure();
  Type wanted = getElementTypeOrSelf(pattern);
  Type found = getElementTypeOrSelf(value);
  if (found == wanted)
    return success();
  return op->emitOpError() << "'" << what << "' must have elements of type "
                           << wanted << ", like " << whose << ", found "
                           << found;
}

LogicalResult llm::expectPositive(Operation *op, StringRef what,
                                  int64_t value) {
  if (value > 0)
    return success();
  return op->emitOpError() << "'" << what << "' must be positive, found "
                           << value;
}

LogicalResult llm::expectPositive(Operation *op, StringRef what,
                                  const APFloat &value) {
  if (value.isFinite() && !value.isZero() && !value.isNegative())
    return success();
  return op->emitOpError() << "'" << what
                           << "' must be positive and finite, found "
                           << value.convertToDouble();
}

LogicalResult llm::expectDivides(Operation *op, StringRef what, int64_t divisor,
                                 StringRef whole, int64_t size) {
  if (divisor > 0 && size % divisor == 0)
    return success();
  return op->emitOpError() << "'" << what << "' must be positive and divide "
                           << whole << ", " << size << ", found " << divisor;
}

LogicalResult llm::expectAllPositive(
    Operation *op,
    std::initializer_list<std::pair<StringRef, int64_t>> attributes) {
  for (auto [name, value] : attributes)
    if (failed(expectPositive(op, name, value)))
      return failure();
  return success();
}

/// The argument of the enclosing function that `value` is, where repeats pass
/// it on as an invariant; or null.
static BlockArgument findArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  while (argument) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<FunctionOpInterface>(parent))
      return argument;
    bool isCarried = isa<llm::RepeatOp>(parent) &&
                     argument.getArgNumber() < parent->getNumOperands();
    argument = isCarried ? dyn_cast<BlockArgument>(
                               parent->getOperand(argument.getArgNumber()))
                         : BlockArgument();
  }
  return {};
}

LogicalResult llm::expectPositions(Operation *op, Value positions) {
  BlockArgument argument = findArgument(positions);
  if (!argument)
    return success();
  auto func = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto role = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                llm::roleAttrName);
  if (role && role == "tokens")
    return op->emitOpError("reads tokens as positions: expected another "
                           "argument than #")
               .append(argument.getArgNumber(), ", whose role is 'tokens'")
               .attachNote(func.getLoc())
           << "of this function";
  return success();
}
