//===- DropSharding.cpp - Remove the strategy from a module ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_DROPSHARDINGPASS
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

class DropShardingPass
    : public ListsOptions<llm::impl::DropShardingPassBase<DropShardingPass>> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (isPartitioned(module)) {
      emitError(module.getLoc(),
                "the module is lowered: its ops have the sizes of one "
                "device, which no strategy can be dropped from");
      return signalPassFailure();
    }
    unsigned removed = dropAnnotation(module);
    if (!removed)
      return markAllAnalysesPreserved();
    remark::passed(module.getLoc(),
                   remark::RemarkOpts::name("dropped").category(getArgument()))
        << remark::metric("attributes", removed);
  }
};

} // namespace
