//===- WorkloadDictionary.cpp - A workload in builtin form ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/WorkloadDictionary.h"

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

void llm::replaceWorkload(ModuleOp module) {
  auto workload = module->getAttrOfType<WorkloadAttr>(workloadAttrName);
  if (!workload)
    return;
  Builder builder(module.getContext());
  StringAttr phase = builder.getStringAttr(stringifyPhase(workload.getPhase()));
  IntegerAttr context = builder.getI64IntegerAttr(workload.getContextLength());
  module->setAttr(
      "shardopt.workload",
      builder.getDictionaryAttr({builder.getNamedAttr("phase", phase),
                                 builder.getNamedAttr("context", context)}));
  module->removeAttr(workloadAttrName);
}
