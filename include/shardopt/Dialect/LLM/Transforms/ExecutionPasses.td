//===- ExecutionPasses.td - Passes on the way to execution -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_TD
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_TD

include "mlir/Pass/PassBase.td"

def SplitStagesPass : Pass<"llm-split-stages", "::mlir::ModuleOp"> {
  let summary = "Write a function for each pipeline stage";
  let description = [{
    Cuts every public function of a partitioned module into the stages that the first
    axis of its grid has. The function `f` goes; `f_stage0`, `f_stage1` and so on, with
    `shardopt.stage = {index, count}`, do what one stage does for one micro-batch:

    - Layers, the iterations of the repeats, are divided as the `stages` of the strategy say,
      else evenly; of those that are left over, the stages just before the last get one each.
      A repeat is cut with its
      `windows` and the `layers` of its params. The first stage has the embedding, the last
      the head.
    - The residual travels, as the loop carries it, by `shard.send` and `shard.recv` over
      the first axis. Where all devices of a tp group hold it whole, and the time model of the
      machine says that it is quicker, each sends a block of the rows, and the receivers
      gather them.
    - Sizes, coordinates, reshards of positions and the like are made again in every stage that
      needs them.
    - Every stage takes tokens and positions, which say how many rows the micro-batch has,
      and those arguments that it reads. It takes and returns the caches of its own layers; the
      last stage returns the other results too. The `shardopt.slice` of a cache says which
      layers each stage has: `{axis = "pp", runs = [...]}`, with an empty list for none.

    A stage may have no layers and pass on what it receives. Where there is one stage, or no
    grid, functions stay as they are and say that they are stage 0 of 1.

    Constraints:
    - (C1) layers are in repeats that stand in the function itself, and nothing there has side
      effects
    - (C2) stacked operands of these repeats are arguments that nothing else reads, or computed
      where one stage has all layers of the repeat
    - (C3) only the residual goes from layers of one stage to ops of another

    Input:

    ```mlir
    module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
      shard.grid @grid(shape = 2x1x1)
      func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
        %y = llm.repeat 3 init(%a = %x : tensor<?x8xf32>) {
          %b = arith.addf %a, %a : tensor<?x8xf32>
          llm.yield %b : tensor<?x8xf32>
        }
        return %y : tensor<?x8xf32>
      }
    }
    ```

    Output:

    ```mlir
    module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
      shard.grid @grid(shape = 2x1x1)
      func.func @f_stage0(%x: tensor<?x8xf32>) attributes {shardopt.stage = {count = 2 : i64, index = 0 : i64}} {
        %c0 = arith.constant 0 : index
        %dim = tensor.dim %x, %c0 : tensor<?x8xf32>
        %layers = llm.repeat 2 layers<0-1> init(%residual = %x : tensor<?x8xf32>) {
          %0 = arith.addf %residual, %residual : tensor<?x8xf32>
          llm.yield %0 : tensor<?x8xf32>
        }
        %send = shard.send %layers on @grid grid_axes = [0] destination = [1] {shardopt.collective = {bytes = 128 : i64, cause = "stage_transfer", charged = true, microseconds = 5.000355555555554 : f64, type = f32}} : (tensor<?x8xf32>) -> tensor<?x8xf32>
        return
      }
      func.func @f_stage1(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {shardopt.stage = {count = 2 : i64, index = 1 : i64}} {
        %c0 = arith.constant 0 : index
        %dim = tensor.dim %x, %c0 : tensor<?x8xf32>
        %0 = tensor.empty(%dim) : tensor<?x8xf32>
        %recv = shard.recv %0 on @grid grid_axes = [0] source = [0] {shardopt.collective = {bytes = 128 : i64, cause = "stage_transfer", charged = false, microseconds = 5.000355555555554 : f64, type = f32}} : (tensor<?x8xf32>) -> tensor<?x8xf32>
        %layers = llm.repeat 1 layers<2> init(%residual = %recv : tensor<?x8xf32>) {
          %1 = arith.addf %residual, %residual : tensor<?x8xf32>
          llm.yield %1 : tensor<?x8xf32>
        }
        return %layers : tensor<?x8xf32>
      }
    }
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", [{""}],
      "Name of a machine, or path of a JSON file (default: `llm.machine` of the module, else h100_sxm)">,
    Option<"commModel", "comm-model", "std::string", [{"fast"}],
      "How collectives are implemented: fast, direct or ring">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::shard::ShardDialect",
    "::mlir::tensor::TensorDialect"];
}

def ParamsToArgumentsPass : Pass<"llm-params-to-arguments", "::mlir::ModuleOp"> {
  let summary = "Make every weight an argument of its function";
  let description = [{
    Every `llm.param` becomes a trailing argument of its function, in the order of
    the program. The argument keeps what the param said:

    - `llm.role = "param"`, and the param's name as `llm.param`;
    - `llm.source`, where there is one;
    - `shardopt.slice`, where there is one: of one layer's tensor, also for a stack;
    - `llm.layers`, exactly when it stands in an `llm.repeat`: the argument is then the
      stack of the weights of these layers, `tensor<count x …>`, and a stacked operand of
      the repeat, after those that it has. A param without `layers` gets the numbers
      of the iterations.

    A function with params must not be called, for its callers have no weights.

    Input:

    ```mlir
    func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %y = llm.repeat 2 layers<4-5> init(%r = %x : tensor<?x8xf32>) {
        %w = llm.param @proj : tensor<8x8xf32> from "layers.{layer}.proj"
        %0 = llm.linear "proj" %r, %w : tensor<?x8xf32> -> tensor<?x8xf32>
        llm.yield %0 : tensor<?x8xf32>
      }
      return %y : tensor<?x8xf32>
    }
    ```

    Output:

    ```mlir
    func.func @f(%x: tensor<?x8xf32>, %proj: tensor<2x8x8xf32> {llm.layers = #llm.layers<4-5>, llm.param = "proj", llm.role = "param", llm.source = {parts = [{pattern = "layers.{layer}.proj"} ]}}) -> tensor<?x8xf32> {
      %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) stacked(%w = %proj : tensor<2x8x8xf32>) {
        %0 = llm.linear "proj" %r, %w : tensor<?x8xf32> -> tensor<?x8xf32>
        llm.yield %0 : tensor<?x8xf32>
      }
      return %y : tensor<?x8xf32>
    }
    ```
  }];
}

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_TD
