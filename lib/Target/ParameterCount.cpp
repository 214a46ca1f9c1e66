//===- ParameterCount.cpp - Number of parameters of a module --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Target/ParameterCount.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardopt;

uint64_t shardopt::countParameters(ModuleOp module) {
  uint64_t total = 0;
  module.walk([&](llm::ParamOp param) {
    uint64_t elements = 1;
    if (auto repeat = param->getParentOfType<llm::RepeatOp>())
      elements = repeat.getCount();
    for (int64_t size : cast<RankedTensorType>(param.getType()).getShape())
      elements = llvm::SaturatingMultiply<uint64_t>(elements, size);
    total = llvm::SaturatingAdd(total, elements);
  });
  return total;
}
