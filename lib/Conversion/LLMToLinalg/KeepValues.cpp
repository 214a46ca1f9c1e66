//===- KeepValues.cpp - Results of named ops for the runtime --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepValues.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

static constexpr StringLiteral keepName = "shardopt_keep_f32_2";
static constexpr StringLiteral sitesName = "shardopt.sites";

/// The type that the runtime takes.
static RankedTensorType keptType(MLIRContext *context) {
  return RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                               Float32Type::get(context));
}

/// What is said of an op's result; null where it is not kept.
static DictionaryAttr describe(Operation *op, bool partitioned) {
  if (partitioned)
    return op->getAttrOfType<DictionaryAttr>("shardopt.value");
  auto named = dyn_cast<ShardableOpInterface>(op);
  if (!named)
    return {};
  Builder builder(op->getContext());
  return builder.getDictionaryAttr(
      builder.getNamedAttr("op", op->getAttrOfType<StringAttr>("name")));
}

/// Declares the function of the runtime.
static func::FuncOp declareKeep(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto type = builder.getFunctionType(
      {keptType(builder.getContext()), builder.getI64Type()}, {});
  auto keep = func::FuncOp::create(builder, module.getLoc(), keepName, type);
  keep.setPrivate();
  keep->setAttr("llvm.emit_c_interface", builder.getUnitAttr());
  keep.setArgAttr(0, "bufferization.access", builder.getStringAttr("read"));
  return keep;
}

static void callKeep(Operation *op, func::FuncOp keep, int64_t site) {
  ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPointAfter(op);
  Value value = op->getResult(0);
  if (value.getType() != keptType(b.getContext()))
    value = tensor::CastOp::create(b, keptType(b.getContext()), value);
  Value index = arith::ConstantOp::create(b, b.getI64IntegerAttr(site));
  func::CallOp::create(b, keep, ValueRange{value, index});
}

static bool isMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2 && type.getElementType().isF32();
}

void llm::keepValues(ModuleOp module) {
  bool partitioned = module->hasAttr("shardopt.strategy");
  SmallVector<std::pair<Operation *, DictionaryAttr>> kept;
  module.walk([&](Operation *op) {
    if (op->getNumResults() == 0 || !isMatrix(op->getResult(0)))
      return;
    if (DictionaryAttr description = describe(op, partitioned))
      kept.push_back({op, description});
  });
  if (kept.empty())
    return;

  Builder builder(module.getContext());
  SmallVector<Attribute> sites;
  if (auto before = module->getAttrOfType<ArrayAttr>(sitesName))
    sites.assign(before.begin(), before.end());
  func::FuncOp keep = declareKeep(module);
  for (auto [op, description] : kept) {
    callKeep(op, keep, sites.size());
    sites.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr("keep", description)));
  }
  module->setAttr(sitesName, builder.getArrayAttr(sites));
}
