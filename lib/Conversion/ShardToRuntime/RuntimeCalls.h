//===- RuntimeCalls.h - Calls of the runtime, and their sites ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_SHARDTORUNTIME_RUNTIMECALLS_H
#define SHARDOPT_LIB_CONVERSION_SHARDTORUNTIME_RUNTIMECALLS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace shardopt::llm {

/// The calls of a module: declares functions once, and numbers sites.
class RuntimeCalls {
public:
  explicit RuntimeCalls(mlir::ModuleOp module);

  /// Calls `shardopt_<function>_<type>_<rank>`, the type and rank being those
  /// of the first operand, with tensors cast to dynamic sizes, then
  /// `arguments`, the packed axes, and a new site for `op`. Returns the call's
  /// result cast to `result`; null where that is null, for a function without a
  /// result. An error is emitted where the runtime has no such function.
  mlir::FailureOr<mlir::Value>
  call(mlir::OpBuilder &builder, mlir::Operation *op, llvm::StringRef function,
       mlir::ValueRange tensors, mlir::ValueRange arguments,
       llvm::ArrayRef<int16_t> axes, mlir::Type result);

  /// The rank's coordinate along an axis of the grid, an index.
  mlir::Value coordinate(mlir::OpBuilder &builder, mlir::Location loc,
                         int64_t axis);

  /// Writes the table of sites to the module.
  void writeSites();

private:
  mlir::FlatSymbolRefAttr declare(mlir::OpBuilder &builder,
                                  llvm::StringRef name,
                                  mlir::FunctionType type);
  mlir::FailureOr<int64_t> addSite(mlir::Operation *op,
                                   llvm::ArrayRef<int16_t> axes);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::SmallVector<mlir::Attribute> sites;
};

/// An i64 constant.
mlir::Value constant(mlir::OpBuilder &builder, mlir::Location loc,
                     int64_t value);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_SHARDTORUNTIME_RUNTIMECALLS_H
