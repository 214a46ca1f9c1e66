//===- Passes.td - From collectives to the runtime -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_SHARDTORUNTIME_PASSES_TD
#define SHARDOPT_CONVERSION_SHARDTORUNTIME_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertShardToRuntimePass
    : Pass<"convert-shard-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Replace collectives by calls of the runtime";
  let description = [{
    Collectives of the `shard` dialect and `llm.all_to_all_v` become calls of private
    functions with MLIR's C interface, one for each collective, element type (f32,
    i32) and rank (1 to 4), on tensors all of whose sizes are dynamic.
    The runtime library has them all. `shard.process_multi_index` and
    `shard.process_linear_index` ask it for the place of the rank;
    `shard.all_slice` is a slice at that place. Sends become calls without a
    result, the order of which is kept.

    Every call passes the axes of its group, four bits each (axis + 1, the first in
    the lowest), and last its site: an index into `shardopt.sites` of the module,
    which says for each call what it was, and keeps its `shardopt.collective`. Sites
    that the module has already stay in front. The shape of the grid becomes
    `shardopt.grid` of the module.

    A module has at most one grid, whose shape is static. Reductions other than sum and
    max, and the ops of `shard` that say how tensors are cut, are errors.

    Input:

    ```mlir
    shard.grid @grid(shape = 1x1x4)
    func.func @f(%x: tensor<?x8xf32>) -> tensor<?x32xf32> {
      %0 = shard.all_gather %x on @grid grid_axes = [2] gather_axis = 1 {shardopt.collective = {bytes = 512 : i64, cause = "ffn_up", charged = true, microseconds = 5.0 : f64, type = bf16}} : tensor<?x8xf32> -> tensor<?x32xf32>
      return %0 : tensor<?x32xf32>
    }
    ```

    Output (the site's collective left out):

    ```mlir
    module attributes {shardopt.grid = array<i64: 1, 1, 4>, shardopt.sites = [{axes = array<i64: 2>, name = "ffn_up", op = "all_gather"} ]} {
      func.func @f(%x: tensor<?x8xf32>) -> tensor<?x32xf32> {
        %dynamic = tensor.cast %x : tensor<?x8xf32> to tensor<?x?xf32>
        %dim = arith.constant 1 : i64
        %axes = arith.constant 3 : i64
        %site = arith.constant 0 : i64
        %0 = call @shardopt_all_gather_f32_2(%dynamic, %dim, %axes, %site) : (tensor<?x?xf32>, i64, i64, i64) -> tensor<?x?xf32>
        %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<?x32xf32>
        return %1 : tensor<?x32xf32>
      }
      func.func private @shardopt_all_gather_f32_2(tensor<?x?xf32> {bufferization.access = "read"}, i64, i64, i64) -> tensor<?x?xf32> attributes {llvm.emit_c_interface}
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // SHARDOPT_CONVERSION_SHARDTORUNTIME_PASSES_TD
