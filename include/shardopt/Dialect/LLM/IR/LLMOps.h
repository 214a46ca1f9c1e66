//===- LLMOps.h - Operations of the llm dialect -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMOPS_H
#define SHARDOPT_DIALECT_LLM_IR_LLMOPS_H

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Dialect/LLM/IR/LLMInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace shardopt::llm {

/// No static size of an operand or result of `op` is above `maxDimSize`, and no
/// tensor has more than `maxElements` elements.
mlir::LogicalResult verifySizes(mlir::Operation *op);

template <typename ConcreteType>
class BoundedSizes
    : public mlir::OpTrait::TraitBase<ConcreteType, BoundedSizes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifySizes(op);
  }
};

/// Row r of the first result is made of row r of the first operand.
template <typename ConcreteType>
class RowByRow : public mlir::OpTrait::TraitBase<ConcreteType, RowByRow> {};

} // namespace shardopt::llm

#define GET_OP_CLASSES
#include "shardopt/Dialect/LLM/IR/LLMOps.h.inc"

#endif // SHARDOPT_DIALECT_LLM_IR_LLMOPS_H
