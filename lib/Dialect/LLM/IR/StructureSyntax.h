//===- StructureSyntax.h - How params are written ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_IR_STRUCTURESYNTAX_H
#define SHARDOPT_LIB_DIALECT_LLM_IR_STRUCTURESYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace shardopt::llm {

/// The tensors of a checkpoint that a param is: one part, `"pattern"`, or
/// several, `dim 1 [8 of "pattern" transposed, …]`. A dictionary that says
/// something else is written as it is, `dict {…}`.
mlir::ParseResult parseSource(mlir::OpAsmParser &parser,
                              mlir::DictionaryAttr &source);
void printSource(mlir::OpAsmPrinter &printer, mlir::Operation *param,
                 mlir::DictionaryAttr source);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_IR_STRUCTURESYNTAX_H
