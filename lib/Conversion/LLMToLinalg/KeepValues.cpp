//===- KeepValues.cpp - Results of named ops for the runtime --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepValues.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

static constexpr StringLiteral keepName = "shardopt_keep_f32_2";

/// The type that the runtime takes.
static RankedTensorType keptType(MLIRContext *context) {
  return RankedTensorType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                               Float32Type::get(context));
}

/// What is said of an op's result; nothing where it is not kept.
static FailureOr<std::optional<lowered::Value>> describe(Operation *op,
                                                         bool partitioned) {
  if (partitioned)
    return lowered::readFrom<lowered::Value>(op);
  std::optional<lowered::Value> value;
  if (auto named = dyn_cast<ShardableOpInterface>(op))
    value.emplace().op = named.getShardingName().str();
  return value;
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

LogicalResult llm::keepValues(ModuleOp module) {
  bool partitioned = isPartitioned(module);
  std::vector<std::pair<Operation *, lowered::Value>> kept;
  WalkResult walk = module.walk([&](Operation *op) {
    if (op->getNumResults() == 0 || !isMatrix(op->getResult(0)))
      return WalkResult::advance();
    auto value = describe(op, partitioned);
    if (succeeded(value) && *value)
      kept.push_back({op, std::move(**value)});
    return WalkResult(success(succeeded(value)));
  });
  if (walk.wasInterrupted())
    return failure();
  if (kept.empty())
    return success();

  SmallVector<Attribute> sites;
  if (auto before = module->getAttrOfType<ArrayAttr>(lowered::Site::attrName))
    sites.assign(before.begin(), before.end());
  func::FuncOp keep = declareKeep(module);
  for (auto &[op, value] : kept) {
    callKeep(op, keep, sites.size());
    lowered::Site site;
    site.keep = std::move(value);
    sites.push_back(site.write(module.getContext()));
  }
  module->setAttr(lowered::Site::attrName,
                  ArrayAttr::get(module.getContext(), sites));
  return success();
}
