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

/// Whether each device makes the results by itself: constants, zeros, or what
/// is computed from such values alone.
static bool isFree(Operation *op, const FactorMap &found) {
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

static FailureOr<OpFactors> factorsOf(Operation *op) {
  if (declaresFactors(op))
    return declaredFactors(op);
  return isForeign(op) ? stablehloFactors(op) : linalgFactors(op);
}

FailureOr<FactorMap> graphs::readFactors(Block &block) {
  FactorMap found;
  for (Operation &op : block.without_terminator()) {
    if (isFree(&op, found) || llvm::none_of(op.getResultTypes(), [](Type type) {
          return isa<RankedTensorType>(type);
        }))
      continue;
    FailureOr<OpFactors> factors = factorsOf(&op);
    if (failed(factors))
      return failure();
    found[&op] = std::move(*factors);
  }
  return found;
}
