//===- CollectivePasses.td - Passes about collectives -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_COLLECTIVEPASSES_TD
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_COLLECTIVEPASSES_TD

include "mlir/Pass/PassBase.td"

def InsertCollectivesPass : Pass<"llm-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "Write the per-rank program with its collectives";
  let description = [{
    Rewrites an annotated module into the program that every device runs, over a
    `shard.grid` with axes pp, ep and tp. Tensors have the sizes of one device;
    wherever an op needs its operand in another layout there is a collective of
    the `shard` dialect (or `llm.all_to_all_v`, for uneven numbers of rows). Sizes that
    the degrees do not divide are padded.

    Each collective has a `shardopt.collective` with the op that needed it, the
    bytes and the microseconds that the cost model charges, and whether it is
    charged at all; together they are what the report of the strategy has. Params, caches and other arguments say in `shardopt.slice` which
    part of the global tensor they are; ops that make the result of a named op
    say so in `shardopt.value`. Attributes of the module become `shardopt.*`.

    The degree of pipeline parallelism is recorded on the grid;
    `--llm-split-stages` cuts the stages.

    Input:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
      func.func @ffn(%x: tensor<?x32xbf16>, %u: tensor<32x80xbf16>, %d: tensor<80x32xbf16>) -> tensor<?x32xbf16> {
        %0 = llm.ffn_up "ffn_up" dim<1> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x32xbf16> -> tensor<?x80xbf16>
        %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x80xbf16> -> tensor<?x32xbf16>
        return %1 : tensor<?x32xbf16>
      }
    }
    ```

    Output (attributes left out):

    ```
    shard.grid @grid(shape = 1x1x2)
    func.func @ffn(%x: tensor<?x32xbf16>, %u: tensor<32x40xbf16>, %d: tensor<40x32xbf16>) -> tensor<?x32xbf16> {
      %0 = llm.ffn_up %x, %u {...} : (tensor<?x32xbf16>, tensor<32x40xbf16>) -> tensor<?x40xbf16>
      %1 = llm.ffn_down %0, %d {...} : (tensor<?x40xbf16>, tensor<40x32xbf16>) -> tensor<?x32xbf16>
      %2 = shard.all_reduce %1 on @grid grid_axes = [2] {...} : tensor<?x32xbf16> -> tensor<?x32xbf16>
      return %2 : tensor<?x32xbf16>
    }
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", [{""}],
      "Name of a machine, or path of a JSON file (default: `llm.machine` of the module, else h100_sxm)">,
    Option<"commModel", "comm-model", "std::string", [{"fast"}],
      "Collective algorithms: fast, direct or ring">,
    Option<"imbalance", "imbalance", "std::string", [{"model"}],
      "Load of the experts: model (uneven), or none (even)">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::shard::ShardDialect",
    "::mlir::tensor::TensorDialect"];
}

def OptimizeCollectivesPass : Pass<"llm-optimize-collectives", "::mlir::ModuleOp"> {
  let summary = "Replace collectives by cheaper ones";
  let description = [{
    Rewrites the collectives of a partitioned module where the time model of the
    machine says that the result is not slower:

    - an all-reduce of which each device keeps a block is a reduce-scatter;
    - gathering what was sliced, or slicing what was gathered, is nothing;
    - an all-to-all is an all-gather and a slice, or the other way about, whichever
      is cheaper;
    - the sum of two all-reduces (reduce-scatters) is one of the sum;
    - an all-reduce whose result is normed and wanted whole becomes a
      reduce-scatter, the norm of a block, and an all-gather;
    - equal collectives of one value are done once;
    - what does not change from layer to layer is done before the `llm.repeat`.

    Each new collective keeps the cause of the one that it replaces.

    Input:

    ```mlir
    module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 1 : i64, tp = 2 : i64}} {
      shard.grid @grid(shape = 1x1x2)
      func.func @f(%x: tensor<?x32xbf16>) -> tensor<?x16xbf16> {
        %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {bytes = 1024 : i64, cause = "ffn_down", charged = true, microseconds = 5.0 : f64, type = bf16}} : tensor<?x32xbf16> -> tensor<?x32xbf16>
        %1 = shard.all_slice %0 on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xbf16> -> tensor<?x16xbf16>
        return %1 : tensor<?x16xbf16>
      }
    }
    ```

    Output:

    ```mlir
    module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 1 : i64, tp = 2 : i64}} {
      shard.grid @grid(shape = 1x1x2)
      func.func @f(%x: tensor<?x32xbf16>) -> tensor<?x16xbf16> {
        %reduce_scatter = shard.reduce_scatter %x on @grid grid_axes = [2] scatter_axis = 1 {shardopt.collective = {bytes = 1024 : i64, cause = "ffn_down", charged = true, microseconds = 5.001422222222222 : f64, type = bf16}} : tensor<?x32xbf16> -> tensor<?x16xbf16>
        return %reduce_scatter : tensor<?x16xbf16>
      }
    }
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", [{""}],
      "Name of a machine, or path of a JSON file (default: `llm.machine` of the module, else h100_sxm)">,
    Option<"commModel", "comm-model", "std::string", [{"fast"}],
      "Collective algorithms: fast, direct or ring">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::shard::ShardDialect",
    "::mlir::tensor::TensorDialect"];
}

def ExportShardingsPass : Pass<"llm-export-shardings", "::mlir::ModuleOp"> {
  let summary = "Write how each tensor of the checkpoint is sharded";
  let description = [{
    Writes to `shardings`, as JSON, what other partitioners can be told of a
    module of `--llm-insert-collectives`: the sizes of the grid, its axes in
    each group of devices, each tensor of the checkpoint, and the layout of the
    result of each op. The module is not changed.

    A tensor has its `name`, in which `{layer}` and `{expert}` stand for
    numbers, the `layers` that have it, and its dims as the checkpoint has them.
    Experts with tensors of their own are the first dim. A dim has its `size`
    and, unless every device has all of it, the `axis`, and how the devices
    along it hold it (`held`):

    - `blocks`: `ways` groups of neighbours, an even block each, in order;
    - `mixed`: as many entries as in even blocks, but others, as in a tensor
      that joins several;
    - `first`: the first device has everything, since it adds a summand;
    - `uneven`: anything else.

    Input:

    ```mlir
    module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 1 : i64, tp = 2 : i64}} {
      shard.grid @grid(shape = 1x1x2)
      func.func @f() -> tensor<32x40xbf16> {
        %0 = llm.param @ffn_up : tensor<32x40xbf16> from "up_proj.weight" transposed {shardopt.slice = {dims = [{}, {axis = "tp", runs = [[array<i64: 0, 40, 1>], [array<i64: 40, 40, 1>]]} ], name = "ffn_up", shape = array<i64: 32, 80>}}
        return %0 : tensor<32x40xbf16>
      }
    }
    ```

    Output:

    ```json
    {"name": "up_proj.weight", "layers": [], "dims": [{"size": 80, "axis": "tp", "held": "blocks", "ways": 2}, {"size": 32} ]}
    ```
  }];
  let options = [
    Option<"shardings", "shardings", "std::string", [{""}],
      "File to write, as JSON; - for standard output">,
  ];
}

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_COLLECTIVEPASSES_TD
