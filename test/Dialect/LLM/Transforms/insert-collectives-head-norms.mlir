// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope --split-input-file | FileCheck %s

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// The features of all heads are one row to norm: what a device has of its
// squares is all-reduced, of queries and of keys together.
// CHECK-LABEL: @all_heads(
// CHECK-SAME: tensor<8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>], [array<i64: 8, 8, 1>]]}], name = "arg4", shape = array<i64: 16>}}
// CHECK-SAME: tensor<4xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 4, 1>], [array<i64: 4, 4, 1>]]}], name = "arg5", shape = array<i64: 8>}}
// CHECK: %[[Q:.*]] = llm.sum_squares %{{.*}} : tensor<?x8xf32>
// CHECK: %[[K:.*]] = llm.sum_squares %{{.*}} : tensor<?x4xf32>
// CHECK: %[[BOTH:.*]] = tensor.concat dim(1) %[[Q]], %[[K]] : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
// CHECK: shard.all_reduce %[[BOTH]] on @grid grid_axes = [2] {{.*}}cause = "attention"{{.*}} : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: llm.scale_norm {{.*}}size = 16
// CHECK: llm.scale_norm {{.*}}size = 8
// CHECK: llm.attention gqa
// CHECK-NOT: q_norm
// CHECK-SAME: heads = 2{{.*}} : tensor<?x16xf32>
func.func @all_heads(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %q: tensor<16xf32>, %n: tensor<8xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<heads> %x at(%p) cache(%k, %v) q_norm(%q) k_norm(%n) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, epsilon = 1.0e-6, qk_norm = #llm.head_norm<all_heads>} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// A kv head that both devices have counts on the first of them.
// CHECK-LABEL: @all_heads_of_one_kv_head(
// CHECK: llm.sum_squares
// CHECK: arith.constant dense<{{\[\[}}0], [-1]]> : tensor<2x1xi32>
// CHECK: %[[OWN:.*]] = llm.select_blocks
// CHECK: llm.sum_squares %[[OWN]]
// CHECK: shard.all_reduce {{.*}} : tensor<?x2xf32> -> tensor<?x2xf32>
func.func @all_heads_of_one_kv_head(%x: tensor<?x24xf32>, %p: tensor<?xi32>, %k: tensor<?x?x1x4xf32>, %v: tensor<?x?x1x4xf32>, %q: tensor<16xf32>, %n: tensor<4xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<heads> %x at(%p) cache(%k, %v) q_norm(%q) k_norm(%n) {heads = 4, kv_heads = 1, head_dim = 4, group = 4, scale = 0.5, epsilon = 1.0e-6, qk_norm = #llm.head_norm<all_heads>} : tensor<?x24xf32>, tensor<?x?x1x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// Where pairs are cut, a device has a part of every head.
// CHECK-LABEL: @all_heads_of_pairs(
// CHECK: llm.sum_squares %{{.*}} : tensor<?x8xf32>
// CHECK: llm.sum_squares %{{.*}} : tensor<?x4xf32>
// CHECK: shard.all_reduce {{.*}} : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: llm.attention_scores
func.func @all_heads_of_pairs(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %q: tensor<16xf32>, %n: tensor<8xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<head_dim> %x at(%p) cache(%k, %v) q_norm(%q) k_norm(%n) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, epsilon = 1.0e-6, qk_norm = #llm.head_norm<all_heads>} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// Heads whose mean is subtracted, with weights of their own, need nobody else.
// CHECK-LABEL: @mean_of_heads(
// CHECK: llm.sum_squares {{.*}}groups = 3{{.*}}sums
// CHECK-NOT: shard.all_reduce
// CHECK: llm.scale_norm {{.*}}size = 4, sums
// CHECK: llm.scale_norm {{.*}}size = 4, sums
// CHECK: llm.attention gqa
func.func @mean_of_heads(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %q: tensor<16xf32>, %n: tensor<8xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<heads> %x at(%p) cache(%k, %v) q_norm(%q) k_norm(%n) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, epsilon = 1.0e-6, qk_norm = #llm.head_norm<mean>} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

}
