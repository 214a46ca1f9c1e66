//===- LinalgGraph.h - Linalg functions as selection problems ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes are arguments, ops and the return; strategies say on which dim each of
// their values is sharded over one axis. Time is in picoseconds.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_LINALGGRAPH_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_LINALGGRAPH_H

#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Solvers/Selection/Problem.h"
#include "shardopt/Solvers/Selection/Verify.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace shardopt::graphs {

/// The dim that a value is sharded on; -1: replicated.
using ShardedDim = int;

/// A way to run a node.
struct NodeStrategy {
  double seconds = 0;
  std::vector<ShardedDim> operands; ///< in the order of `GraphNode::reads`
  std::vector<ShardedDim> results;  ///< of tensors
};

struct GraphNode {
  mlir::Operation *op = nullptr; ///< null: an argument
  std::vector<mlir::OpOperand *> reads;
  std::vector<mlir::Value> makes;
  std::vector<NodeStrategy> strategies;
};

/// What a caller says of an argument or a result: a unit attribute, and the
/// number of a dim.
inline constexpr ::llvm::StringLiteral replicatedAttrName =
    "shardopt.replicated";
inline constexpr ::llvm::StringLiteral shardedAttrName = "shardopt.sharded";
/// The layout that they say, if any.
std::optional<ShardedDim> pinOf(mlir::DictionaryAttr attributes);

/// Whether a value has no layout of its own: zeros and empty tensors, which
/// each device makes as it needs them.
bool isFree(mlir::Value value);

/// A function over `devices` devices.
class LinalgGraph {
public:
  /// `remark` gets the ops that are replicated, and why.
  LinalgGraph(
      mlir::func::FuncOp func, const cost::TimeModel &time, int64_t devices,
      llvm::function_ref<void(mlir::Operation *, llvm::StringRef)> remark);

  const std::vector<GraphNode> &nodes() const { return all; }
  /// The instance; `bytes` is the memory of a device.
  solve::Problem problem(double bytes) const;

private:
  struct Reader {
    size_t node, slot; ///< in `GraphNode::reads`
  };

  void addArgument(mlir::func::FuncOp func, mlir::BlockArgument argument);
  void
  addOp(mlir::Operation &op,
        llvm::function_ref<void(mlir::Operation *, llvm::StringRef)> remark);
  void addReturn(mlir::func::FuncOp func, mlir::Operation &op);
  double collective(cost::CollectiveKind kind, double bytes) const;
  double reshard(mlir::Value value, ShardedDim from, ShardedDim to) const;
  double bytesOf(mlir::Value value, ShardedDim dim) const;
  void addEdge(solve::Problem &problem, mlir::Value value) const;

  const cost::TimeModel &time;
  int64_t devices;
  std::vector<GraphNode> all;
  llvm::DenseMap<mlir::Value, size_t> makers; ///< node of each value
  llvm::DenseMap<mlir::Value, std::vector<Reader>> readersOf;
};

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_LINALGGRAPH_H
