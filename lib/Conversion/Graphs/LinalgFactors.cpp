//===- LinalgFactors.cpp - Factors of ops of linalg -----------------------===//
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

/// The dim of a tensor that follows loop `loop`; -1: none.
static int dimOfLoop(AffineMap map, unsigned loop) {
  for (auto [dim, result] : llvm::enumerate(map.getResults()))
    if (auto place = dyn_cast<AffineDimExpr>(result);
        place && place.getPosition() == loop)
      return int(dim);
  return -1;
}

/// Arithmetic of an element: all of the body but constants and the yield.
static double countArithmetic(linalg::LinalgOp op) {
  double count = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    count += !inner.hasTrait<OpTrait::ConstantLike>();
  return count;
}

OpFactors graphs::linalgFactors(Operation *op) {
  OpFactors found;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    bool isReshape = isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
    found.work = isReshape ? Work::View : Work::Kernel;
    found.replicated =
        isReshape ? "upstream partitions no reshape" : "it is no op of linalg";
    return found;
  }
  SmallVector<int64_t> loops = linalgOp.getStaticLoopRanges();
  found.arithmetic = countArithmetic(linalgOp);
  for (int64_t size : loops)
    found.arithmetic *= double(size);
  if (!llvm::all_of(linalgOp.getIndexingMapsArray(), [](AffineMap map) {
        return map.isProjectedPermutation();
      })) {
    found.replicated = "a map is no projected permutation";
    return found;
  }
  auto kinds = linalgOp.getIteratorTypesArray();
  for (auto [loop, size] : llvm::enumerate(loops)) {
    Factor factor;
    factor.size = size;
    factor.isReduced = kinds[loop] == utils::IteratorType::reduction;
    for (OpOperand &operand : op->getOpOperands())
      factor.operands.push_back(
          dimOfLoop(linalgOp.getMatchingIndexingMap(&operand), unsigned(loop)));
    for (OpOperand &init : linalgOp.getDpsInitsMutable())
      if (isa<RankedTensorType>(init.get().getType()))
        factor.results.push_back(factor.operands[init.getOperandNumber()]);
    found.factors.push_back(std::move(factor));
  }
  return found;
}
