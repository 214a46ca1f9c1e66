//===- Writers.h - Solutions as annotations ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_WRITERS_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_WRITERS_H

#include "FactorGraph.h"

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::graphs {

/// Adds the mesh as `shard.grid`, and returns its name.
mlir::FlatSymbolRefAttr writeShardGrid(mlir::ModuleOp module, const Mesh &mesh);
inline constexpr llvm::StringLiteral sdyAttrName = "sdy.sharding";
/// Adds the mesh as `sdy.mesh`.
void writeSdyMesh(mlir::ModuleOp module, const Mesh &mesh);
/// Writes `sdy.sharding` on arguments, results and ops, and constraints.
void writeSdy(mlir::func::FuncOp func, const FactorGraph &graph,
              const solve::Solution &solution, const Mesh &mesh);

/// Writes `shard.shard` on every value and operand.
void writeShard(const FactorGraph &graph, const solve::Solution &solution,
                const Mesh &mesh, mlir::FlatSymbolRefAttr grid);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_WRITERS_H
