//===- LoweredModule.cpp - What a partitioned module records --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoweredModule.h"

#include "shardopt/Analysis/StrategyAttributes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

std::optional<Degrees> llm::recordedDegrees(ModuleOp module) {
  auto strategy =
      module->getAttrOfType<DictionaryAttr>(loweredStrategyAttrName);
  if (!strategy)
    return std::nullopt;
  PartialDegrees degrees;
  for (Degree degree : allDegrees)
    if (auto value = strategy.getAs<IntegerAttr>(spell(degree)))
      degrees[degree] = value.getInt();
  return degrees.filled();
}

cost::Workload llm::recordedWorkload(ModuleOp module) {
  cost::Workload workload;
  workload.context = 1;
  auto fields = module->getAttrOfType<DictionaryAttr>("shardopt.workload");
  if (!fields)
    return workload;
  if (auto phase = fields.getAs<StringAttr>("phase");
      phase && phase.getValue() == "prefill")
    workload.phase = cost::Phase::Prefill;
  if (auto context = fields.getAs<IntegerAttr>("context"))
    workload.context = context.getInt();
  return workload;
}
