//===- FactorGraph.h - Functions as selection problems ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nodes are arguments, ops and the return; strategies say in which layout each
// of their values is. Knows ops by their factors alone. Time is in picoseconds.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_FACTORGRAPH_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_FACTORGRAPH_H

#include "Factors.h"
#include "Resharding.h"
#include "shardopt/Solvers/Selection/Problem.h"
#include "shardopt/Solvers/Selection/Verify.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <memory>

namespace shardopt::graphs {

inline int64_t picoseconds(double seconds) {
  return std::llround(seconds * 1e12);
}

/// A way to run a node.
struct NodeStrategy {
  double seconds = 0; ///< of the kernel and of the all-reduces
  std::array<double, mostAxes> reduceSeconds = {}; ///< along each axis
  std::vector<AxisDims> operands; ///< in the order of `GraphNode::reads`
  std::vector<AxisDims> results;  ///< of tensors
  /// The factor that each axis shards; -1: none.
  std::array<int, mostAxes> factors = {-1, -1, -1};
};

struct GraphNode {
  mlir::Operation *op = nullptr; ///< null: an argument
  /// A value that the loop `op` carries: it makes the body's argument and the
  /// result, and reads the first value and what the body yields.
  bool isCarried = false;
  int64_t times = 1; ///< that the node runs
  std::vector<mlir::OpOperand *> reads;
  std::vector<mlir::Value> makes;
  std::vector<NodeStrategy> strategies;
};

/// What a caller says of an argument or a result: a unit attribute, and the dim
/// of each axis of the mesh; a number where it has one axis.
inline constexpr llvm::StringLiteral replicatedAttrName = "shardopt.replicated";
inline constexpr llvm::StringLiteral shardedAttrName = "shardopt.sharded";
/// The layout that they say, if any.
std::optional<AxisDims> pinOf(mlir::DictionaryAttr attributes);

/// A node of the instance that says in which layouts a value exists.
struct ValueCopies {
  size_t maker, slot; ///< in `GraphNode::makes`
  std::vector<AxisDims> layouts;
  size_t largest; ///< set of these that may exist
};

/// Nodes of a loop: those that it carries, and its body.
struct LoopRange {
  size_t begin = 0, end = 0;
};

/// A function over a mesh.
class FactorGraph {
public:
  /// Ops that `factors` lacks are free: each device makes their results as it
  /// needs them.
  FactorGraph(mlir::func::FuncOp func, const FactorMap &factors,
              const cost::TimeModel &time, const Mesh &mesh);

  const std::vector<GraphNode> &nodes() const { return all; }
  /// The nodes of the instance behind ours, once it was made.
  const std::vector<ValueCopies> &copies() const { return allCopies; }
  /// How often a value is made.
  int64_t timesOf(mlir::Value value) const;
  /// The node that makes a value.
  size_t makerOf(mlir::Value value) const { return makers.at(value); }
  /// The instance; `bytes` is the memory of a device. Its first nodes are ours.
  solve::Problem problem(double bytes);
  /// Whether a value has a layout.
  bool hasLayout(mlir::Value value) const { return makers.contains(value); }
  /// What it costs to change the layout of a value.
  Resharding &reshardingOf(mlir::Value value);
  /// What a device holds of a value.
  double bytesOf(mlir::Value value, const AxisDims &layout) const;

private:
  struct Reader {
    size_t node;
    std::vector<size_t> slots; ///< in `GraphNode::reads`
  };
  struct Edge;

  void addArgument(mlir::func::FuncOp func, mlir::BlockArgument argument);
  void addBlock(mlir::func::FuncOp func, mlir::Block &block, int64_t times);
  void addLoop(mlir::func::FuncOp func, mlir::Operation &op, int64_t trips);
  void addOp(mlir::Operation &op, const OpFactors &factors);
  void addReturn(mlir::func::FuncOp func, mlir::Operation &op);
  void findReads(GraphNode &node) const;
  std::optional<NodeStrategy> strategy(const GraphNode &node,
                                       const OpFactors &factors,
                                       std::array<int, mostAxes> chosen) const;
  double kernel(const GraphNode &node, const OpFactors &factors,
                const NodeStrategy &strategy) const;
  void setProduct(cost::Kernel &kernel, const GraphNode &node,
                  const OpFactors &factors, const NodeStrategy &strategy) const;
  bool isInMemory(mlir::Value value) const;

  std::vector<size_t> lastUses() const;
  double heldBytes(const GraphNode &node, const NodeStrategy &strategy) const;
  void addEdges(solve::Problem &problem, size_t maker, size_t slot);
  void addEdge(solve::Problem &problem, const Edge &edge);
  std::vector<AxisDims> layoutsRead(const Edge &edge) const;
  void addCopies(solve::Problem &problem, const Edge &edge,
                 std::vector<AxisDims> wanted, size_t largest);

  const FactorMap &factors;
  const cost::TimeModel &time;
  const Mesh &mesh;
  /// By type.
  llvm::DenseMap<mlir::Type, std::unique_ptr<Resharding>> reshardings;
  std::vector<GraphNode> all;
  std::vector<ValueCopies> allCopies;
  std::vector<LoopRange> loops;
  llvm::DenseMap<mlir::Block *, int64_t> timesOfBlocks;
  llvm::DenseMap<mlir::Value, size_t> makers; ///< node of each value
  llvm::DenseMap<mlir::Value, std::vector<Reader>> readersOf;
};

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_FACTORGRAPH_H
