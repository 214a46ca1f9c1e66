//===- ReadFactors.cpp - The ops of a function as factors -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Factors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

/// Whether the results of an op are zeros, or undefined.
static bool isFree(Operation *op) {
  return isa<tensor::EmptyOp, linalg::FillOp>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

FactorMap graphs::readFactors(Block &block) {
  FactorMap found;
  for (Operation &op : block.without_terminator())
    if (!isFree(&op) && llvm::any_of(op.getResultTypes(), [](Type type) {
          return isa<RankedTensorType>(type);
        }))
      found[&op] = linalgFactors(&op);
  return found;
}
