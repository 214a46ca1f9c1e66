//===- LoopFactors.cpp - Loops whose number of trips is known -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `stablehlo.while` as JAX writes a scan over layers: a counter from a constant
// to a constant, in constant steps.
//
//===----------------------------------------------------------------------===//

#include "ForeignOp.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

static constexpr int64_t mostTrips = 1 << 20;

bool graphs::isLoop(Operation *op) {
  return op->getName().getStringRef() == "stablehlo.while";
}

/// Whether an op has the regions of a loop that carries tensors.
static bool isWellFormed(Operation *op) {
  if (op->getNumRegions() != 2 || op->getNumOperands() != op->getNumResults() ||
      op->getOperandTypes() != op->getResultTypes())
    return false;
  for (Region &region : op->getRegions())
    if (!llvm::hasSingleElement(region) || region.front().empty() ||
        region.front().getArgumentTypes() != op->getOperandTypes())
      return false;
  Operation &condition = op->getRegion(0).front().back();
  Operation &yield = op->getRegion(1).front().back();
  return condition.getNumOperands() == 1 &&
         yield.getOperandTypes() == op->getOperandTypes() &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return isa<RankedTensorType>(type); });
}

/// The carried value that `value` is before a trip, if it is one.
static std::optional<unsigned> carried(Operation *loop, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner()->getParentOp() != loop)
    return std::nullopt;
  return argument.getArgNumber();
}

/// The integer that a value always is, also one that a loop hands on.
static std::optional<int64_t> constantOf(Operation *loop, Value value) {
  if (auto index = carried(loop, value)) {
    Block &body = loop->getRegion(1).front();
    if (body.getTerminator()->getOperand(*index) != body.getArgument(*index))
      return std::nullopt;
    return constantOf(loop, loop->getOperand(*index));
  }
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getName().getStringRef() != "stablehlo.constant")
    return std::nullopt;
  ForeignOp constant(maker);
  SmallVector<int64_t> numbers = constant.integers("value");
  if (numbers.size() != 1)
    return std::nullopt;
  return numbers.front();
}

/// How often the body runs.
static std::optional<int64_t> tripsOf(Operation *op) {
  Operation *compare =
      op->getRegion(0).front().getTerminator()->getOperand(0).getDefiningOp();
  if (!compare || compare->getNumOperands() != 2 ||
      compare->getName().getStringRef() != "stablehlo.compare")
    return std::nullopt;
  StringRef direction = ForeignOp(compare).text("comparison_direction");
  auto counter = carried(op, compare->getOperand(0));
  auto end = constantOf(op, compare->getOperand(1));
  if (!counter || !end)
    return std::nullopt;
  auto begin = constantOf(op, op->getOperand(*counter));
  Block &body = op->getRegion(1).front();
  Operation *add = body.getTerminator()->getOperand(*counter).getDefiningOp();
  if (!begin || !add || add->getNumOperands() != 2 ||
      add->getName().getStringRef() != "stablehlo.add")
    return std::nullopt;
  Value counted = body.getArgument(*counter);
  bool isFirst = add->getOperand(0) == counted;
  if (!isFirst && add->getOperand(1) != counted)
    return std::nullopt;
  auto step = constantOf(op, add->getOperand(isFirst ? 1 : 0));
  bool isInclusive = direction.ends_with(" LE");
  if (!step || *step < 1 || (!isInclusive && !direction.ends_with(" LT")))
    return std::nullopt;
  double trips =
      std::ceil((double(*end) + isInclusive - double(*begin)) / double(*step));
  if (!(trips >= 1 && trips <= mostTrips))
    return std::nullopt;
  return int64_t(trips);
}

FailureOr<OpFactors> graphs::loopFactors(Operation *op) {
  if (!isWellFormed(op))
    return op->emitOpError("expected a condition and a body of one block each, "
                           "over the tensors that the loop carries");
  std::optional<int64_t> trips = tripsOf(op);
  if (!trips)
    return op->emitOpError(
               "has no known number of trips, expected a counter from a "
               "constant below a constant, in constant steps, of 1 to ")
           << mostTrips << " trips: unroll the loop, or import its body alone";
  OpFactors found;
  found.work = Work::View;
  found.trips = *trips;
  return found;
}
