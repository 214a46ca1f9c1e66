//===- StrategyAttributes.cpp - Strategies as attributes ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

const char *shardopt::spell(Dim dim) {
  static constexpr const char *names[] = {"0", "1", "none", "3",
                                          "4", "5", "6",    "7"};
  static_assert(std::size(names) == maxDims, "a name for each dim");
  return names[size_t(dim)];
}

Annotation::Annotation(const Strategy &strategy)
    : degrees(strategy.degrees),
      dims(strategy.dims.begin(), strategy.dims.end()) {}

std::optional<Strategy> Annotation::strategy() const {
  if (degrees.firstMissing())
    return std::nullopt;
  Strategy strategy{degrees.filled(), {}};
  for (std::optional<Dim> dim : dims) {
    if (!dim)
      return std::nullopt;
    strategy.dims.push_back(*dim);
  }
  return strategy;
}

std::string Annotation::firstMissing(const ModuleModel &model) const {
  if (std::optional<Degree> missing = degrees.firstMissing())
    return std::string("'") + spell(*missing) + "' of '" +
           strategyAttrName.str() + "'";
  for (auto [node, dim] : llvm::zip_equal(model.model.nodesByVariable(), dims))
    if (!dim)
      return "'sharding' of '" + node->name + "'";
  return "";
}

Annotation shardopt::readAnnotation(ModuleOp module, const ModuleModel &model) {
  Annotation annotation;
  annotation.degrees = llm::readStrategy(module);
  for (const std::vector<ShardableOpInterface> &ops : model.ops) {
    ShardableOpInterface first = ops.front();
    annotation.dims.push_back(first.getShardingDim());
  }
  return annotation;
}

void shardopt::writeAnnotation(ModuleOp module, const ModuleModel &model,
                               const Annotation &annotation) {
  PartialDegrees degrees = annotation.degrees;
  if (degrees.stages.isEven() &&
      degrees.stages.total() == model.model.numLayers())
    degrees.stages = {};
  if (!degrees.isEmpty())
    module->setAttr(strategyAttrName,
                    StrategyAttr::get(module.getContext(), degrees));
  else
    module->removeAttr(strategyAttrName);
  module->removeAttr(serviceAttrName);
  for (auto [ops, dim] : llvm::zip_equal(model.ops, annotation.dims))
    for (ShardableOpInterface op : ops)
      op.setShardingDim(dim);
}

unsigned shardopt::dropAnnotation(ModuleOp module) {
  unsigned removed = 0;
  for (StringRef name : {strategyAttrName, serviceAttrName})
    if (module->removeAttr(name))
      ++removed;
  module.walk([&](ShardableOpInterface op) {
    if (!op.getShardingDim())
      return;
    op.setShardingDim(std::nullopt);
    ++removed;
  });
  return removed;
}
