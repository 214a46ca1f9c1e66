//===- Passes.td - From the llm dialect to linalg -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_LLMTOLINALG_PASSES_TD
#define SHARDOPT_CONVERSION_LLMTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLLMToLinalgPass : Pass<"convert-llm-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Replace the ops of the llm dialect by what they compute";
  let description = [{
    Writes the meaning of every op and piece as `linalg`, `tensor`, `arith`, `math` and
    `scf` on tensors, in f32: all narrower floats of the module are widened first,
    those of function types, constants and collectives too. A repeat becomes a
    loop over its stacked values, in which bufferization updates the caches where
    they lie; run `cse` after it, which finds that what would be copied is in its
    place already. Collectives stay, and `llm.all_to_all_v` with them.

    Weights are values here: an `llm.param` that is left is an error.

    Input:

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<?x4xbf16> {
      %y = llm.linear "proj" %x, %w : tensor<?x8xbf16> -> tensor<?x4xbf16>
      return %y : tensor<?x4xbf16>
    }
    ```

    Output:

    ```mlir
    func.func @f(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
      %c0 = arith.constant 0 : index
      %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
      %zero = arith.constant 0.0 : f32
      %0 = tensor.empty(%rows) : tensor<?x4xf32>
      %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<?x4xf32>) -> tensor<?x4xf32>
      %y = linalg.matmul ins(%x, %w : tensor<?x8xf32>, tensor<8x4xf32>) outs(%1 : tensor<?x4xf32>) -> tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }
    ```
  }];
  let options = [
    Option<"keepValues", "keep-values", "bool", "false",
      "Call the runtime with the result of every named op, to compare two executions">,
    Option<"routing", "routing", "::shardopt::llm::Routing",
      "::shardopt::llm::Routing::Model",
      "Who chooses experts",
      [{::llvm::cl::values(
        clEnumValN(::shardopt::llm::Routing::Model, "model", "the router"),
        clEnumValN(::shardopt::llm::Routing::Balanced, "balanced",
                   "the row's number, in turn: all experts get as much"))}]>,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def AnnotateShardPass : Pass<"llm-annotate-shard", "::mlir::ModuleOp"> {
  let summary = "Write dense ops as linalg with annotations of the shard dialect";
  let description = [{
    Replaces an annotated program by functions that upstream's
    `sharding-propagation` and `shard-partition` take. Each is a run of GEMMs, norms
    and sums, unsharded, of f32 and a known number of rows. `shard.shard`
    says the layout of each argument, of what ops read and make, and of each result;
    `shard.grid` is that of `--llm-insert-collectives`.

    Gate and up, and queries, keys and values are arguments and results of their own, as
    no layout of the joined matrix is even blocks. Arguments have a
    `shardopt.slice`, so that the partitioned function can be executed, and in
    `shardopt.tensor` the name of the checkpoint's tensor.

    Attention, routing, experts, the embedding and the head are left out. A remark
    names each of them, and each op that stays replicated since tp does not divide it.

    Input:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
      func.func @f(%x: tensor<?x32xf32>, %w: tensor<80x32xf32>, %a: tensor<?x80xf32>) -> tensor<?x32xf32> {
        %0 = llm.ffn_down "ffn_down" dim<0> %a, %w : tensor<?x80xf32> -> tensor<?x32xf32>
        return %0 : tensor<?x32xf32>
      }
    }
    ```

    Output (shortened):

    ```
    shard.grid @grid(shape = 1x1x2)
    func.func @ffn_down(%x0: tensor<8x80xf32>, %w1: tensor<80x32xf32>) -> tensor<8x32xf32> {
      %s = shard.sharding @grid split_axes = [[], [2]] : !shard.sharding
      %a = shard.shard %x0 to %s annotate_for_users : tensor<8x80xf32>
      ...
      %y = linalg.matmul ins(%a, %w : ...) outs(%zeros : ...) -> tensor<8x32xf32>
    ```
  }];
  let options = [
    Option<"rows", "rows", "int64_t", "0",
      "Rows of a function (default: those of a micro-batch of one replica)">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::shard::ShardDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // SHARDOPT_CONVERSION_LLMTOLINALG_PASSES_TD
