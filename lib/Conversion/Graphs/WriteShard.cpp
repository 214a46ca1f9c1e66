//===- WriteShard.cpp - Solutions for upstream's shard dialect ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Writers.h"
#include "shardopt/Conversion/ShardAnnotation.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

FlatSymbolRefAttr graphs::writeShardGrid(ModuleOp module, const Mesh &mesh) {
  SmallVector<int64_t> shape;
  for (const MeshAxis &axis : mesh.axes())
    shape.push_back(axis.size);
  OpBuilder builder(module.getContext());
  auto grid = shard::GridOp::create(builder, module.getLoc(), "grid", shape);
  return FlatSymbolRefAttr::get(
      SymbolTable(module).insert(grid, module.getBody()->begin()));
}

void graphs::writeShard(const FactorGraph &graph,
                        const solve::Solution &solution, const Mesh &mesh,
                        FlatSymbolRefAttr grid) {
  auto annotated = [&](ImplicitLocOpBuilder &b, Value value,
                       const AxisDims &layout, bool forUsers) {
    auto axesOf = [&](int64_t dim) {
      SmallVector<int16_t> axes;
      for (size_t axis = 0; axis < mesh.axes().size(); ++axis)
        if (layout[axis] == dim)
          axes.push_back(int16_t(axis));
      return axes;
    };
    return annotateShard(b, value, grid, axesOf, forUsers);
  };
  llvm::DenseMap<Value, Value> laid;
  for (auto [node, choice] : llvm::zip(graph.nodes(), solution)) {
    const NodeStrategy &strategy = node.strategies[size_t(choice)];
    for (auto [operand, layout] :
         llvm::zip_equal(node.reads, strategy.operands)) {
      ImplicitLocOpBuilder b(node.op->getLoc(), node.op);
      operand->set(annotated(b, laid.lookup(operand->get()), layout,
                             /*forUsers=*/true));
    }
    for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results)) {
      ImplicitLocOpBuilder b(value.getLoc(), value.getContext());
      b.setInsertionPointAfterValue(value);
      laid[value] = annotated(b, value, layout, /*forUsers=*/false);
    }
  }
}
