//===- PartitionInterfaceImpl.cpp - Models of the ops of the dialect ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/PartitionInterface.h"

#include "PartitionModels.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

#include "shardopt/Dialect/LLM/Transforms/Partition/PartitionInterface.cpp.inc"

namespace {

template <typename OpTy>
struct Model : public PartitionOpInterface::ExternalModel<Model<OpTy>, OpTy> {
  LogicalResult partition(Operation *op, OpPartition &partition) const {
    return llm::partition(cast<OpTy>(op), partition);
  }
};

template <typename... OpTys> void attachModels(MLIRContext &context) {
  (OpTys::template attachInterface<Model<OpTys>>(context), ...);
}

} // namespace

void llm::registerPartitionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LLMDialect *) {
    attachModels<AttentionOp, CombineOp, DispatchOp, EmbeddingOp, FfnDownOp,
                 FfnUpOp, LinearOp, LmHeadOp, OutProjOp, QkvProjOp, RmsNormOp,
                 RouterOp>(*context);
  });
}
