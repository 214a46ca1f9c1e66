// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope | FileCheck %s --implicit-check-not="shard.{{all|reduce}}" \
// RUN:   --implicit-check-not=select_columns --implicit-check-not="= llm.activation"

module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>} {

// The two ways to shard a feed-forward network: the products contract what they
// cut, and one all-reduce sums up, ...
// CHECK-LABEL: @up_1_down_0(
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_DOWN]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @up_1_down_0(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<1> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// ... or both cut what they produce, and an all-gather follows each.
// CHECK-LABEL: @up_1_down_1(
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[FFN_UP]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "ffn_down"{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ALL]], %{{.*}} : tensor<?x32xf32> -> tensor<?x2xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[FFN_DOWN]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL1]]
func.func @up_1_down_1(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<1> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<1> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// The activation of a partial sum follows its reduction.
// CHECK-LABEL: @up_0_down_0(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x32xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[FFN_UP]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "ffn_down"{{.*}} : tensor<?x32xf32> -> tensor<?x8xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[PART1]] {{.*}}activation = #llm.activation<kind = gelu>{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ACTIVATED]], %{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_DOWN]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @up_0_down_0(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<0> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @up_0_down_1(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x32xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_UP]] on @grid grid_axes = [2] {{.*}}cause = "ffn_down"{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[SUM]] {{.*}}activation = #llm.activation<kind = gelu>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ACTIVATED]], %{{.*}} : tensor<?x32xf32> -> tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[FFN_DOWN]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @up_0_down_1(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<0> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<1> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// Weights that are not cut work on complete rows ...
// CHECK-LABEL: @none_of_complete_rows(
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} : tensor<?x32xf32> -> tensor<?x8xf32>
// CHECK: return %[[FFN_DOWN]]
func.func @none_of_complete_rows(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<none> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<none> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// ... and on a block of them, which they leave as it is.
// CHECK-LABEL: @none_of_blocks(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[NORM]], %{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} : tensor<?x32xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[FFN_DOWN]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @none_of_blocks(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %1 = llm.ffn_up "ffn_up" dim<none> %0, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %2 = llm.ffn_down "ffn_down" dim<none> %1, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// Features that are cut, and partial sums, are completed for them.
// CHECK-LABEL: @none_of_features(
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[FFN_UP]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "ffn_down"{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ALL]], %{{.*}} : tensor<?x32xf32> -> tensor<?x8xf32>
// CHECK: return %[[FFN_DOWN]]
func.func @none_of_features(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<1> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<none> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @none_of_a_partial_sum(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x32xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_UP]] on @grid grid_axes = [2] {{.*}}cause = "ffn_down"{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[SUM]] {{.*}}activation = #llm.activation<kind = gelu>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ACTIVATED]], %{{.*}} : tensor<?x32xf32> -> tensor<?x8xf32>
// CHECK: return %[[FFN_DOWN]]
func.func @none_of_a_partial_sum(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<0> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<none> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// A rank has the gate and up columns of the same features, padded each: 6
// features are four blocks of two, of which the last is zeros. What ffn_down
// contracts is padded alike.
// CHECK-LABEL: @gated_up_1(
// CHECK-SAME: tensor<8x4xf32> {shardopt.slice = {dims = [{}, {axis = "tp", runs = [{{\[}}array<i64: 0, 2, 1, 2, 6>], [array<i64: 2, 2, 1, 2, 6>], [array<i64: 4, 2, 1, 2, 6>], [array<i64: -1, 4, 1>]]}], name = "arg1", shape = array<i64: 8, 12>}}
// CHECK-SAME: tensor<2x8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 2, 2, 1>], [array<i64: 4, 2, 1>], [array<i64: -1, 2, 1>]]}, {}], name = "arg2", shape = array<i64: 6, 8>}}
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_DOWN]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @gated_up_1(%x: tensor<?x8xf32>, %u: tensor<8x12xf32>, %d: tensor<6x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<1> %x, %u {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xf32> -> tensor<?x6xf32>
  %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x6xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// The raw projection is scattered so that gate and up columns of the same
// features meet, and activated there.
// CHECK-LABEL: @gated_up_0_to_h(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[FFN_UP]] {{.*}}runs = array<i64: 0, 2, 1, 2, 6, 2, 2, 1, 2, 6, 4, 2, 1, 2, 6, -1, 4, 1, 1, 0>{{.*}} : tensor<?x12xf32> -> tensor<?x16xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[SELECTED]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "ffn_down"{{.*}} : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[PART1]] {{.*}}activation = #llm.activation<kind = silu, gated = true>{{.*}} : tensor<?x4xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ACTIVATED]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_DOWN]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @gated_up_0_to_h(%x: tensor<?x8xf32>, %u: tensor<8x12xf32>, %d: tensor<6x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<0> %x, %u {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xf32> -> tensor<?x6xf32>
  %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x6xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @gated_up_0_to_r(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x12xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_UP]] on @grid grid_axes = [2] {{.*}}cause = "ffn_down"{{.*}} : tensor<?x12xf32> -> tensor<?x12xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[SUM]] {{.*}}activation = #llm.activation<kind = silu, gated = true>{{.*}} : tensor<?x12xf32> -> tensor<?x6xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ACTIVATED]], %{{.*}} : tensor<?x6xf32> -> tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[FFN_DOWN]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @gated_up_0_to_r(%x: tensor<?x8xf32>, %u: tensor<8x12xf32>, %d: tensor<6x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<0> %x, %u {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xf32> -> tensor<?x6xf32>
  %1 = llm.ffn_down "ffn_down" dim<1> %0, %d : tensor<?x6xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// The bias of a partial sum is added by the first rank alone, ...
// CHECK-LABEL: @bias_of_a_partial_sum(
// CHECK-SAME: tensor<32xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 32, 1>], [array<i64: -1, 32, 1>], [array<i64: -1, 32, 1>], [array<i64: -1, 32, 1>]]}], name = "arg2", shape = array<i64: 32>}}
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[PART]], %{{.*}} bias(%{{.*}}){{.*}} : tensor<?x2xf32> -> tensor<?x32xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_UP]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[SUM]] {{.*}}activation = #llm.activation<kind = gelu>{{.*}} : tensor<?x32xf32> -> tensor<?x32xf32>
// CHECK: return %[[ACTIVATED]]
func.func @bias_of_a_partial_sum(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %b: tensor<32xf32>) -> tensor<?x32xf32> {
  %0 = llm.ffn_up "ffn_up" dim<0> %x, %u bias(%b) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// ... that of features by those who have them, ...
// CHECK-LABEL: @bias_of_features(
// CHECK-SAME: tensor<8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>], [array<i64: 8, 8, 1>], [array<i64: 16, 8, 1>], [array<i64: 24, 8, 1>]]}], name = "arg2", shape = array<i64: 32>}}
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %{{.*}}, %{{.*}} bias(%{{.*}}){{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[FFN_UP]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: return %[[ALL]]
func.func @bias_of_features(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %b: tensor<32xf32>) -> tensor<?x32xf32> {
  %0 = llm.ffn_up "ffn_up" dim<1> %x, %u bias(%b) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// ... and that of complete rows by everyone.
// CHECK-LABEL: @bias_of_complete_rows(
// CHECK-SAME: tensor<32xf32> {shardopt.slice = {dims = [{}], name = "arg2", shape = array<i64: 32>}}
func.func @bias_of_complete_rows(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %b: tensor<32xf32>) -> tensor<?x32xf32> {
  %0 = llm.ffn_up "ffn_up" dim<none> %x, %u bias(%b) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// CHECK-LABEL: @bias_of_ffn_down_0(
// CHECK-SAME: tensor<8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 8, 1>], [array<i64: -1, 8, 1>], [array<i64: -1, 8, 1>], [array<i64: -1, 8, 1>]]}], name = "arg2", shape = array<i64: 8>}}
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x32xf32> -> tensor<?x8xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[PART]], %{{.*}} bias(%{{.*}}){{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_DOWN]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @bias_of_ffn_down_0(%x: tensor<?x32xf32>, %d: tensor<32x8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_down "ffn_down" dim<0> %x, %d bias(%b) : tensor<?x32xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

}
