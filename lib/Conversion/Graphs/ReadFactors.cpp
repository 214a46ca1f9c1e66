//===- ReadFactors.cpp - The ops of a function as factors -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ForeignOp.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

bool graphs::isForeign(Operation *op) { return !op->isRegistered(); }

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// Whether each device makes the results by itself: constants, zeros, or what
/// is computed from such values or from scalars alone.
static bool isFree(Operation *op, const FactorMap &found) {
  if (isForeign(op) && llvm::all_of(op->getOperandTypes(), isScalar) &&
      llvm::all_of(op->getResultTypes(), isScalar))
    return true;
  if (isa<tensor::EmptyOp, linalg::FillOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return true;
  return isForeign(op) && !declaresFactors(op) &&
         op->getName().stripDialect() != "custom_call" &&
         llvm::all_of(op->getOperands(), [&](Value value) {
           Operation *maker = value.getDefiningOp();
           return maker && !found.contains(maker);
         });
}

/// Whether an op is of a dialect whose ops are read by name.
static bool isStableHLO(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "stablehlo" || dialect == "chlo";
}

static FailureOr<OpFactors> factorsOf(Operation *op) {
  if (declaresFactors(op))
    return declaredFactors(op);
  if (isLoop(op))
    return loopFactors(op);
  return isForeign(op) ? stablehloFactors(op) : linalgFactors(op);
}

static LogicalResult readBlock(Block &block, FactorMap &found) {
  for (Operation &op : block.without_terminator()) {
    bool isUnknown =
        isForeign(&op) && !isStableHLO(&op) && !declaresFactors(&op);
    if (!isUnknown && ((!isLoop(&op) && isFree(&op, found)) ||
                       llvm::none_of(op.getResultTypes(), [](Type type) {
                         return isa<RankedTensorType>(type);
                       })))
      continue;
    FailureOr<OpFactors> factors = factorsOf(&op);
    if (failed(factors))
      return failure();
    bool isBody = factors->trips > 0;
    found[&op] = std::move(*factors);
    if (isBody && failed(readBlock(op.getRegions().back().front(), found)))
      return failure();
  }
  return success();
}

FailureOr<FactorMap> graphs::readFactors(Block &block) {
  FactorMap found;
  if (failed(readBlock(block, found)))
    return failure();
  return found;
}
