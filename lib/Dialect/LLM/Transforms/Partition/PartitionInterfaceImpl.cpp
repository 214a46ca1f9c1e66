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

} // namespace

void llm::registerPartitionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, LLMDialect *) {
#define LLM_ATTACH_MODEL(OP) OP::attachInterface<Model<OP>>(*context);
    LLM_PARTITIONED_OPS(LLM_ATTACH_MODEL)
#undef LLM_ATTACH_MODEL
  });
}
