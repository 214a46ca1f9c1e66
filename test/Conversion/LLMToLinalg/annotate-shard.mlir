// Runs of dense ops as functions that the stock mlir-opt partitions: GEMMs, norms and sums
// in R, T and H. What it cannot partition is left out, or stays replicated, and is said.

// RUN: split-file %s %t
// RUN: shard-opt %t/network.mlir --llm-annotate-shard | mlir-opt-22 --pass-pipeline='builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),canonicalize,cse)' | FileCheck %t/network.mlir
// RUN: shard-opt %t/network.mlir --llm-annotate-shard | FileCheck %t/network.mlir --check-prefix=ANNOTATED
// RUN: shard-opt %t/network.mlir --llm-annotate-shard=rows=4 | FileCheck %t/network.mlir --check-prefix=ROWS
// RUN: shard-opt %t/odd.mlir --llm-annotate-shard --remarks-filter='.*' -o /dev/null 2>&1 | FileCheck %t/odd.mlir
// RUN: not shard-opt %t/network.mlir --llm-annotate-shard=rows=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not shard-opt %t/nothing.mlir --llm-annotate-shard 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: shard-opt %t/network.mlir --llm-insert-collectives | not shard-opt --llm-annotate-shard 2>&1 | FileCheck %s --check-prefix=LOWERED

// NEGATIVE: error: 'rows' is -1, expected a positive number, or 0 for the strategy's
// NOTHING: error: 'tp' is missing, expected it in 'llm.strategy'
// LOWERED: error: the module is lowered: its ops have the sizes of one device, expected an unsharded one

//--- network.mlir

// 8 rows of one of two replicas. The norm has blocks of them; gate and up are arguments of
// their own; the sum of the partial products is one all-reduce, as
// upstream never scatters what it reduces.
module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 2, pp = 1, batch = 16>} {
  // CHECK: shard.grid @grid(shape = 1x2x4)
  // CHECK: func.func @"ffn_norm-ffn_down"(
  // CHECK-SAME: %[[X:.*]]: tensor<2x32xf32> {shardopt.slice = {dims = [{axis = "tp"
  // CHECK-SAME: %{{.*}}: tensor<32x20xf32> {shardopt.slice = {{.*}}name = "up.0"{{.*}}shardopt.tensor = "gate_proj.weight"
  // CHECK-SAME: %{{.*}}: tensor<32x20xf32> {shardopt.slice = {{.*}}name = "up.1"{{.*}}shardopt.tensor = "up_proj.weight"
  // CHECK-SAME: %{{.*}}: tensor<20x32xf32>
  // CHECK-SAME: -> (tensor<8x32xf32>
  // CHECK: %[[ALL:.*]] = shard.all_gather %{{.*}} on @grid grid_axes = [2] gather_axis = 0 : tensor<2x32xf32> -> tensor<8x32xf32>
  // CHECK: linalg.matmul ins(%[[ALL]], %{{.*}} : tensor<8x32xf32>, tensor<32x20xf32>)
  // CHECK: linalg.matmul ins(%[[ALL]], %{{.*}} : tensor<8x32xf32>, tensor<32x20xf32>)
  // CHECK: %[[SUM:.*]] = shard.all_reduce %{{.*}} on @grid grid_axes = [2] : tensor<8x32xf32> -> tensor<8x32xf32>
  // CHECK-NEXT: return %[[SUM]]
  // ANNOTATED: %[[Y:.*]] = linalg.matmul ins({{.*}}tensor<32x80xf32>)
  // ANNOTATED: linalg.matmul ins({{.*}}tensor<32x80xf32>)
  // ANNOTATED-NEXT: %[[H:.*]] = shard.sharding @grid split_axes = {{\[\[\], \[2\]\]}} : !shard.sharding
  // ANNOTATED-NEXT: shard.shard %[[Y]] to %[[H]] : tensor<8x80xf32>
  // ANNOTATED-NOT: llm.
  // ROWS: func.func @"ffn_norm-ffn_down"(%{{.*}}: tensor<4x32xf32>
  func.func @f(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
    %g = llm.param @norm : tensor<32xf32>
    %n = llm.rms_norm "ffn_norm" dim<0> %x weight(%g) {epsilon = 1.0e-5} : tensor<?x32xf32>
    %u = llm.param @up : tensor<32x160xf32> from dim 1 [80 of "gate_proj.weight" transposed, 80 of "up_proj.weight" transposed]
    %0 = llm.ffn_up "ffn_up" dim<1> %n, %u {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x32xf32> -> tensor<?x80xf32>
    %d = llm.param @down : tensor<80x32xf32>
    %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x80xf32> -> tensor<?x32xf32>
    return %1 : tensor<?x32xf32>
  }
}

//--- odd.mlir

module attributes {llm.strategy = #llm.strategy<tp = 3, ep = 1, pp = 1, batch = 8>} {
  // CHECK: Remark="attn_norm stays replicated: 8 is not divided by tp, which is 3"
  // CHECK: Remark="out_proj stays replicated: 4 is not divided by tp, which is 3"
  // CHECK: Remark="router is left out: it reads rows or caches by index"
  func.func @f(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>, %r: tensor<32x6xf32>) -> tensor<?x32xf32> {
    %g = llm.param @norm : tensor<32xf32>
    %n = llm.rms_norm "attn_norm" dim<0> %x weight(%g) {epsilon = 1.0e-5} : tensor<?x32xf32>
    %o = llm.out_proj "out_proj" dim<0> %n, %w {heads = 4} : tensor<?x32xf32> -> tensor<?x32xf32>
    %t, %i, %s = llm.router "router" %o, %r {scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x32xf32>, tensor<32x6xf32>
    return %t : tensor<?x32xf32>
  }
}

//--- nothing.mlir

module {
}
