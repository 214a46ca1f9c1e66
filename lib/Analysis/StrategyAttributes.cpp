//===- StrategyAttributes.cpp - Strategies as attributes ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

const char *shardopt::spell(Dim dim) {
  switch (dim) {
  case Dim::Zero:
    return "0";
  case Dim::One:
    return "1";
  case Dim::None:
    return "none";
  }
  return "";
}

Annotation::Annotation(const Strategy &strategy)
    : tp(strategy.degrees.tp), ep(strategy.degrees.ep), pp(strategy.degrees.pp),
      batch(strategy.degrees.batch),
      dims(strategy.dims.begin(), strategy.dims.end()) {}

std::optional<Strategy> Annotation::strategy() const {
  if (!tp || !ep || !pp || !batch)
    return std::nullopt;
  Strategy strategy{{*tp, *ep, *pp, *batch}, {}};
  for (std::optional<Dim> dim : dims) {
    if (!dim)
      return std::nullopt;
    strategy.dims.push_back(*dim);
  }
  return strategy;
}

std::string Annotation::firstMissing(const ModuleModel &model) const {
  std::pair<const char *, bool> degrees[] = {{"tp", tp.has_value()},
                                             {"ep", ep.has_value()},
                                             {"pp", pp.has_value()},
                                             {"batch", batch.has_value()}};
  for (auto [name, isThere] : degrees)
    if (!isThere)
      return std::string("'") + name + "' of '" + strategyAttrName.str() + "'";
  for (auto [node, dim] :
       ::llvm::zip_equal(model.model.nodesByVariable(), dims))
    if (!dim)
      return "'sharding' of '" + node->name + "'";
  return "";
}

Annotation shardopt::readAnnotation(ModuleOp module, const ModuleModel &model) {
  Annotation annotation;
  if (auto attr = module->getAttrOfType<StrategyAttr>(strategyAttrName)) {
    annotation.tp = attr.getTp();
    annotation.ep = attr.getEp();
    annotation.pp = attr.getPp();
    annotation.batch = attr.getBatch();
  }
  for (const std::vector<ShardableOpInterface> &ops : model.ops) {
    ShardableOpInterface first = ops.front();
    annotation.dims.push_back(first.getShardingDim());
  }
  return annotation;
}

void shardopt::writeAnnotation(ModuleOp module, const ModuleModel &model,
                               const Annotation &annotation) {
  if (annotation.tp || annotation.ep || annotation.pp || annotation.batch)
    module->setAttr(strategyAttrName,
                    StrategyAttr::get(module.getContext(), annotation.tp,
                                      annotation.ep, annotation.pp,
                                      annotation.batch));
  else
    module->removeAttr(strategyAttrName);
  for (auto [ops, dim] : ::llvm::zip_equal(model.ops, annotation.dims))
    for (ShardableOpInterface op : ops)
      op.setShardingDim(dim);
}

unsigned shardopt::dropAnnotation(ModuleOp module) {
  unsigned removed = 0;
  if (module->removeAttr(strategyAttrName))
    ++removed;
  module.walk([&](ShardableOpInterface op) {
    if (!op.getShardingDim())
      return;
    op.setShardingDim(std::nullopt);
    ++removed;
  });
  return removed;
}
