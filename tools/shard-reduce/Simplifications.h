//===- Simplifications.h - Ways to make a program smaller -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SHARDREDUCE_SIMPLIFICATIONS_H
#define SHARDOPT_TOOLS_SHARDREDUCE_SIMPLIFICATIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt {

/// A kind of change that leaves a program that means less. It need not be a
/// valid one, and whether it is interesting is for a test to say.
struct Simplification {
  llvm::StringRef name;
  /// In how many ways `op` may be simplified.
  unsigned (*count)(mlir::Operation *op);
  /// Simplifies `op` in one of them; whether it is another op now. Other ops
  /// stay where they are, used or not.
  bool (*apply)(mlir::Operation *op, unsigned way);
};

/// All of them, those first that save the tests of others most time.
llvm::ArrayRef<Simplification> simplifications();

/// Removes what nothing uses: ops without effects, stacks that a repeat merely
/// passes on, arguments other than tokens and positions.
void removeUnused(mlir::ModuleOp module);

} // namespace shardopt

#endif // SHARDOPT_TOOLS_SHARDREDUCE_SIMPLIFICATIONS_H
