//===- Reducer.h - Smaller programs that are interesting --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SHARDREDUCE_REDUCER_H
#define SHARDOPT_TOOLS_SHARDREDUCE_REDUCER_H

#include "Simplifications.h"

#include "mlir/IR/OwningOpRef.h"

#include <functional>

namespace shardopt {

/// Simplifies a program as long as a test finds it interesting. Delta
/// debugging: each simplification is tried on all ops at once, then on halves
/// of them, and so on to single ones, until nothing helps any more.
class Reducer {
public:
  using Test = std::function<bool(mlir::ModuleOp)>;

  Reducer(mlir::OwningOpRef<mlir::ModuleOp> module, Test isInteresting)
      : module(std::move(module)), isInteresting(std::move(isInteresting)) {}

  /// The smallest program that was found; the module itself is interesting.
  mlir::ModuleOp run();

  unsigned getNumTests() const { return numTests; }

private:
  /// An op, by its number in the module, and a way to simplify it.
  struct Site {
    unsigned op, way;
  };

  /// Whether anything helped.
  bool runOnce(const Simplification &simplification);
  std::vector<Site> findSites(const Simplification &simplification);
  /// Whether doing this at all of `sites` helps; then it is done.
  bool accept(const Simplification &simplification, llvm::ArrayRef<Site> sites);
  bool accept(mlir::OwningOpRef<mlir::ModuleOp> copy);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  Test isInteresting;
  unsigned numTests = 0;
};

} // namespace shardopt

#endif // SHARDOPT_TOOLS_SHARDREDUCE_REDUCER_H
