//===- InterfaceOpModel.h - An op of a module as an op model ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_ANALYSIS_INTERFACEOPMODEL_H
#define SHARDOPT_LIB_ANALYSIS_INTERFACEOPMODEL_H

#include "shardopt/Cost/OpModel.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

namespace shardopt {

/// Asks an op of a module through its two interfaces. The op must not change
/// while it is asked; asking reads the IR only, from any thread.
class InterfaceOpModel final : public cost::OpModel {
public:
  explicit InterfaceOpModel(mlir::Operation *op)
      : shardable(mlir::cast<llm::ShardableOpInterface>(op)),
        costed(mlir::cast<llm::CostOpInterface>(op)) {}

  cost::Rule rule(Dim dim, Span<const cost::Placement> incoming,
                  const cost::Context &context) const override {
    llm::ShardableOpInterface op = shardable;
    return op.getRule(dim, {incoming.data(), incoming.size()}, context);
  }

  cost::OpCost cost(Dim dim, Span<const cost::Placement> incoming,
                    const cost::Context &context) const override {
    llm::CostOpInterface op = costed;
    return op.getCost(dim, {incoming.data(), incoming.size()}, context);
  }

  bool dependsOnWindow() const override {
    return mlir::isa<llm::AttentionOp>(costed.getOperation());
  }

private:
  llm::ShardableOpInterface shardable;
  mutable llm::CostOpInterface costed;
};

} // namespace shardopt

#endif // SHARDOPT_LIB_ANALYSIS_INTERFACEOPMODEL_H
