// How tensors of a checkpoint are sharded, by the slices of a program of one device: even
// blocks, copies of neighbours, several matrices in one tensor, columns that stand in
// turn, a summand, uneven parts.

// RUN: shard-opt %s --llm-export-shardings=shardings=- -o %t | FileCheck %s
// RUN: shard-opt %s -o %t.same
// RUN: diff %t %t.same
// RUN: not shard-opt %s --llm-export-shardings 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: echo 'module {}' | not shard-opt --llm-export-shardings=shardings=- 2>&1 | FileCheck %s --check-prefix=PLAIN

// NOWHERE: error: 'shardings' is missing, expected the file to write to
// PLAIN: error: the module has no 'shardopt.strategy', expected a module of --llm-insert-collectives

// CHECK: "grid": [1, 1, 4]
// CHECK-NEXT: "groups": {"tp": [2], "cp": [], "dp": [], "ep": []

module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 1 : i64, tp = 4 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @f() {
    // CHECK: {"name": "up.weight", "layers": [], "dims": [{"size": 10, "axis": "tp", "held": "blocks", "ways": 4}, {"size": 6}]}
    %0 = llm.param @up : tensor<6x3xf32> from "up.weight" transposed {shardopt.slice = {dims = [{}, {axis = "tp", runs = [[array<i64: 0, 3, 1>], [array<i64: 3, 3, 1>], [array<i64: 6, 3, 1>], [array<i64: 9, 1, 1>, array<i64: -1, 2, 1>]]}], name = "up", shape = array<i64: 6, 10>}}
    // CHECK: {"name": "q.weight", "layers": [], "dims": [{"size": 8, "axis": "tp", "held": "blocks", "ways": 4}, {"size": 6}]}
    // CHECK: {"name": "k.weight", "layers": [], "dims": [{"size": 4, "axis": "tp", "held": "blocks", "ways": 2}, {"size": 6}]}
    %1 = llm.param @qk : tensor<6x4xf32> from dim 1 [8 of "q.weight" transposed, 4 of "k.weight" transposed] {shardopt.slice = {dims = [{}, {axis = "tp", runs = [[array<i64: 0, 2, 1>, array<i64: 8, 2, 1>], [array<i64: 2, 2, 1>, array<i64: 8, 2, 1>], [array<i64: 4, 2, 1>, array<i64: 10, 2, 1>], [array<i64: 6, 2, 1>, array<i64: 10, 2, 1>]]}], name = "qk", shape = array<i64: 6, 12>}}
    // CHECK: {"name": "fused.weight", "layers": [], "dims": [{"size": 8, "axis": "tp", "held": "mixed", "ways": 4}, {"size": 6}]}
    %2 = llm.param @fused : tensor<6x2xf32> from "fused.weight" transposed {shardopt.slice = {dims = [{}, {axis = "tp", runs = [[array<i64: 0, 1, 1, 2, 4>], [array<i64: 1, 1, 1, 2, 4>], [array<i64: 2, 1, 1, 2, 4>], [array<i64: 3, 1, 1, 2, 4>]]}], name = "fused", shape = array<i64: 6, 8>}}
    // CHECK: {"name": "turns.weight", "layers": [], "dims": [{"size": 6}, {"size": 8, "axis": "tp", "held": "blocks", "ways": 4}]}
    %3 = llm.param @turns : tensor<6x2xf32> from "turns.weight" deinterleaved {shardopt.slice = {dims = [{}, {axis = "tp", runs = [[array<i64: 0, 1, 1, 2, 4>], [array<i64: 1, 1, 1, 2, 4>], [array<i64: 2, 1, 1, 2, 4>], [array<i64: 3, 1, 1, 2, 4>]]}], name = "turns", shape = array<i64: 6, 8>}}
    // CHECK: {"name": "bias", "layers": [], "dims": [{"size": 6, "axis": "tp", "held": "first", "ways": 1}]}
    %4 = llm.param @bias : tensor<6xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [[array<i64: 0, 6, 1>], [array<i64: -1, 6, 1>], [array<i64: -1, 6, 1>], [array<i64: -1, 6, 1>]]}], name = "bias", shape = array<i64: 6>}}
    // CHECK: {"name": "heads.weight", "layers": [], "dims": [{"size": 12, "axis": "tp", "held": "uneven", "ways": 1}, {"size": 6}]}
    %5 = llm.param @heads : tensor<6x4xf32> from "heads.weight" transposed {shardopt.slice = {dims = [{}, {axis = "tp", runs = [[array<i64: 0, 4, 1>], [array<i64: 4, 4, 1>], [array<i64: 8, 4, 1>], [array<i64: -1, 4, 1>]]}], name = "heads", shape = array<i64: 6, 12>}}
    return
  }
}
