//===- Widen.cpp - All floats as f32 --------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Widen.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace shardopt;

static Type widen(Type type) {
  if (auto shaped = dyn_cast<RankedTensorType>(type))
    return shaped.clone(widen(shaped.getElementType()));
  auto real = dyn_cast<FloatType>(type);
  if (!real || real.getWidth() >= 32)
    return type;
  return Float32Type::get(type.getContext());
}

static SmallVector<Type> widen(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return widen(type); });
}

static APFloat widen(APFloat value) {
  bool inexact;
  value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
  return value;
}

/// The same constant of type `type`.
static TypedAttr widen(TypedAttr value, Type type) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return FloatAttr::get(type, widen(number.getValue()));
  return cast<DenseFPElementsAttr>(value).mapValues(
      getElementTypeOrSelf(type),
      [](const APFloat &number) { return widen(number).bitcastToAPInt(); });
}

/// Widens what an op and the blocks in it define.
static void widen(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Type type = widen(constant.getType());
    if (type != constant.getType())
      constant.setValueAttr(widen(constant.getValue(), type));
  }
  for (Value result : op->getResults())
    result.setType(widen(result.getType()));
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      argument.setType(widen(argument.getType()));
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    FunctionType type = function.getFunctionType();
    function.setType(FunctionType::get(
        op->getContext(), widen(type.getInputs()), widen(type.getResults())));
  }
}

void llm::widenFloats(ModuleOp module) {
  module.walk([](Operation *op) { widen(op); });
  SmallVector<Operation *> conversions;
  module.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
        op->getOperand(0).getType() == op->getResult(0).getType())
      conversions.push_back(op);
  });
  for (Operation *op : conversions) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }
}
