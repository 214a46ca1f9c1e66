// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope --split-input-file | FileCheck %s --implicit-check-not="shard.{{all|reduce}}" \
// RUN:   --implicit-check-not=select_columns --implicit-check-not=tensor.concat

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// Four heads and two kv heads of four features over two devices: a device's
// weight has its heads of queries, then of keys, then of values, and its caches
// have its kv heads.
// CHECK-LABEL: @heads(
// CHECK-SAME: tensor<8x16xf32> {shardopt.slice = {dims = [{}, {axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>, array<i64: 16, 4, 1, 2, 8>], [array<i64: 8, 8, 1>, array<i64: 20, 4, 1, 2, 8>]]}], name = "arg1", shape = array<i64: 8, 32>}}
// CHECK-SAME: tensor<?x?x1x4xf32> {shardopt.slice = {dims = [{rows = ["ep"]}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 1, 1>], [array<i64: 1, 1, 1>]]}, {}], name = "arg3", shape = array<i64: -1, -1, 2, 4>}}
// CHECK-SAME: tensor<?x?x1x4xf32>
// CHECK-SAME: tensor<8x8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>], [array<i64: 8, 8, 1>]]}, {}], name = "arg5", shape = array<i64: 16, 8>}}
// CHECK-SAME: -> (tensor<?x8xf32> {{.*}}, tensor<?x?x1x4xf32> {shardopt.slice = {dims = [{rows = ["ep"]}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 1, 1>], [array<i64: 1, 1, 1>]]}, {}], name = "arg3", shape = array<i64: -1, -1, 2, 4>}}
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %{{.*}}, %{{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[QKV_PROJ]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x16xf32>, tensor<?x?x1x4xf32> -> tensor<?x8xf32>
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj {{.*}} %[[RESULT]], %{{.*}}heads = 2{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[OUT_PROJ]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]], %[[ATTENTION_0]], %[[ATTENTION_1]]
func.func @heads(%x: tensor<?x8xf32>, %w: tensor<8x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %o: tensor<16x8xf32>) -> (tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) {
  %0 = llm.qkv_proj "qkv_proj" dim<1> %x, %w {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1:3 = llm.attention gqa "attention" dim<0> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  %2 = llm.out_proj "out_proj" dim<0> %1#0, %o {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
  return %2, %1#1, %1#2 : tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
}

// Out of a partial sum every part is scattered by itself; a device's heads are
// its queries, keys and values one behind the other.
// CHECK-LABEL: @heads_of_a_partial_sum(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %[[PART]], %{{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x4xf32> -> tensor<?x32xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[QKV_PROJ]] {{.*}}runs = array<i64: 0, 8, 1, 1, 0, 16, 4, 1, 2, 8, 8, 8, 1, 1, 0, 20, 4, 1, 2, 8>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[SELECTED]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "attention"{{.*}} : tensor<?x32xf32> -> tensor<?x16xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[PART1]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x16xf32>, tensor<?x?x1x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: return %[[ALL]]
func.func @heads_of_a_partial_sum(%x: tensor<?x8xf32>, %w: tensor<8x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>) -> tensor<?x16xf32> {
  %0 = llm.qkv_proj "qkv_proj" dim<0> %x, %w {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1:3 = llm.attention gqa "attention" dim<0> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// With one kv head for both devices the queries are scattered, but keys and
// values, which both need, are all-reduced.
// CHECK-LABEL: @replicated_kv_heads_of_a_partial_sum(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %[[PART]], %{{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 1{{.*}} : tensor<?x4xf32> -> tensor<?x24xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[QKV_PROJ]] {{.*}}runs = array<i64: 0, 16, 1, 1, 0>{{.*}} : tensor<?x24xf32> -> tensor<?x16xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[SELECTED]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "attention"{{.*}} : tensor<?x16xf32> -> tensor<?x8xf32>
// CHECK: %[[SELECTED1:.*]] = llm.select_columns %[[QKV_PROJ]] {{.*}}runs = array<i64: 16, 8, 1, 1, 0>{{.*}} : tensor<?x24xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SELECTED1]] on @grid grid_axes = [2] {{.*}}cause = "attention"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SELECTED2:.*]] = llm.select_columns %[[SUM]] {{.*}}runs = array<i64: 0, 8, 1, 2, 0>{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[PART2:.*]] = shard.all_slice %[[SELECTED2]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x16xf32> -> tensor<?x8xf32>
// CHECK: %[[JOINED:.*]] = tensor.concat dim(1) %[[PART1]], %[[PART2]] : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x16xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[JOINED]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x16xf32>, tensor<?x?x1x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: return %[[ALL]]
func.func @replicated_kv_heads_of_a_partial_sum(%x: tensor<?x8xf32>, %w: tensor<8x24xf32>, %p: tensor<?xi32>, %k: tensor<?x?x1x4xf32>, %v: tensor<?x?x1x4xf32>) -> tensor<?x16xf32> {
  %0 = llm.qkv_proj "qkv_proj" dim<0> %x, %w {heads = 4, kv_heads = 1, head_dim = 4} : tensor<?x8xf32> -> tensor<?x24xf32>
  %1:3 = llm.attention gqa "attention" dim<0> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 1, head_dim = 4, group = 4, scale = 0.5} : tensor<?x24xf32>, tensor<?x?x1x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// Heads that are cut come from complete features by a choice of columns.
// CHECK-LABEL: @heads_of_complete_rows(
// CHECK: %[[SELECTED:.*]] = llm.select_columns %{{.*}}runs = array<i64: 0, 8, 1, 1, 0, 16, 4, 1, 2, 8, 8, 8, 1, 1, 0, 20, 4, 1, 2, 8>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xf32> -> tensor<?x16xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[PART]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x16xf32>, tensor<?x?x1x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: return %[[ALL]]
func.func @heads_of_complete_rows(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<0> %x at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// Complete features come of heads in their original order.
// CHECK-LABEL: @attention_none_after_heads(
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %{{.*}}, %{{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[QKV_PROJ]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "attention"{{.*}} : tensor<?x16xf32> -> tensor<?x32xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 8, 1, 2, 16, 8, 4, 1, 2, 16, 12, 4, 1, 2, 16>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[SELECTED]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
// CHECK: return %[[RESULT]]
func.func @attention_none_after_heads(%x: tensor<?x8xf32>, %w: tensor<8x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>) -> tensor<?x16xf32> {
  %0 = llm.qkv_proj "qkv_proj" dim<1> %x, %w {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1:3 = llm.attention gqa "attention" dim<none> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// On a block of rows attention has whole heads, the positions of its rows (those
// of padding have none: -1) and a cache that is cut by sequences over tp too.
// CHECK-LABEL: @attention_none_of_blocks(
// CHECK-SAME: tensor<?x?x2x4xf32> {shardopt.slice = {dims = [{rows = ["ep", "tp"]}, {}, {}, {}], name = "arg4", shape = array<i64: -1, -1, 2, 4>}}
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %[[NORM]], %{{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: %[[CMINUS1:.*]] = arith.constant -1 : i32
// CHECK: %[[PADDED1:.*]] = tensor.pad %{{.*}} low[0] high[%{{.*}}]
// CHECK: tensor.yield %[[CMINUS1]] : i32
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?xi32> -> tensor<?xi32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[QKV_PROJ]] at(%[[PART1]]) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x16xf32> -> tensor<?x16xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 16] [1, 1] : tensor<?x16xf32> to tensor<?x16xf32>
// CHECK: return %[[TRUE]]
func.func @attention_none_of_blocks(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>) -> tensor<?x16xf32> {
  %a = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %0 = llm.qkv_proj "qkv_proj" dim<none> %a, %w {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1:3 = llm.attention gqa "attention" dim<none> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// Every device has two of the four features of every head: the pair (0, 2) or
// (1, 3). Partial scores are summed up before the softmax, and rotary angles
// count from the device's first pair. The weight of out_proj follows that order.
// CHECK-LABEL: @pairs(
// CHECK-SAME: tensor<8x16xf32> {shardopt.slice = {dims = [{}, {axis = "tp", runs = [{{\[}}array<i64: 0, 16, 2>], [array<i64: 1, 16, 2>]]}], name = "arg1", shape = array<i64: 8, 32>}}
// CHECK-SAME: tensor<?x?x2x2xf32> {shardopt.slice = {dims = [{rows = ["ep"]}, {}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 2, 2>], [array<i64: 1, 2, 2>]]}], name = "arg3", shape = array<i64: -1, -1, 2, 4>}}
// CHECK-SAME: tensor<?x?x2x2xf32>
// CHECK-SAME: tensor<8x8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 2>], [array<i64: 1, 8, 2>]]}, {}], name = "arg5", shape = array<i64: 16, 8>}}
// CHECK: %[[RANK:.*]] = shard.process_multi_index on @grid axes = [2] : index
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %{{.*}}, %{{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[QKV_PROJ]] {{.*}}runs = array<i64: 0, 12, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED1:.*]] = llm.select_columns %[[QKV_PROJ]] {{.*}}runs = array<i64: 12, 4, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[RANK]], %[[C1]] : index
// CHECK: %[[SCORES:.*]], %[[NEW_CACHE:.*]] = llm.attention_scores %[[SELECTED]] at(%{{.*}}) cache(%{{.*}}) pair_offset(%[[OFFSET]]) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x12xf32> -> tensor<?x4x?xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SCORES]] on @grid grid_axes = [2] {{.*}}cause = "attention"{{.*}} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
// CHECK: %[[RESULT:.*]], %[[NEW_CACHE1:.*]] = llm.attention_values %[[SUM]], %[[SELECTED1]] at(%{{.*}}) cache(%{{.*}}) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x4x?xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj {{.*}} %[[RESULT]], %{{.*}}heads = 4{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM1:.*]] = shard.all_reduce %[[OUT_PROJ]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM1]], %[[NEW_CACHE]], %[[NEW_CACHE1]]
func.func @pairs(%x: tensor<?x8xf32>, %w: tensor<8x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %o: tensor<16x8xf32>) -> (tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) {
  %0 = llm.qkv_proj "qkv_proj" dim<1> %x, %w {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1:3 = llm.attention gqa "attention" dim<1> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, rope = #llm.rope<dim = 4, theta = 1.0e4>} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  %2 = llm.out_proj "out_proj" dim<0> %1#0, %o {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
  return %2, %1#1, %1#2 : tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
}

// The norms of heads whose features are cut share an all-reduce; their weights
// are cut like a head.
// CHECK-LABEL: @norms_of_pairs(
// CHECK-SAME: tensor<2xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 2, 2>], [array<i64: 1, 2, 2>]]}], name = "arg4", shape = array<i64: 4>}}
// CHECK-SAME: tensor<2xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %{{.*}}runs = array<i64: 0, 16, 2, 2, 1>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xf32> -> tensor<?x16xf32>
// CHECK: %[[SELECTED1:.*]] = llm.select_columns %[[PART]] {{.*}}runs = array<i64: 0, 12, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED2:.*]] = llm.select_columns %[[PART]] {{.*}}runs = array<i64: 12, 4, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: %[[SELECTED3:.*]] = llm.select_columns %[[SELECTED1]] {{.*}}runs = array<i64: 0, 8, 1, 1, 0>{{.*}} : tensor<?x12xf32> -> tensor<?x8xf32>
// CHECK: %[[SELECTED5:.*]] = llm.select_columns %[[SELECTED1]] {{.*}}runs = array<i64: 8, 4, 1, 1, 0>{{.*}} : tensor<?x12xf32> -> tensor<?x4xf32>
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %[[SELECTED1]] {{.*}}groups = 6{{.*}} : tensor<?x12xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SQUARES]] on @grid grid_axes = [2] {{.*}}cause = "attention"{{.*}} : tensor<?x6xf32> -> tensor<?x6xf32>
// CHECK: %[[SELECTED4:.*]] = llm.select_columns %[[SUM]] {{.*}}runs = array<i64: 0, 4, 1, 1, 0>{{.*}} : tensor<?x6xf32> -> tensor<?x4xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[SELECTED3]], %[[SELECTED4]], %{{.*}}size = 4{{.*}} : tensor<?x8xf32>, tensor<?x4xf32>
// CHECK: %[[SELECTED6:.*]] = llm.select_columns %[[SUM]] {{.*}}runs = array<i64: 4, 2, 1, 1, 0>{{.*}} : tensor<?x6xf32> -> tensor<?x2xf32>
// CHECK: %[[NORMED1:.*]] = llm.scale_norm %[[SELECTED5]], %[[SELECTED6]], %{{.*}}size = 4{{.*}} : tensor<?x4xf32>, tensor<?x2xf32>
// CHECK: %[[JOINED:.*]] = tensor.concat dim(1) %[[NORMED]], %[[NORMED1]] : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x12xf32>
// CHECK: %[[SCORES:.*]], %{{.*}} = llm.attention_scores %[[JOINED]] at(%{{.*}}) cache(%{{.*}}) pair_offset(%{{.*}}) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x12xf32> -> tensor<?x4x?xf32>
// CHECK: %[[SUM1:.*]] = shard.all_reduce %[[SCORES]] on @grid grid_axes = [2] {{.*}}cause = "attention"{{.*}} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.attention_values %[[SUM1]], %[[SELECTED2]] at(%{{.*}}) cache(%{{.*}}) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x4x?xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[SELECTED7:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 2, 8, 8, 1>{{.*}} : tensor<?x16xf32> -> tensor<?x16xf32>
// CHECK: return %[[SELECTED7]]
func.func @norms_of_pairs(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %q: tensor<4xf32>, %n: tensor<4xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) q_norm(%q) k_norm(%n) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, epsilon = 1.0e-6} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// Sinks have one entry a head: that of a device's heads, or all where heads are
// cut. Windows stay with the softmax.
// CHECK-LABEL: @sinks_of_heads(
// CHECK-SAME: tensor<2xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 2, 2, 1>]]}], name = "arg4", shape = array<i64: 4>}}
// CHECK: %[[SELECTED:.*]] = llm.select_columns %{{.*}}runs = array<i64: 0, 8, 1, 1, 0, 16, 4, 1, 2, 8, 8, 8, 1, 1, 0, 20, 4, 1, 2, 8>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xf32> -> tensor<?x16xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[PART]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) sinks(%{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x16xf32>, tensor<?x?x1x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: return %[[ALL]]
func.func @sinks_of_heads(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %s: tensor<4xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<0> %x at(%p) cache(%k, %v) sinks(%s) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, window = 8} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// CHECK-LABEL: @sinks_of_pairs(
// CHECK-SAME: tensor<4xf32> {shardopt.slice = {dims = [{}], name = "arg4", shape = array<i64: 4>}}
// CHECK: %[[SELECTED:.*]] = llm.select_columns %{{.*}}runs = array<i64: 0, 16, 2, 2, 1>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xf32> -> tensor<?x16xf32>
// CHECK: %[[SELECTED1:.*]] = llm.select_columns %[[PART]] {{.*}}runs = array<i64: 0, 12, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED2:.*]] = llm.select_columns %[[PART]] {{.*}}runs = array<i64: 12, 4, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: %[[SCORES:.*]], %{{.*}} = llm.attention_scores %[[SELECTED1]] at(%{{.*}}) cache(%{{.*}}) pair_offset(%{{.*}}) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}}window = 8{{.*}} : tensor<?x12xf32> -> tensor<?x4x?xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SCORES]] on @grid grid_axes = [2] {{.*}}cause = "attention"{{.*}} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.attention_values %[[SUM]], %[[SELECTED2]] at(%{{.*}}) cache(%{{.*}}) sinks(%{{.*}}) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}}window = 8{{.*}} : tensor<?x4x?xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[SELECTED3:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 2, 8, 8, 1>{{.*}} : tensor<?x16xf32> -> tensor<?x16xf32>
// CHECK: return %[[SELECTED3]]
func.func @sinks_of_pairs(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %s: tensor<4xf32>) -> tensor<?x16xf32> {
  %1:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) sinks(%s) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, window = 8} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

// A bias of fused projections is cut like its columns, and added once to a
// partial sum.
// CHECK-LABEL: @bias_of_heads(
// CHECK-SAME: tensor<16xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>, array<i64: 16, 4, 1, 2, 8>], [array<i64: 8, 8, 1>, array<i64: 20, 4, 1, 2, 8>]]}], name = "arg2", shape = array<i64: 32>}}
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %{{.*}}, %{{.*}} bias(%{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[QKV_PROJ]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x16xf32> -> tensor<?x32xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 8, 1, 2, 16, 8, 4, 1, 2, 16, 12, 4, 1, 2, 16>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: return %[[SELECTED]]
func.func @bias_of_heads(%x: tensor<?x8xf32>, %w: tensor<8x32xf32>, %b: tensor<32xf32>) -> tensor<?x32xf32> {
  %0 = llm.qkv_proj "qkv_proj" dim<1> %x, %w bias(%b) {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// CHECK-LABEL: @bias_of_out_proj_0(
// CHECK-SAME: tensor<8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>], [array<i64: -1, 8, 1>]]}], name = "arg2", shape = array<i64: 8>}}
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x16xf32> -> tensor<?x8xf32>
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj {{.*}} %[[PART]], %{{.*}} bias(%{{.*}}) {{.*}}heads = 2{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[OUT_PROJ]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @bias_of_out_proj_0(%x: tensor<?x16xf32>, %w: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.out_proj "out_proj" dim<0> %x, %w bias(%b) {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// out_proj contracts heads in whatever order they are; otherwise it is given all
// of them in the original one.
// CHECK-LABEL: @out_proj_none_of_heads(
// CHECK: %[[SELECTED:.*]] = llm.select_columns %{{.*}}runs = array<i64: 0, 8, 1, 1, 0, 16, 4, 1, 2, 8, 8, 8, 1, 1, 0, 20, 4, 1, 2, 8>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xf32> -> tensor<?x16xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[PART]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 1{{.*}} : tensor<?x16xf32>, tensor<?x?x1x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "out_proj"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj {{.*}} %[[ALL]], %{{.*}}heads = 4{{.*}} : tensor<?x16xf32> -> tensor<?x8xf32>
// CHECK: return %[[OUT_PROJ]]
func.func @out_proj_none_of_heads(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %o: tensor<16x8xf32>) -> tensor<?x8xf32> {
  %1:3 = llm.attention gqa "attention" dim<0> %x at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  %2 = llm.out_proj "out_proj" dim<none> %1#0, %o {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: @out_proj_1_of_pairs(
// CHECK: %[[SELECTED:.*]] = llm.select_columns %{{.*}}runs = array<i64: 0, 16, 2, 2, 1>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xf32> -> tensor<?x16xf32>
// CHECK: %[[SELECTED1:.*]] = llm.select_columns %[[PART]] {{.*}}runs = array<i64: 0, 12, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED2:.*]] = llm.select_columns %[[PART]] {{.*}}runs = array<i64: 12, 4, 1, 1, 0>{{.*}} : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: %[[SCORES:.*]], %{{.*}} = llm.attention_scores %[[SELECTED1]] at(%{{.*}}) cache(%{{.*}}) pair_offset(%{{.*}}) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x12xf32> -> tensor<?x4x?xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SCORES]] on @grid grid_axes = [2] {{.*}}cause = "attention"{{.*}} : tensor<?x4x?xf32> -> tensor<?x4x?xf32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.attention_values %[[SUM]], %[[SELECTED2]] at(%{{.*}}) cache(%{{.*}}) {{.*}}head_dim = 2{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x4x?xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "out_proj"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[SELECTED3:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 2, 8, 8, 1>{{.*}} : tensor<?x16xf32> -> tensor<?x16xf32>
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj {{.*}} %[[SELECTED3]], %{{.*}}heads = 4{{.*}} : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[OUT_PROJ]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL1]]
func.func @out_proj_1_of_pairs(%x: tensor<?x32xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>, %o: tensor<16x8xf32>) -> tensor<?x8xf32> {
  %1:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
  %2 = llm.out_proj "out_proj" dim<1> %1#0, %o {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// Six heads, three a kv head, on four devices: heads 0-1, 2-3, 4-5 and none. The
// second device reads both kv heads, so that each has room for two, and which
// of them a head reads depends on the device.
// CHECK-LABEL: @kv_heads_that_touch(
// CHECK-SAME: tensor<8x24xf32> {shardopt.slice = {dims = [{}, {axis = "tp", runs = [
// CHECK-SAME: {{\[}}array<i64: 0, 8, 1>, array<i64: 24, 16, 1>],
// CHECK-SAME: [array<i64: 8, 8, 1>, array<i64: 24, 16, 1>],
// CHECK-SAME: [array<i64: 16, 8, 1>, array<i64: 28, 4, 1>, array<i64: -1, 4, 1>, array<i64: 36, 4, 1>, array<i64: -1, 4, 1>],
// CHECK-SAME: [array<i64: -1, 24, 1>]]}], name = "arg1", shape = array<i64: 8, 40>}}
// CHECK-SAME: tensor<?x?x2x4xf32> {shardopt.slice = {dims = [{rows = ["ep"]}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 0, 2, 1>], [array<i64: 1, 1, 1>, array<i64: -1, 1, 1>], [array<i64: -1, 2, 1>]]}, {}]
// CHECK: %[[RANK:.*]] = shard.process_multi_index on @grid axes = [2] : index
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %{{.*}}, %{{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 2{{.*}} : tensor<?x8xf32> -> tensor<?x24xf32>
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[RANK]], %[[C2]] : index
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[QKV_PROJ]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) head_offset(%[[OFFSET]]) {{.*}}head_dim = 4{{.*}}heads = 2{{.*}}kv_heads = 2{{.*}} : tensor<?x24xf32>, tensor<?x?x2x4xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 24, 1, 1, 0>{{.*}} : tensor<?x32xf32> -> tensor<?x24xf32>
// CHECK: return %[[SELECTED]]
func.func @kv_heads_that_touch(%x: tensor<?x8xf32>, %w: tensor<8x40xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x4xf32>) -> tensor<?x24xf32> {
  %0 = llm.qkv_proj "qkv_proj" dim<1> %x, %w {heads = 6, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x40xf32>
  %1:3 = llm.attention gqa "attention" dim<0> %0 at(%p) cache(%k, %v) {heads = 6, kv_heads = 2, head_dim = 4, group = 3, scale = 0.5} : tensor<?x40xf32>, tensor<?x?x2x4xf32> -> tensor<?x24xf32>
  return %1#0 : tensor<?x24xf32>
}

}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// Latent attention: queries by heads, the latent and its cache on every device,
// the expansion of the latent by heads.
// CHECK-LABEL: @latent_heads(
// CHECK-SAME: tensor<6x12xf32> {shardopt.slice = {dims = [{}, {axis = "tp", runs = [{{\[}}array<i64: 0, 12, 1>], [array<i64: 12, 6, 1>, array<i64: -1, 6, 1>]]}], name = "arg1", shape = array<i64: 6, 18>}}
// CHECK-SAME: tensor<?x?x10xf32> {shardopt.slice = {dims = [{rows = ["ep"]}, {}, {}], name = "arg4", shape = array<i64: -1, -1, 10>}}
// CHECK-SAME: tensor<8x16xf32> {shardopt.slice = {dims = [{}, {axis = "tp", runs = [{{\[}}array<i64: 0, 16, 1>], [array<i64: 16, 8, 1>, array<i64: -1, 8, 1>]]}], name = "arg6", shape = array<i64: 8, 24>}}
// CHECK-SAME: tensor<8x7xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>], [array<i64: 8, 4, 1>, array<i64: -1, 4, 1>]]}, {}], name = "arg7", shape = array<i64: 12, 7>}}
// CHECK: %[[Q_UP:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}}heads = 2{{.*}} : tensor<?x6xf32> -> tensor<?x12xf32>
// CHECK: %[[KV_DOWN:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x6xf32> -> tensor<?x5xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[KV_DOWN]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "attention"{{.*}} : tensor<?x5xf32> -> tensor<?x10xf32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.attention mla {{.*}} %[[Q_UP]], %[[ALL]] at(%{{.*}}) cache(%{{.*}}) kv_norm(%{{.*}}) kv_up(%{{.*}}) {{.*}}heads = 2{{.*}} : tensor<?x12xf32>, tensor<?x?x10xf32> -> tensor<?x8xf32>
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj {{.*}} %[[RESULT]], %{{.*}}heads = 2{{.*}} : tensor<?x8xf32> -> tensor<?x7xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[OUT_PROJ]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x7xf32> -> tensor<?x7xf32>
// CHECK: return %[[SUM]]
func.func @latent_heads(%x: tensor<?x6xf32>, %u: tensor<6x18xf32>, %d: tensor<6x10xf32>, %p: tensor<?xi32>, %c: tensor<?x?x10xf32>, %n: tensor<8xf32>, %w: tensor<8x24xf32>, %o: tensor<12x7xf32>) -> tensor<?x7xf32> {
  %0 = llm.linear "q_up" dim<1> %x, %u {heads = 3} : tensor<?x6xf32> -> tensor<?x18xf32>
  %1 = llm.linear "kv_down" dim<1> %x, %d : tensor<?x6xf32> -> tensor<?x10xf32>
  %2:2 = llm.attention mla "attention" dim<0> %0, %1 at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 3, nope_dim = 4, rope_dim = 2, value_dim = 4, rank = 8, scale = 0.4, kv_norm_epsilon = 1.0e-6} : tensor<?x18xf32>, tensor<?x?x10xf32> -> tensor<?x12xf32>
  %3 = llm.out_proj "out_proj" dim<0> %2#0, %o {heads = 3} : tensor<?x12xf32> -> tensor<?x7xf32>
  return %3 : tensor<?x7xf32>
}

// CHECK-LABEL: @latent_none_of_blocks(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x6xf32> -> tensor<?x6xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x6xf32>
// CHECK: %[[Q_UP:.*]] = llm.linear {{.*}} %[[NORM]], %{{.*}}heads = 3{{.*}} : tensor<?x6xf32> -> tensor<?x18xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "kv_down"{{.*}} : tensor<?x6xf32> -> tensor<?x6xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 6] [1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
// CHECK: %[[KV_DOWN:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x6xf32> -> tensor<?x5xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %[[KV_DOWN]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[PADDED1]] on @grid grid_axes = [2] split_axis = 0 concat_axis = 1 {{.*}}cause = "attention"{{.*}} : tensor<?x5xf32> -> tensor<?x10xf32>
// CHECK: %[[PADDED2:.*]] = tensor.pad %{{.*}} low[0] high[%{{.*}}]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED2]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?xi32> -> tensor<?xi32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.attention mla {{.*}} %[[Q_UP]], %[[MOVED]] at(%[[PART1]]) cache(%{{.*}}) kv_norm(%{{.*}}) kv_up(%{{.*}}) {{.*}}heads = 3{{.*}} : tensor<?x18xf32>, tensor<?x?x10xf32> -> tensor<?x12xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x12xf32> -> tensor<?x12xf32>
// CHECK: %[[TRUE1:.*]] = tensor.extract_slice %[[ALL1]][0, 0] [%{{.*}}, 12] [1, 1] : tensor<?x12xf32> to tensor<?x12xf32>
// CHECK: return %[[TRUE1]]
func.func @latent_none_of_blocks(%x: tensor<?x6xf32>, %g: tensor<6xf32>, %u: tensor<6x18xf32>, %d: tensor<6x10xf32>, %p: tensor<?xi32>, %c: tensor<?x?x10xf32>, %n: tensor<8xf32>, %w: tensor<8x24xf32>) -> tensor<?x12xf32> {
  %a = llm.rms_norm "norm" dim<0> %x weight(%g) {epsilon = 1.0e-5} : tensor<?x6xf32>
  %0 = llm.linear "q_up" dim<none> %a, %u {heads = 3} : tensor<?x6xf32> -> tensor<?x18xf32>
  %1 = llm.linear "kv_down" dim<1> %a, %d : tensor<?x6xf32> -> tensor<?x10xf32>
  %2:2 = llm.attention mla "attention" dim<none> %0, %1 at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 3, nope_dim = 4, rope_dim = 2, value_dim = 4, rank = 8, scale = 0.4, kv_norm_epsilon = 1.0e-6} : tensor<?x18xf32>, tensor<?x?x10xf32> -> tensor<?x12xf32>
  return %2#0 : tensor<?x12xf32>
}

// The inner norm of a product that contracts: of features that are cut, an
// all-reduce of the sums of squares; ...
// CHECK-LABEL: @inner_norm_of_features(
// CHECK-SAME: tensor<5xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 5, 1>], [array<i64: 5, 5, 1>]]}], name = "arg2", shape = array<i64: 10>}}
// CHECK: %[[Q_DOWN:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x6xf32> -> tensor<?x5xf32>
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %[[Q_DOWN]] : tensor<?x5xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SQUARES]] on @grid grid_axes = [2] {{.*}}cause = "q_up"{{.*}} : tensor<?x1xf32> -> tensor<?x1xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[Q_DOWN]], %[[SUM]], %{{.*}}size = 10{{.*}} : tensor<?x5xf32>, tensor<?x1xf32>
// CHECK: %[[Q_UP:.*]] = llm.linear {{.*}} %[[NORMED]], %{{.*}}heads = 3{{.*}} : tensor<?x5xf32> -> tensor<?x18xf32>
// CHECK: %[[SUM1:.*]] = shard.all_reduce %[[Q_UP]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x18xf32> -> tensor<?x18xf32>
// CHECK: return %[[SUM1]]
func.func @inner_norm_of_features(%x: tensor<?x6xf32>, %d: tensor<6x10xf32>, %n: tensor<10xf32>, %u: tensor<10x18xf32>) -> tensor<?x18xf32> {
  %0 = llm.linear "q_down" dim<1> %x, %d : tensor<?x6xf32> -> tensor<?x10xf32>
  %1 = llm.linear "q_up" dim<0> %0, %u norm(%n) {heads = 3, epsilon = 1.0e-6} : tensor<?x10xf32> -> tensor<?x18xf32>
  return %1 : tensor<?x18xf32>
}

// ... of a partial sum, the same, once it is scattered; ...
// CHECK-LABEL: @inner_norm_of_a_partial_sum(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x6xf32> -> tensor<?x3xf32>
// CHECK: %[[Q_DOWN:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x3xf32> -> tensor<?x10xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[Q_DOWN]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "q_up"{{.*}} : tensor<?x10xf32> -> tensor<?x5xf32>
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %[[PART1]] : tensor<?x5xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SQUARES]] on @grid grid_axes = [2] {{.*}}cause = "q_up"{{.*}} : tensor<?x1xf32> -> tensor<?x1xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[PART1]], %[[SUM]], %{{.*}}size = 10{{.*}} : tensor<?x5xf32>, tensor<?x1xf32>
// CHECK: %[[Q_UP:.*]] = llm.linear {{.*}} %[[NORMED]], %{{.*}}heads = 3{{.*}} : tensor<?x5xf32> -> tensor<?x18xf32>
// CHECK: %[[SUM1:.*]] = shard.all_reduce %[[Q_UP]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x18xf32> -> tensor<?x18xf32>
// CHECK: return %[[SUM1]]
func.func @inner_norm_of_a_partial_sum(%x: tensor<?x6xf32>, %d: tensor<6x10xf32>, %n: tensor<10xf32>, %u: tensor<10x18xf32>) -> tensor<?x18xf32> {
  %0 = llm.linear "q_down" dim<0> %x, %d : tensor<?x6xf32> -> tensor<?x10xf32>
  %1 = llm.linear "q_up" dim<0> %0, %u norm(%n) {heads = 3, epsilon = 1.0e-6} : tensor<?x10xf32> -> tensor<?x18xf32>
  return %1 : tensor<?x18xf32>
}

// ... of whole rows, none: they are normed before they are cut; ...
// CHECK-LABEL: @inner_norm_of_complete_rows(
// CHECK: %[[Q_DOWN:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x6xf32> -> tensor<?x10xf32>
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %[[Q_DOWN]] : tensor<?x10xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[Q_DOWN]], %[[SQUARES]], %{{.*}}size = 10{{.*}} : tensor<?x10xf32>, tensor<?x1xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[NORMED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x10xf32> -> tensor<?x5xf32>
// CHECK: %[[Q_UP:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}}heads = 3{{.*}} : tensor<?x5xf32> -> tensor<?x18xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[Q_UP]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x18xf32> -> tensor<?x18xf32>
// CHECK: return %[[SUM]]
func.func @inner_norm_of_complete_rows(%x: tensor<?x6xf32>, %d: tensor<6x10xf32>, %n: tensor<10xf32>, %u: tensor<10x18xf32>) -> tensor<?x18xf32> {
  %0 = llm.linear "q_down" dim<none> %x, %d : tensor<?x6xf32> -> tensor<?x10xf32>
  %1 = llm.linear "q_up" dim<0> %0, %u norm(%n) {heads = 3, epsilon = 1.0e-6} : tensor<?x10xf32> -> tensor<?x18xf32>
  return %1 : tensor<?x18xf32>
}

// ... and where nothing is contracted the norm stays fused.
// CHECK-LABEL: @inner_norm_fused(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x6xf32> -> tensor<?x3xf32>
// CHECK: %[[Q_DOWN:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x3xf32> -> tensor<?x10xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[Q_DOWN]] on @grid grid_axes = [2] {{.*}}cause = "q_up"{{.*}} : tensor<?x10xf32> -> tensor<?x10xf32>
// CHECK: %[[Q_UP:.*]] = llm.linear {{.*}} %[[SUM]], %{{.*}} norm(%{{.*}}) {{.*}}heads = 2{{.*}} : tensor<?x10xf32> -> tensor<?x12xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[Q_UP]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x12xf32> -> tensor<?x24xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 18, 1, 1, 0>{{.*}} : tensor<?x24xf32> -> tensor<?x18xf32>
// CHECK: return %[[SELECTED]]
func.func @inner_norm_fused(%x: tensor<?x6xf32>, %d: tensor<6x10xf32>, %n: tensor<10xf32>, %u: tensor<10x18xf32>) -> tensor<?x18xf32> {
  %0 = llm.linear "q_down" dim<0> %x, %d : tensor<?x6xf32> -> tensor<?x10xf32>
  %1 = llm.linear "q_up" dim<1> %0, %u norm(%n) {heads = 3, epsilon = 1.0e-6} : tensor<?x10xf32> -> tensor<?x18xf32>
  return %1 : tensor<?x18xf32>
}

}
