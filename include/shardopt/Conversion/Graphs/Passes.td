//===- Passes.td - Shardings of foreign graphs -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_GRAPHS_PASSES_TD
#define SHARDOPT_CONVERSION_GRAPHS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AutoAnnotatePass : Pass<"shard-auto-annotate", "::mlir::ModuleOp"> {
  let summary = "Choose the sharding of functions and annotate it";
  let description = [{
    Takes functions that another compiler made, of tensors of static sizes, and chooses how
    each op is sharded over a `mesh` of one to three axes of devices.

    An op is a list of factors. A factor is a loop of the op: the dims of operands and results
    that it runs over. A strategy assigns a factor, or none, to each axis of the mesh. The dims of the
    factor are then sharded over that axis, and other values are replicated along it. A sum
    over a sharded factor is all-reduced. A linalg op whose maps are projected
    permutations has a factor for each loop. Ops of StableHLO have rules by name; the
    attribute `sdy.sharding_rule` declares the factors of any other op.

    StableHLO is read in generic form (`--allow-unregistered-dialect`). Calls are inlined. Elementwise
    ops are fused: they cost memory traffic only where a value is written or read by another kernel.

    Arguments may have any sharding; results of the function are replicated. The attribute
    `shardopt.replicated` pins an argument, and `shardopt.sharded` an argument or a result: the
    number of a dim, or for several axes `array<i64: 0, -1>`, a dim or -1 for each axis.

    A strategy costs the time of its kernel on one device (`simulator`) and
    of its all-reduces. A value costs the reshards to all layouts in which it is read, by the cheapest
    sequence of all-gathers and all-to-alls along one axis; a slice is free.

    That is a strategy-selection problem, which is solved as by `shard-solve`: the
    cost is the least, or a remark says how near it is. Memory is that of arguments and of
    results that are still read, and has the limit `memory-gb`. `problem` gets the
    instance, in the format of `shard-solve`.

    Layers that repeat, at least 8 ops each, have the same sharding (`share-layers`), so that the search does not grow
    with their number. The bound is then that of such shardings. If they do not fit into memory, each layer has its own.

    The module gets a `shard.grid` and, on every value and operand, `shard.shard`, which
    upstream's `sharding-propagation` and `shard-partition` read. A module of StableHLO
    gets an `sdy.mesh`, `sdy.sharding` on arguments, results and ops, and
    `sdy.sharding_constraint` where a value is resharded.

    An op is replicated, and a remark names it, if its maps are not projected permutations, if it
    is neither linalg nor StableHLO, or if it is a custom call without a rule. So is a factor whose
    size the axis does not divide. Other unknown ops, control flow and dynamic sizes are errors.

    Input:

    ```mlir
    func.func @f(%x: tensor<8x4096xf32> {shardopt.replicated}, %w: tensor<4096x4096xf32>) -> tensor<8x4096xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8x4096xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x4096xf32>) -> tensor<8x4096xf32>
      %y = linalg.matmul ins(%x, %w : tensor<8x4096xf32>, tensor<4096x4096xf32>) outs(%z : tensor<8x4096xf32>) -> tensor<8x4096xf32>
      return %y : tensor<8x4096xf32>
    }
    ```

    Output (shortened): the columns of the weight are sharded, and `%y` is gathered.

    ```
    shard.grid @grid(shape = 8)
    %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
    %w1 = shard.shard %w to %columns : tensor<4096x4096xf32>
    ```
  }];
  let options = [
    Option<"machine", "machine", "std::string", [{"h100_sxm"}],
      "Name of a machine, or path of a JSON file">,
    Option<"simulator", "simulator", "std::string", [{"roofline"}],
      "Times of kernels: roofline, calibrated (measured), or auto: measured where the machine has constants">,
    Option<"meshText", "mesh", "std::string", [{"8"}],
      "Devices along one to three axes, such as 8, 4x2 or data=4,model=2">,
    Option<"memoryGb", "memory-gb", "double", "0",
      "Memory of a device in 1e9 bytes (default: the machine's)">,
    Option<"pins", "pins", "std::string", [{""}],
      "JSON file: axes of each dim of arguments and results, by name">,
    Option<"problem", "problem", "std::string", [{""}],
      "File for the instance of shard-solve; of a module with one function">,
    Option<"report", "report", "std::string", [{""}],
      "JSON file for factors, shardings and costs; of a module with one function">,
    Option<"shareLayers", "share-layers", "bool", "true",
      "Give the ops of repeated layers, and their arguments, the same sharding">,
    Option<"timeLimit", "time-limit", "double", "60", "Seconds of the search, 0 for no limit">,
  ];
  let dependentDialects = ["::mlir::shard::ShardDialect"];
}

#endif // SHARDOPT_CONVERSION_GRAPHS_PASSES_TD
