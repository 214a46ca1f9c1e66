//===- ExecutionPasses.td - Passes on the way to execution -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_TD
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_TD

include "mlir/Pass/PassBase.td"

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
      %y = llm.repeat 2 init(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32> {
      ^bb0(%r: tensor<?x8xf32>):
        %w = llm.param @proj {layers = array<i64: 4, 5>, source = {parts = [{pattern = "layers.{layer}.proj"} ]}} : tensor<8x8xf32>
        %0 = llm.linear %r, %w {name = "proj"} : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
        llm.yield %0 : tensor<?x8xf32>
      }
      return %y : tensor<?x8xf32>
    }
    ```

    Output:

    ```mlir
    func.func @f(%x: tensor<?x8xf32>, %proj: tensor<2x8x8xf32> {llm.layers = array<i64: 4, 5>, llm.param = "proj", llm.role = "param", llm.source = {parts = [{pattern = "layers.{layer}.proj"} ]}}) -> tensor<?x8xf32> {
      %y = llm.repeat 2 init(%x) stacked(%proj) : (tensor<?x8xf32>, tensor<2x8x8xf32>) -> tensor<?x8xf32> {
      ^bb0(%r: tensor<?x8xf32>, %w: tensor<8x8xf32>):
        %0 = llm.linear %r, %w {name = "proj"} : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
        llm.yield %0 : tensor<?x8xf32>
      }
      return %y : tensor<?x8xf32>
    }
    ```
  }];
}

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_TD
