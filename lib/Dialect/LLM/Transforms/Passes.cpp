//===- Passes.cpp - Registration of the passes ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"

#include "mlir/Pass/PassRegistry.h"

namespace shardopt::llm {
#define GEN_PASS_REGISTRATION
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;

void llm::registerLLMPasses(const StopToken *stop) {
  registerPass([stop] { return createStoppableEvaluateStrategyPass(stop); });
  registerPass([stop] { return createStoppableSearchShardingPass(stop); });
  registerApplyStrategyPass();
  registerDropShardingPass();
  registerLLMCollectivesPasses();
}
