//===- WriteSdy.cpp - Solutions for Shardy --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shardings of arguments, results and ops. Where a reader wants another one
// than was made, a constraint makes it. A loop has none: passes that make its
// invariants free variables would leave too many. Readers of what it carries
// are constrained instead.
//
//===----------------------------------------------------------------------===//

#include "Writers.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

static constexpr StringLiteral meshName = "shardopt_mesh";

/// An attribute of Shardy, whose dialect is not loaded.
static Attribute sdyAttr(MLIRContext *context, const std::string &text) {
  return OpaqueAttr::get(StringAttr::get(context, "sdy"), text,
                         NoneType::get(context));
}

void graphs::writeSdyMesh(ModuleOp module, const Mesh &mesh) {
  MLIRContext *context = module.getContext();
  std::string axes;
  for (const MeshAxis &axis : mesh.axes())
    axes += (axes.empty() ? "\"" : ", \"") + axis.name +
            "\"=" + std::to_string(axis.size);
  OperationState state(module.getLoc(), "sdy.mesh");
  state.propertiesAttr =
      DictionaryAttr::get(context, {{StringAttr::get(context, "mesh"),
                                     sdyAttr(context, "mesh<[" + axes + "]>")},
                                    {StringAttr::get(context, "sym_name"),
                                     StringAttr::get(context, meshName)}});
  OpBuilder::atBlockBegin(module.getBody()).create(state);
  // What XLA reads how many devices it compiles for from.
  constexpr StringLiteral partitions = "mhlo.num_partitions";
  if (module->hasAttr(partitions))
    module->setAttr(partitions, IntegerAttr::get(IntegerType::get(context, 32),
                                                 mesh.devices()));
}

/// `<@mesh, [{"x"}, {}]>`
static std::string spellSharding(const AxisDims &layout, int64_t rank,
                                 const Mesh &mesh) {
  std::string text;
  for (int64_t dim = 0; dim < rank; ++dim) {
    std::string axes;
    for (auto [i, axis] : llvm::enumerate(mesh.axes()))
      if (layout[i] == dim)
        axes += (axes.empty() ? "\"" : ", \"") + axis.name + "\"";
    text += (dim ? ", {" : "{") + axes + "}";
  }
  return ("<@" + meshName + ", [" + text + "]>").str();
}

static int64_t rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

void graphs::writeSdy(func::FuncOp func, const FactorGraph &graph,
                      const solve::Solution &solution, const Mesh &mesh) {
  MLIRContext *context = func.getContext();
  auto one = [&](Value value, const AxisDims &layout) {
    return sdyAttr(context,
                   "sharding" + spellSharding(layout, rankOf(value), mesh));
  };
  std::map<std::pair<void *, AxisDims>, Value> constrained;
  llvm::DenseMap<Value, AxisDims> made;
  llvm::DenseSet<Value> carried;
  auto inLayout = [&](Value value, const AxisDims &layout) {
    if (made.at(value) == layout &&
        (!carried.contains(value) || rankOf(value) == 0))
      return value;
    Value &found = constrained[{value.getAsOpaquePointer(), layout}];
    if (!found) {
      OpBuilder builder(context);
      builder.setInsertionPointAfterValue(value);
      OperationState state(value.getLoc(), "sdy.sharding_constraint", value,
                           value.getType());
      state.propertiesAttr = builder.getDictionaryAttr(
          builder.getNamedAttr("sharding", one(value, layout)));
      found = builder.create(state)->getResult(0);
    }
    return found;
  };
  // What a loop carries reads what its body makes later.
  for (auto [node, choice] : llvm::zip(graph.nodes(), solution))
    for (auto [value, layout] :
         llvm::zip_equal(node.makes, node.strategies[size_t(choice)].results)) {
      made[value] = layout;
      if (node.isCarried)
        carried.insert(value);
    }
  llvm::MapVector<Operation *, std::string> results;
  for (auto [node, choice] : llvm::zip(graph.nodes(), solution)) {
    const NodeStrategy &strategy = node.strategies[size_t(choice)];
    for (auto [operand, layout] :
         llvm::zip_equal(node.reads, strategy.operands)) {
      if (node.op->hasTrait<OpTrait::ReturnLike>())
        func.setResultAttr(operand->getOperandNumber(), sdyAttrName,
                           one(operand->get(), layout));
      operand->set(inLayout(operand->get(), layout));
    }
    for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
      if (isa<OpResult>(value) && !node.isCarried) {
        std::string &each = results[node.op];
        each += (each.empty() ? "" : ", ") +
                spellSharding(layout, rankOf(value), mesh);
      } else if (!node.op) {
        func.setArgAttr(cast<BlockArgument>(value).getArgNumber(), sdyAttrName,
                        one(value, layout));
      }
  }
  for (const auto &[op, each] : results)
    op->setAttr(sdyAttrName,
                sdyAttr(context, "sharding_per_value<[" + each + "]>"));
}
