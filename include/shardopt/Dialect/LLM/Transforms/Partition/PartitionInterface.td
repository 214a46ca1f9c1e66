//===- PartitionInterface.td - Ops that can be partitioned -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONINTERFACE_TD
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONINTERFACE_TD

include "mlir/IR/OpBase.td"

def LLM_PartitionOpInterface : OpInterface<"PartitionOpInterface"> {
  let cppNamespace = "::shardopt::llm";
  let description = [{
    A shardable op that can write itself as the program of one device. The
    interface is attached to ops as external models, apart from the dialect.
  }];
  let methods = [
    InterfaceMethod<[{
        Writes the op as the program of one device, at its dim: `partition` has
        the rule and the cost for it, and gives placed operands, slices of
        weights and collectives.
      }],
      "::mlir::LogicalResult", "partition",
      (ins "::shardopt::llm::OpPartition &":$partition)>,
  ];
}

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONINTERFACE_TD
