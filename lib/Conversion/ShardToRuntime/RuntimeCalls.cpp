//===- RuntimeCalls.cpp - Calls of the runtime, and their sites -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

RuntimeCalls::RuntimeCalls(ModuleOp module) : module(module), symbols(module) {
  if (auto known = module->getAttrOfType<ArrayAttr>(lowered::Site::attrName))
    sites.append(known.begin(), known.end());
}

Value llm::constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

//===----------------------------------------------------------------------===//
// Sites
//===----------------------------------------------------------------------===//

FailureOr<int64_t> RuntimeCalls::addSite(Operation *op,
                                         ArrayRef<int16_t> axes) {
  auto collective = lowered::readFrom<lowered::Collective>(op);
  if (failed(collective))
    return failure();
  lowered::Site site;
  site.op = op->getName().stripDialect().str();
  site.axes.assign(axes.begin(), axes.end());
  site.collective = std::move(*collective);
  sites.push_back(site.write(op->getContext()));
  return int64_t(sites.size()) - 1;
}

void RuntimeCalls::writeSites() {
  module->setAttr(lowered::Site::attrName,
                  ArrayAttr::get(module.getContext(), sites));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The spelling of an element type in names of functions; empty if the runtime
/// does not have it.
static std::string spelling(Type type) {
  if (!type.isF32() && !type.isSignlessInteger(32))
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// A tensor type with its rank and element type alone.
static RankedTensorType dynamicType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(
      SmallVector<int64_t>(tensor.getRank(), ShapedType::kDynamic),
      tensor.getElementType());
}

static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, loc, type, value);
}

FlatSymbolRefAttr RuntimeCalls::declare(OpBuilder &builder, StringRef name,
                                        FunctionType type) {
  if (!symbols.lookup(name)) {
    auto function = func::FuncOp::create(module.getLoc(), name, type);
    function.setPrivate();
    function->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
    for (auto [index, input] : llvm::enumerate(type.getInputs()))
      if (isa<TensorType>(input))
        function.setArgAttr(index, "bufferization.access",
                            builder.getStringAttr("read"));
    symbols.insert(function);
  }
  return FlatSymbolRefAttr::get(builder.getContext(), name);
}

/// Axes in one number, as the runtime unpacks it.
static int64_t packAxes(ArrayRef<int16_t> axes) {
  int64_t packed = 0;
  for (auto [position, axis] : llvm::enumerate(axes))
    packed |= (int64_t(axis) + 1) << (4 * position);
  return packed;
}

FailureOr<Value> RuntimeCalls::call(OpBuilder &builder, Operation *op,
                                    StringRef function, ValueRange tensors,
                                    ValueRange arguments,
                                    ArrayRef<int16_t> axes, Type result) {
  Location loc = op->getLoc();
  auto type = dyn_cast<RankedTensorType>(tensors.front().getType());
  if (!type || type.getRank() < 1 || type.getRank() > 4)
    return op->emitOpError(
               "needs a tensor of rank 1 to 4 to be executed, found ")
           << tensors.front().getType();
  std::string element = spelling(type.getElementType());
  if (element.empty())
    return op->emitOpError(
               "needs elements of f32 or i32 to be executed, found ")
           << type.getElementType();
  if (result && getElementTypeOrSelf(result) != type.getElementType())
    return op->emitOpError("needs a result of the operand's element type to be "
                           "executed, found ")
           << type << " and " << result;

  FailureOr<int64_t> site = addSite(op, axes);
  if (failed(site))
    return failure();
  SmallVector<Value> operands;
  for (Value tensor : tensors)
    operands.push_back(
        castTo(builder, loc, dynamicType(tensor.getType()), tensor));
  operands.append(arguments.begin(), arguments.end());
  operands.push_back(constant(builder, loc, packAxes(axes)));
  operands.push_back(constant(builder, loc, *site));

  SmallVector<Type> results;
  if (result)
    results.push_back(dynamicType(result));
  std::string name =
      ("shardopt_" + function + "_" + element + "_" + Twine(type.getRank()))
          .str();
  auto functionType =
      builder.getFunctionType(ValueRange(operands).getTypes(), results);
  auto call = func::CallOp::create(
      builder, loc, declare(builder, name, functionType), results, operands);
  return result ? castTo(builder, loc, result, call.getResult(0)) : Value();
}

Value RuntimeCalls::coordinate(OpBuilder &builder, Location loc, int64_t axis) {
  Type i64 = builder.getI64Type();
  FlatSymbolRefAttr function = declare(builder, "shardopt_process_index",
                                       builder.getFunctionType(i64, i64));
  auto call = func::CallOp::create(builder, loc, function, i64,
                                   constant(builder, loc, axis));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    call.getResult(0));
}
