// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --verify-roundtrip -o /dev/null
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @features
func.func @features(%x: tensor<?x4xbf16>, %y: tensor<?x160xbf16>) {
  // CHECK: llm.select_columns %{{.*}} {runs = array<i64: 0, 2, 2, 2, 1, -1, 2, 1, 1, 0>} : tensor<?x4xbf16> -> tensor<?x6xbf16>
  %0 = llm.select_columns %x {runs = array<i64: 0, 2, 2, 2, 1, -1, 2, 1, 1, 0>} : tensor<?x4xbf16> -> tensor<?x6xbf16>
  // Strides and steps may be negative.
  // CHECK: llm.select_columns %{{.*}} {runs = array<i64: 3, 4, -1, 1, 0>}
  %1 = llm.select_columns %x {runs = array<i64: 3, 4, -1, 1, 0>} : tensor<?x4xbf16> -> tensor<?x4xbf16>
  // CHECK: llm.activation %{{.*}} {activation = #llm.activation<kind = silu, gated = true>, blocks = 2} : tensor<?x160xbf16> -> tensor<?x80xbf16>
  %2 = llm.activation %y {activation = #llm.activation<kind = silu, gated = true>, blocks = 2} : tensor<?x160xbf16> -> tensor<?x80xbf16>
  // CHECK: llm.activation %{{.*}} {activation = #llm.activation<kind = relu>} : tensor<?x160xbf16> -> tensor<?x160xbf16>
  %3 = llm.activation %y {activation = #llm.activation<kind = relu>} : tensor<?x160xbf16> -> tensor<?x160xbf16>
  return
}

// CHECK-LABEL: @norm
func.func @norm(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %v: tensor<4xbf16>) {
  // CHECK: llm.sum_squares %{{.*}} : tensor<?x8xbf16>
  %0 = llm.sum_squares %x : tensor<?x8xbf16>
  // CHECK: llm.scale_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = {{.*}}, size = 16} : tensor<?x8xbf16>, tensor<?x1xf32>
  %1 = llm.scale_norm %x, %0, %w {epsilon = 1.0e-5, size = 16} : tensor<?x8xbf16>, tensor<?x1xf32>
  // CHECK: %[[MOMENTS:.*]] = llm.sum_squares %{{.*}} {sums} : tensor<?x8xbf16>
  %m = llm.sum_squares %x {sums} : tensor<?x8xbf16>
  // CHECK: llm.scale_norm %{{.*}}, %[[MOMENTS]], %{{.*}} bias(%{{.*}}) {epsilon = {{.*}}, size = 16} : tensor<?x8xbf16>, tensor<?x2xf32>
  %d = llm.scale_norm %x, %m, %w bias(%w) {epsilon = 1.0e-5, size = 16} : tensor<?x8xbf16>, tensor<?x2xf32>
  // CHECK: llm.sum_squares %{{.*}} {groups = 2} : tensor<?x8xbf16>
  %2 = llm.sum_squares %x {groups = 2} : tensor<?x8xbf16>
  // CHECK: llm.scale_norm{{.*}} : tensor<?x8xbf16>, tensor<?x2xf32>
  %3 = llm.scale_norm %x, %2, %v {epsilon = 1.0e-5, size = 8} : tensor<?x8xbf16>, tensor<?x2xf32>
  return
}

// CHECK-LABEL: @attention_halves
func.func @attention_halves(%x: tensor<?x40xbf16>, %y: tensor<?x8xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %s: tensor<8xbf16>, %o: index) {
  // CHECK: %[[S:.*]], %{{.*}} = llm.attention_scores %{{.*}} at(%{{.*}}) cache(%{{.*}}) pair_offset(%{{.*}}) {group = 4, head_dim = 4, heads = 8, kv_heads = 2, rope = #llm.rope<{{.*}}>, scale = {{.*}}} : tensor<?x40xbf16> -> tensor<?x8x?xf32>
  %0, %k1 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35, rope = #llm.rope<dim = 8, theta = 1.0e4>} : tensor<?x40xbf16> -> tensor<?x8x?xf32>
  // CHECK: llm.attention_values %[[S]], %{{.*}} at(%{{.*}}) cache(%{{.*}}) {group = 4, head_dim = 4, heads = 8, kv_heads = 2}
  %1, %v1 = llm.attention_values %0, %y at(%p) cache(%k) {heads = 8, kv_heads = 2, head_dim = 4, group = 4} : tensor<?x8x?xf32>, tensor<?x8xbf16> -> tensor<?x32xbf16>
  // CHECK: %[[W:.*]], %{{.*}} = llm.attention_scores {{.*}}window = 128}
  %w, %kw = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35, window = 128} : tensor<?x40xbf16> -> tensor<?x8x?xf32>
  // CHECK: llm.attention_values %[[W]], %{{.*}} at(%{{.*}}) cache(%{{.*}}) sinks(%{{.*}}) {{{.*}}window = 128}
  %2, %v2 = llm.attention_values %w, %y at(%p) cache(%k) sinks(%s) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, window = 128} : tensor<?x8x?xf32>, tensor<?x8xbf16> -> tensor<?x32xbf16>
  // Scores of the whole cache, of which a window is taken.
  // CHECK: llm.attention_values %[[S]], %{{.*}} at(%{{.*}}) cache(%{{.*}}) {{{.*}}window = 128}
  %3, %v3 = llm.attention_values %0, %y at(%p) cache(%k) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, window = 128} : tensor<?x8x?xf32>, tensor<?x8xbf16> -> tensor<?x32xbf16>
  return
}

// The logits of six experts, padded to eight columns.
// CHECK-LABEL: @top_k
func.func @top_k(%l: tensor<?x8xf32>, %c: tensor<6xf32>) {
  // CHECK: llm.top_k %{{.*}} {experts = 6, scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x8xf32>
  %0:2 = llm.top_k %l {experts = 6, scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x8xf32>
  // CHECK: llm.top_k %{{.*}} correction(%{{.*}}) {experts = 6, groups = 3, normalize = true, scale = 2.5, scoring = #llm.scoring<sigmoid>, top_groups = 2, top_k = 4}
  %1:2 = llm.top_k %l correction(%c) {experts = 6, scoring = #llm.scoring<sigmoid>, top_k = 4, normalize = true, groups = 3, top_groups = 2, scale = 2.5} : tensor<?x8xf32>, tensor<6xf32>
  return
}

// CHECK: shard.grid @grid
shard.grid @grid(shape = 1x4x2)

// The way of a token to its experts and back on four times two devices.
// CHECK-LABEL: @exchange
func.func @exchange(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>, %block: index, %recv: tensor<4x2x2xi32>) -> tensor<?x32xbf16> {
  // CHECK: %[[SEND:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
  %send, %o = llm.exchange_plan %i block(%block) : tensor<?x2xi32> -> tensor<4x2x2xi32>
  // CHECK: llm.permute %{{.*}}, %[[ORIGINS]] {top_k = 2} : tensor<?x32xbf16>
  %p = llm.permute %t, %o {top_k = 2} : tensor<?x32xbf16>
  // CHECK: llm.all_to_all_v %{{.*}} send(%[[SEND]]) recv(%{{.*}}) on @grid grid_axes = [1] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x32xbf16>
  %e = llm.all_to_all_v %p send(%send) recv(%recv) on @grid grid_axes = [1] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x32xbf16>
  // CHECK: %[[B:.*]] = llm.block_size %{{.*}} : tensor<4x2x2xi32>
  %b = llm.block_size %recv : tensor<4x2x2xi32>
  // CHECK: %{{.*}}, %{{.*}} = llm.pack_homes %{{.*}}, %{{.*}} block(%[[B]]) : tensor<?x32xbf16>, tensor<4x2x2xi32>
  %h, %homes = llm.pack_homes %e, %recv block(%b) : tensor<?x32xbf16>, tensor<4x2x2xi32>
  // CHECK: llm.unpack_homes %{{.*}}, %{{.*}} : tensor<?x32xbf16>, tensor<4x2x2xi32>
  %u = llm.unpack_homes %h, %recv : tensor<?x32xbf16>, tensor<4x2x2xi32>
  // CHECK: llm.unpermute %{{.*}}, %[[ORIGINS]], %{{.*}} : tensor<?x32xbf16>, tensor<?x2xf32>
  %y = llm.unpermute %u, %o, %w : tensor<?x32xbf16>, tensor<?x2xf32>
  return %y : tensor<?x32xbf16>
}

// CHECK-LABEL: @head
func.func @head(%x: tensor<?x32xbf16>, %l: tensor<?x51xf32>, %c: tensor<?x4xi32>, %o: index) {
  // CHECK: llm.last_rows %{{.*}} offset(%{{.*}}) prompts(%{{.*}}) {sequence = 16} : tensor<?x32xbf16>
  %0 = llm.last_rows %x offset(%o) prompts(%o) {sequence = 16} : tensor<?x32xbf16>
  // CHECK: llm.argmax %{{.*}} offset(%{{.*}}) {vocabulary = 101} : tensor<?x51xf32>
  %1 = llm.argmax %l offset(%o) {vocabulary = 101} : tensor<?x51xf32>
  // CHECK: llm.argmax_merge %{{.*}} : tensor<?x4xi32>
  %2 = llm.argmax_merge %c : tensor<?x4xi32>
  return
}
