// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope | FileCheck %s --implicit-check-not="shard.{{all|reduce}}"

// What a repeat carries lies as the body's first norm wants it, so that layers
// follow each other without a reshard between them.

module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// Rows are cut before the loop and in it: partial sums are scattered by rows, and
// the residual stays where it is.
// CHECK-LABEL: @anchor_t(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[REPEAT:.*]] = llm.repeat 2 {{.*}}init(%{{.*}} = %[[PART]] : tensor<?x8xf32>)
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %{{.*}} weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[NORM]] on @grid grid_axes = [2] split_axis = 1 concat_axis = 0 {{.*}}cause = "a"{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[MOVED]][0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xf32> to tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %[[A]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[PADDED1]] on @grid grid_axes = [2] scatter_axis = 0 {{.*}}cause = "layer_exit"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ADDED:.*]] = llm.add %{{.*}}, %[[PART1]] : tensor<?x8xf32>
// CHECK: llm.yield %[[ADDED]] : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[REPEAT]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE1:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE1]]
func.func @anchor_t(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %n = llm.param @norm : tensor<8xf32>
    %0 = llm.rms_norm "norm" dim<0> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %w = llm.param @w : tensor<8x8xf32>
    %1 = llm.linear "a" dim<0> %0, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    %2 = llm.add %r, %1 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// Features are cut: the sum lies in blocks of features.
// CHECK-LABEL: @anchor_h(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[REPEAT:.*]] = llm.repeat 2 {{.*}}init(%{{.*}} = %[[PART]] : tensor<?x2xf32>)
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %{{.*}} : tensor<?x2xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SQUARES]] on @grid grid_axes = [2] {{.*}}cause = "norm"{{.*}} : tensor<?x1xf32> -> tensor<?x1xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %{{.*}}, %[[SUM]], %{{.*}}size = 8{{.*}} : tensor<?x2xf32>, tensor<?x1xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[NORMED]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[A]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "layer_exit"{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[ADDED:.*]] = llm.add %{{.*}}, %[[PART1]] : tensor<?x2xf32>
// CHECK: llm.yield %[[ADDED]] : tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[REPEAT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @anchor_h(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %n = llm.param @norm : tensor<8xf32>
    %0 = llm.rms_norm "norm" dim<1> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %w = llm.param @w : tensor<8x8xf32>
    %1 = llm.linear "a" dim<0> %0, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    %2 = llm.add %r, %1 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// A partial sum is reduced before the residual is added.
// CHECK-LABEL: @anchor_r(
// CHECK: %[[REPEAT:.*]] = llm.repeat 2 {{.*}}init(%{{.*}} = %{{.*}} : tensor<?x8xf32>)
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %{{.*}} weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[NORM]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "layer_exit"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ADDED:.*]] = llm.add %{{.*}}, %[[SUM]] : tensor<?x8xf32>
// CHECK: llm.yield %[[ADDED]] : tensor<?x8xf32>
// CHECK: return %[[REPEAT]]
func.func @anchor_r(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %n = llm.param @norm : tensor<8xf32>
    %0 = llm.rms_norm "norm" dim<none> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %w = llm.param @w : tensor<8x8xf32>
    %1 = llm.linear "a" dim<0> %0, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    %2 = llm.add %r, %1 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// The second stack wants another layout: one reshard between the two.
// CHECK-LABEL: @two_stacks(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[REPEAT:.*]] = llm.repeat 2 {{.*}}init(%{{.*}} = %[[PART]] : tensor<?x8xf32>)
// CHECK: %[[DENSE_NORM:.*]] = llm.rms_norm {{.*}} %{{.*}} weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ADDED:.*]] = llm.add %{{.*}}, %[[DENSE_NORM]] : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[REPEAT]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "layer_exit"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: %[[REPEAT1:.*]] = llm.repeat 3 {{.*}}init(%{{.*}} = %[[TRUE]] : tensor<?x8xf32>)
// CHECK: %[[MOE_NORM:.*]] = llm.rms_norm {{.*}} %{{.*}} weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ADDED1:.*]] = llm.add %{{.*}}, %[[MOE_NORM]] : tensor<?x8xf32>
// CHECK: return %[[REPEAT1]]
func.func @two_stacks(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %n = llm.param @dense.norm : tensor<8xf32>
    %0 = llm.rms_norm "dense.norm" dim<0> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %2 = llm.add %r, %0 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  %z = llm.repeat 3 layers<2-4> init(%r = %y : tensor<?x8xf32>) {
    %n = llm.param @moe.norm : tensor<8xf32>
    %0 = llm.rms_norm "moe.norm" dim<none> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %2 = llm.add %r, %0 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %z : tensor<?x8xf32>
}

// Without a loop a sum lies as the norm that follows wants it.
// CHECK-LABEL: @flat_program(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %[[A]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART2:.*]] = shard.reduce_scatter %[[PADDED1]] on @grid grid_axes = [2] scatter_axis = 0 {{.*}}cause = "layer_exit"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ADDED:.*]] = llm.add %[[PART1]], %[[PART2]] : tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[ADDED]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @flat_program(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = llm.add %x, %0 : tensor<?x8xf32>
  %2 = llm.rms_norm "norm" dim<0> %1 weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// Routed and shared experts that lie alike are added first, and the sum is
// reduced once.
// CHECK-LABEL: @alike_summands(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[ROUTED:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SHARED:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[ADDED:.*]] = llm.add %[[ROUTED]], %[[SHARED]] : tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[ADDED]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ADDED1:.*]] = llm.add %{{.*}}, %[[SUM]] : tensor<?x8xf32>
// CHECK: return %[[ADDED1]]
func.func @alike_summands(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "routed" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = llm.linear "shared" dim<0> %x, %v : tensor<?x8xf32> -> tensor<?x8xf32>
  %2 = llm.add %0, %1 : tensor<?x8xf32>
  %3 = llm.add %x, %2 : tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// Those that do not are each brought to where the sum is wanted.
// CHECK-LABEL: @unlike_summands(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[ROUTED:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SHARED:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[ROUTED]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[SHARED]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[ADDED:.*]] = llm.add %[[SUM]], %[[ALL]] : tensor<?x8xf32>
// CHECK: %[[ADDED1:.*]] = llm.add %{{.*}}, %[[ADDED]] : tensor<?x8xf32>
// CHECK: return %[[ADDED1]]
func.func @unlike_summands(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "routed" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = llm.linear "shared" dim<1> %x, %v : tensor<?x8xf32> -> tensor<?x8xf32>
  %2 = llm.add %0, %1 : tensor<?x8xf32>
  %3 = llm.add %x, %2 : tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}

// Params in the body say which part of a layer's tensor they are, ...
// CHECK-LABEL: @params(
// CHECK: llm.param @w : tensor<8x2xf32> from "layers.{layer}.w" {shardopt.slice = {dims = [{}, {axis = "tp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 2, 2, 1>], [array<i64: 4, 2, 1>], [array<i64: 6, 2, 1>]]}], name = "w", shape = array<i64: 8, 8>}}
// CHECK: shard.all_gather
func.func @params(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %w = llm.param @w : tensor<8x8xf32> from "layers.{layer}.w"
    %1 = llm.linear "a" dim<1> %r, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    %2 = llm.add %r, %1 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// ... one from outside is cut in front of the loop, ...
// CHECK-LABEL: @param_from_outside(
// CHECK: %[[W:.*]] = llm.param @w : tensor<8x2xf32>
// CHECK: llm.repeat
// CHECK: llm.linear {{.*}} %{{.*}}, %[[W]]
// CHECK: shard.all_gather
func.func @param_from_outside(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = llm.param @w : tensor<8x8xf32>
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) {
    %1 = llm.linear "a" dim<1> %r, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    %2 = llm.add %r, %1 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// ... and stacks of weights and caches are cut as their slices are, behind the
// layers.
// CHECK-LABEL: @stacked_arguments(
// CHECK-SAME: %[[K:[a-z0-9]*]]: tensor<2x?x?x1x4xf32> {shardopt.slice = {dims = [{}, {rows = ["ep"]}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 1, 1>], [array<i64: 1, 1, 1>], [array<i64: 2, 1, 1>], [array<i64: 3, 1, 1>]]}, {}], name = "arg1", shape = array<i64: 2, -1, -1, 4, 4>}}
// CHECK-SAME: tensor<2x?x?x1x4xf32>
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<2x8x12xf32> {shardopt.slice = {dims = [{}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 4, 1, 3, 16>], [array<i64: 4, 4, 1, 3, 16>], [array<i64: 8, 4, 1, 3, 16>], [array<i64: 12, 4, 1, 3, 16>]]}], name = "arg3", shape = array<i64: 2, 8, 48>}}
// CHECK-SAME: -> (tensor<?x8xf32> {{.*}}, tensor<2x?x?x1x4xf32> {shardopt.slice = {dims = [{}, {rows = ["ep"]}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 1, 1>], [array<i64: 1, 1, 1>], [array<i64: 2, 1, 1>], [array<i64: 3, 1, 1>]]}, {}], name = "arg1", shape = array<i64: 2, -1, -1, 4, 4>}}
// CHECK: llm.repeat 2 {{.*}}init(%{{.*}} = %{{.*}} : tensor<?x8xf32>) caches(%[[KEYS:.*]] = %[[K]] : tensor<2x?x?x1x4xf32>, %[[VALUES:.*]] = %{{.*}} : tensor<2x?x?x1x4xf32>) stacked(%[[WEIGHT:.*]] = %[[W]] : tensor<2x8x12xf32>) invariants(%[[POSITIONS:.*]] = %{{.*}} : tensor<?xi32>) {
// CHECK: %[[QKV:.*]] = llm.qkv_proj {{.*}} %{{.*}}, %[[WEIGHT]]
// CHECK: %{{.*}}, %[[NEW_0:.*]], %[[NEW_1:.*]] = llm.attention gqa {{.*}} %[[QKV]] at(%[[POSITIONS]]) cache(%[[KEYS]], %[[VALUES]])
// CHECK: shard.all_reduce
// CHECK: llm.yield %{{.*}}, %[[NEW_0]], %[[NEW_1]]
func.func @stacked_arguments(%x: tensor<?x8xf32>, %k: tensor<2x?x?x4x4xf32>, %v: tensor<2x?x?x4x4xf32>, %w: tensor<2x8x48xf32>, %o: tensor<16x8xf32>, %p: tensor<?xi32>) -> (tensor<?x8xf32>, tensor<2x?x?x4x4xf32>, tensor<2x?x?x4x4xf32>) {
  %y:3 = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) caches(%kc = %k : tensor<2x?x?x4x4xf32>, %vc = %v : tensor<2x?x?x4x4xf32>) stacked(%wl = %w : tensor<2x8x48xf32>) invariants(%at = %p : tensor<?xi32>) {
    %0 = llm.qkv_proj "qkv_proj" dim<1> %r, %wl {heads = 4, kv_heads = 4, head_dim = 4} : tensor<?x8xf32> -> tensor<?x48xf32>
    %1:3 = llm.attention gqa "attention" dim<0> %0 at(%at) cache(%kc, %vc) {heads = 4, kv_heads = 4, head_dim = 4, group = 1, scale = 0.5} : tensor<?x48xf32>, tensor<?x?x4x4xf32> -> tensor<?x16xf32>
    %2 = llm.out_proj "out_proj" dim<0> %1#0, %o {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
    %3 = llm.add %r, %2 : tensor<?x8xf32>
    llm.yield %3, %1#1, %1#2 : tensor<?x8xf32>, tensor<?x?x4x4xf32>, tensor<?x?x4x4xf32>
  }
  return %y#0, %y#1, %y#2 : tensor<?x8xf32>, tensor<2x?x?x4x4xf32>, tensor<2x?x?x4x4xf32>
}

// The last layer's sum is made in the loop like any other, and then resharded for
// the head.
// CHECK-LABEL: @head_after_the_loop(
// CHECK: shard.all_slice
// CHECK: %[[LAST:.*]] = llm.repeat
// CHECK: llm.yield
// CHECK: %[[ALL:.*]] = shard.all_gather %[[LAST]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "lm_head"
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]]
// CHECK: llm.rms_norm {{.*}} %[[TRUE]] weight
// CHECK: shard.all_gather {{.*}}cause = "lm_head"
func.func @head_after_the_loop(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %h: tensor<8x12xf32>) -> tensor<?xi32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %n = llm.param @norm : tensor<8xf32>
    %0 = llm.rms_norm "norm" dim<0> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %2 = llm.add %r, %0 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  %ids = llm.lm_head "lm_head" dim<1> %y norm(%g) weight(%h) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x12xf32> -> tensor<?xi32>
  return %ids : tensor<?xi32>
}

// Where layers do nothing to the residual, it lies as what follows them wants it.
// CHECK-LABEL: @passed_on(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: llm.repeat 2 {{.*}}init(%{{.*}} = %[[PART]] :
// CHECK: llm.add %{{.*}}, %{{.*}} : tensor<?x2xf32>
// CHECK: shard.all_reduce {{.*}}cause = "passed"
// CHECK: shard.all_gather {{.*}}cause = "return"
func.func @passed_on(%x: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) {
    %2 = llm.add %r, %r : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  %z = llm.rms_norm "passed" dim<1> %y weight(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// Ops of other dialects see complete values.
// CHECK-LABEL: @other_dialects(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "negf"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[B:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[B]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @other_dialects(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = arith.negf %0 : tensor<?x8xf32>
  %2 = llm.linear "b" dim<1> %1, %v : tensor<?x8xf32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

}
