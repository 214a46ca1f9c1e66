// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope --split-input-file | FileCheck %s --implicit-check-not="shard.{{all|reduce}}" \
// RUN:   --implicit-check-not="llm.{{deal|collect|write}}"

// Prefill with attention of whole heads and cp = tp: positions of prompts are
// dealt to the devices.

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, cp = 2, batch = 3>, llm.workload = #llm.workload<phase = prefill, context = 5>} {

// Queries of own positions meet the keys of all, gathered; the cache keeps those
// of own positions. A prompt of 5 is 3 rows of a device, the last one of them
// padding on the second.
// CHECK-LABEL: @heads(
// CHECK-SAME: tensor<?x?x2x4xf32> {shardopt.slice = {dims = [{rows = ["ep"]}, {stride = "cp"}, {axis = "tp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 0, 2, 1>]]}, {}], name = "arg3"
// CHECK: %[[DEVICE:.*]] = shard.process_multi_index on @grid axes = [2]
// CHECK: %[[PROMPTS:.*]] = arith.divui %{{.*}}, %c5
// CHECK: %[[BLOCK:.*]] = arith.muli %[[PROMPTS]], %c3
// CHECK: %[[DEALT:.*]] = llm.deal_rows %arg0 block(%[[BLOCK]]) {ranks = 2, sequence = 5} : tensor<?x8xf32>
// CHECK: %[[OWN:.*]] = shard.all_slice %[[DEALT]] on @grid grid_axes = [2] slice_axis = 0
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[OWN]] {{.*}}layout = "T", op = "norm", rows = "positions"
// CHECK: %[[QKV:.*]] = llm.qkv_proj {{.*}} %[[NORM]]
// CHECK: %[[KEYS:.*]] = llm.select_columns %[[QKV]] {runs = array<i64: 16, 16, 1, 1, 0>}
// CHECK: %[[ALL:.*]] = shard.all_gather %[[KEYS]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}bytes = 960 : i64, cause = "attention", charged = true
// CHECK: %[[ROWS:.*]] = llm.collect_rows %[[ALL]] rows(%{{.*}}) {ranks = 2, sequence = 5}
// CHECK: %[[CACHES:.*]], %[[VALUES:.*]] = llm.write_cache %[[ROWS]] at(%arg2) cache(%{{.*}}, %{{.*}}) {head_dim = 4, kv_heads = 2, sequence = 5}
// CHECK: %[[HELD:.*]] = tensor.extract_slice %[[CACHES]][0, %[[DEVICE]], 0, 0] {{.*}} [1, 2, 1, 1]
// CHECK: %[[KEPT:.*]] = llm.write_positions %arg3, %[[HELD]] at(%arg2) offset(%[[DEVICE]]) {sequence = 5, stride = 2}
// CHECK: %[[KEPT1:.*]] = llm.write_positions %arg4
// CHECK: %[[PLACES:.*]] = llm.deal_rows %arg2 block(%[[BLOCK]]) {fill = -1, ranks = 2, sequence = 5}
// CHECK: %[[PLACES1:.*]] = shard.all_slice %[[PLACES]]
// CHECK: %[[RESULT:.*]], %{{.*}}, %{{.*}} = llm.attention gqa "attention" dim<none> %[[QKV]] at(%[[PLACES1]]) cache(%[[CACHES]], %[[VALUES]]) {{.*}}heads = 4, kv_heads = 2, {{.*}}sequence = 3
// CHECK: %[[OUT:.*]] = llm.out_proj {{.*}} %[[RESULT]]
// CHECK: %[[SUM:.*]] = shard.all_gather %[[OUT]] {{.*}}cause = "return"
// CHECK: %[[BACK:.*]] = llm.collect_rows %[[SUM]]
// CHECK: return %[[BACK]], %[[KEPT]], %[[KEPT1]]
func.func @heads(%x: tensor<?x8xf32>, %w: tensor<8x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %o: tensor<16x8xf32>, %n: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) {
  %y = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %0 = llm.qkv_proj "qkv_proj" dim<none> %y, %w {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1:3 = llm.attention gqa "attention" dim<none> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, sequence = 5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  %2 = llm.out_proj "out_proj" dim<none> %1#0, %o {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
  return %2, %1#1, %1#2 : tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
}

// Rows that all devices have: nothing is gathered.
// CHECK-LABEL: @complete_rows(
// CHECK: %[[KEYS:.*]] = llm.select_columns %arg0 {runs = array<i64: 16, 16, 1, 1, 0>}
// CHECK: llm.write_cache %[[KEYS]] at(%arg1)
// CHECK-COUNT-2: llm.write_positions
// CHECK: llm.deal_rows %arg1
// CHECK: shard.all_slice
// CHECK: %[[DEALT:.*]] = llm.deal_rows %arg0
// CHECK: %[[OWN:.*]] = shard.all_slice %[[DEALT]]
// CHECK: llm.attention gqa "attention" dim<none> %[[OWN]]
// CHECK: shard.all_gather {{.*}}cause = "return"
// CHECK: llm.collect_rows
func.func @complete_rows(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>) -> (tensor<?x16xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) {
  %1:3 = llm.attention gqa "attention" dim<none> %x at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, sequence = 5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0, %1#1, %1#2 : tensor<?x16xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
}

// Latents are gathered as any rows are.
// CHECK-LABEL: @latents(
// CHECK: %[[DEALT:.*]] = llm.deal_rows %arg1
// CHECK: %[[OWN:.*]] = shard.all_slice %[[DEALT]]
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[OWN]]
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] {{.*}}bytes = 300 : i64, cause = "attention", charged = true
// CHECK: %[[ROWS:.*]] = llm.collect_rows %[[ALL]]
// CHECK: %[[CACHE:.*]] = llm.write_cache %[[ROWS]] at(%arg2) cache(%{{.*}}) kv_norm(%arg4) {kv_norm_epsilon = 1.0e-6, rank = 3, rope_dim = 2, sequence = 5}
// CHECK: %[[KEPT:.*]] = llm.write_positions %arg3
// CHECK: llm.deal_rows %arg2
// CHECK: shard.all_slice
// CHECK: llm.deal_rows %arg0
// CHECK: %[[QUERIES:.*]] = shard.all_slice
// CHECK: llm.attention mla "attention" dim<none> %[[QUERIES]], %[[NORM]] at(%{{.*}}) cache(%[[CACHE]])
// CHECK: shard.all_gather {{.*}}cause = "return"
// CHECK: llm.collect_rows
func.func @latents(%q: tensor<?x12xf32>, %c: tensor<?x5xf32>, %p: tensor<?xi32>, %k: tensor<?x?x5xf32>, %n: tensor<3xf32>, %u: tensor<3x16xf32>, %m: tensor<5xf32>) -> (tensor<?x8xf32>, tensor<?x?x5xf32>) {
  %d = llm.rms_norm "norm" dim<0> %c weight(%m) {epsilon = 1.0e-5} : tensor<?x5xf32>
  %1:2 = llm.attention mla "attention" dim<none> %q, %d at(%p) cache(%k) kv_norm(%n) kv_up(%u) {heads = 2, nope_dim = 4, rope_dim = 2, value_dim = 4, rank = 3, scale = 0.5, kv_norm_epsilon = 1.0e-6, sequence = 5} : tensor<?x12xf32>, tensor<?x?x5xf32> -> tensor<?x8xf32>
  return %1#0, %1#1 : tensor<?x8xf32>, tensor<?x?x5xf32>
}

}
