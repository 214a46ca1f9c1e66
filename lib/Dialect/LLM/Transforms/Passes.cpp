//===- Passes.cpp - Registration of the passes ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/PartitionInterface.h"
#include "shardopt/Dialect/LLM/Transforms/ServingPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace shardopt::llm {
#define GEN_PASS_REGISTRATION
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// `--llm-shard-pipeline`: its options are those of the search. The
/// collectives take what they share.
static void registerShardPipeline(const PlanningHost &host) {
  registerPassPipeline(
      "llm-shard-pipeline",
      "Search the sharding, insert the collectives and optimise them; takes "
      "the options of llm-search-sharding",
      [host](OpPassManager &manager, StringRef options,
             function_ref<LogicalResult(const Twine &)> errorHandler) {
        FailureOr<InsertCollectivesPassOptions> collectives =
            addSearchShardingPass(manager, options, errorHandler, host);
        if (failed(collectives))
          return failure();
        manager.addPass(createInsertCollectivesPass(*collectives));
        manager.addPass(createOptimizeCollectivesPass(
            {collectives->machine, collectives->commModel}));
        return success();
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> describe) {
        describe(EmptyPipelineOptions());
      });
}

void llm::registerPasses(const PlanningHost &host) {
  registerPass([host] { return createEvaluateStrategyPass(host); });
  registerPass([host] { return createSearchShardingPass(host); });
  registerPass([host] { return createScheduleStagesPass(host); });
  registerPass([host] { return createPlanServingPass(host); });
  registerApplyStrategyPass();
  registerDropShardingPass();
  registerSeparateLayersPass();
  registerExportProblemPass();
  registerLLMCollectivesPasses();
  registerLLMExecutionPasses();
  registerShardPipeline(host);
}

void llm::registerPassDialects(DialectRegistry &registry) {
  registry.insert<LLMDialect, arith::ArithDialect, func::FuncDialect,
                  shard::ShardDialect, tensor::TensorDialect>();
  registerPartitionModels(registry);
}
