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

/// `<0-2, 60>`: numbers of at most `count` layers.
mlir::ParseResult parseLayers(mlir::AsmParser &parser, int64_t count,
                              llvm::SmallVectorImpl<int64_t> &layers);
void printLayers(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> layers);

/// `<128, 0, ...>`: from the dots on it starts again, up to `count` windows.
mlir::ParseResult parseWindows(mlir::AsmParser &parser, int64_t count,
                               llvm::SmallVectorImpl<int64_t> &windows);
void printWindows(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> windows);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_IR_STRUCTURESYNTAX_H
