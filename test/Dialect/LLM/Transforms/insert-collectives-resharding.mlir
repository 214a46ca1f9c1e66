// RUN: shard-opt %s --llm-insert-collectives | FileCheck %s --implicit-check-not="shard.{{all|reduce}}" \
// RUN:   --implicit-check-not=select_columns --implicit-check-not=tensor.pad --implicit-check-not=extract_slice

// Every way from one layout to another over four devices. An argument is R; a
// norm of dim 0 takes and leaves T; a product of dim 0 takes H and leaves P; one
// of dim 1 takes R and leaves H; and a result is R.

module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>} {

// What is complete needs no collective: every device takes its block of rows,
// the last blocks padded to ceil(rows / 4).
// CHECK-LABEL: @r_to_t_and_back(
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %[[C0]] : tensor<?x8xf32>
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[MORE:.*]] = arith.addi %[[ROWS]], %[[C3]] : index
// CHECK: %[[BLOCK:.*]] = arith.divui %[[MORE]], %[[C4]] : index
// CHECK: %[[C41:.*]] = arith.constant 4 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[BLOCK]], %[[C41]] : index
// CHECK: %[[PADDING:.*]] = arith.subi %[[OFFSET]], %[[ROWS]] : index
// CHECK: %[[C01:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%[[PADDING]], 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%[[ROWS]], 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @r_to_t_and_back(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @r_to_h(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @r_to_h(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Ten features make four blocks of three, the last one with two zeros.
// CHECK-LABEL: @r_to_h_uneven(
// CHECK: %[[SELECTED:.*]] = llm.select_columns %{{.*}}runs = array<i64: 0, 10, 1, 1, 0, -1, 2, 1, 1, 0>{{.*}} : tensor<?x10xf32> -> tensor<?x12xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x12xf32> -> tensor<?x3xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x3xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @r_to_h_uneven(%x: tensor<?x10xf32>, %w: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x10xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @p_to_r(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "b"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[B:.*]] = llm.linear {{.*}} %[[SUM]], %{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: return %[[B]]
func.func @p_to_r(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x32xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %v = llm.param @v : tensor<8x32xf32>
  %1 = llm.linear "b" dim<none> %0, %v : tensor<?x8xf32> -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// CHECK-LABEL: @p_to_t(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %[[A]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[PADDED]] on @grid grid_axes = [2] scatter_axis = 0 {{.*}}cause = "norm"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART1]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @p_to_t(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = llm.rms_norm "norm" dim<0> %0 weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @p_to_h(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[A]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "b"{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[B:.*]] = llm.linear {{.*}} %[[PART1]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[B]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @p_to_h(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = llm.linear "b" dim<0> %0, %v : tensor<?x8xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// The partial sums are packed into equal blocks before they are scattered.
// CHECK-LABEL: @p_to_h_uneven(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x10xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[A]] {{.*}}runs = array<i64: 0, 10, 1, 1, 0, -1, 2, 1, 1, 0>{{.*}} : tensor<?x10xf32> -> tensor<?x12xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[SELECTED]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "b"{{.*}} : tensor<?x12xf32> -> tensor<?x3xf32>
// CHECK: %[[B:.*]] = llm.linear {{.*}} %[[PART1]], %{{.*}} : tensor<?x3xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[B]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @p_to_h_uneven(%x: tensor<?x8xf32>, %w: tensor<8x10xf32>, %v: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x10xf32>
  %1 = llm.linear "b" dim<0> %0, %v : tensor<?x10xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @t_to_r(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "a"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[A]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: return %[[ALL1]]
func.func @t_to_r(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x32xf32>) -> tensor<?x32xf32> {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %1 = llm.linear "a" dim<1> %0, %w : tensor<?x8xf32> -> tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// CHECK-LABEL: @t_to_h(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[NORM]] on @grid grid_axes = [2] split_axis = 1 concat_axis = 0 {{.*}}cause = "a"{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[MOVED]][0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xf32> to tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @t_to_h(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %1 = llm.linear "a" dim<0> %0, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @t_to_h_uneven(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x10xf32> -> tensor<?x10xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x10xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[NORM]] {{.*}}runs = array<i64: 0, 10, 1, 1, 0, -1, 2, 1, 1, 0>{{.*}} : tensor<?x10xf32> -> tensor<?x12xf32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[SELECTED]] on @grid grid_axes = [2] split_axis = 1 concat_axis = 0 {{.*}}cause = "a"{{.*}} : tensor<?x12xf32> -> tensor<?x3xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[MOVED]][0, 0] [%{{.*}}, 3] [1, 1] : tensor<?x3xf32> to tensor<?x3xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x3xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @t_to_h_uneven(%x: tensor<?x10xf32>, %n: tensor<10xf32>, %w: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x10xf32>
  %1 = llm.linear "a" dim<0> %0, %w : tensor<?x10xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @h_to_r(
// CHECK: %[[A:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[A]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @h_to_r(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<1> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// The padding is dropped after the gather.
// CHECK-LABEL: @h_to_r_uneven(
// CHECK: %[[A:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[A]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x3xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 10, 1, 1, 0>{{.*}} : tensor<?x12xf32> -> tensor<?x10xf32>
// CHECK: return %[[SELECTED]]
func.func @h_to_r_uneven(%x: tensor<?x8xf32>, %w: tensor<8x10xf32>) -> tensor<?x10xf32> {
  %0 = llm.linear "a" dim<1> %x, %w : tensor<?x8xf32> -> tensor<?x10xf32>
  return %0 : tensor<?x10xf32>
}

// CHECK-LABEL: @h_to_t(
// CHECK: %[[A:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %[[A]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[PADDED]] on @grid grid_axes = [2] split_axis = 0 concat_axis = 1 {{.*}}cause = "norm"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[MOVED]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @h_to_t(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<1> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %1 = llm.rms_norm "norm" dim<0> %0 weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @h_to_t_uneven(
// CHECK: %[[A:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %[[A]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[PADDED]] on @grid grid_axes = [2] split_axis = 0 concat_axis = 1 {{.*}}cause = "norm"{{.*}} : tensor<?x3xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[MOVED]] {{.*}}runs = array<i64: 0, 10, 1, 1, 0>{{.*}} : tensor<?x12xf32> -> tensor<?x10xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[SELECTED]] weight(%{{.*}}){{.*}} : tensor<?x10xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x10xf32> -> tensor<?x10xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 10] [1, 1] : tensor<?x10xf32> to tensor<?x10xf32>
// CHECK: return %[[TRUE]]
func.func @h_to_t_uneven(%x: tensor<?x8xf32>, %w: tensor<8x10xf32>, %n: tensor<10xf32>) -> tensor<?x10xf32> {
  %0 = llm.linear "a" dim<1> %x, %w : tensor<?x8xf32> -> tensor<?x10xf32>
  %1 = llm.rms_norm "norm" dim<0> %0 weight(%n) {epsilon = 1.0e-5} : tensor<?x10xf32>
  return %1 : tensor<?x10xf32>
}

// A product that contracts takes features in whatever order they are in.
// CHECK-LABEL: @h_stays(
// CHECK: %[[A:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}}heads = 1{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[B:.*]] = llm.linear {{.*}} %[[A]], %{{.*}} : tensor<?x3xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[B]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @h_stays(%x: tensor<?x8xf32>, %w: tensor<8x6xf32>, %v: tensor<6x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.linear "a" dim<1> %x, %w {heads = 2} : tensor<?x8xf32> -> tensor<?x6xf32>
  %1 = llm.linear "b" dim<0> %0, %v : tensor<?x6xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// Two heads of three features lie otherwise than blocks of ceil(6 / 4), and a
// norm has its weight in blocks: from order to order through all features.
// CHECK-LABEL: @h_to_h_of_another_order(
// CHECK: %[[A:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}}heads = 1{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[A]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "norm"{{.*}} : tensor<?x3xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[ALL]] {{.*}}runs = array<i64: 0, 6, 1, 1, 0>{{.*}} : tensor<?x12xf32> -> tensor<?x6xf32>
// CHECK: %[[SELECTED1:.*]] = llm.select_columns %[[SELECTED]] {{.*}}runs = array<i64: 0, 6, 1, 1, 0, -1, 2, 1, 1, 0>{{.*}} : tensor<?x6xf32> -> tensor<?x8xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[SELECTED1]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %[[PART]] : tensor<?x2xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SQUARES]] on @grid grid_axes = [2] {{.*}}cause = "norm"{{.*}} : tensor<?x1xf32> -> tensor<?x1xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[PART]], %[[SUM]], %{{.*}}size = 6{{.*}} : tensor<?x2xf32>, tensor<?x1xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[NORMED]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SELECTED2:.*]] = llm.select_columns %[[ALL1]] {{.*}}runs = array<i64: 0, 6, 1, 1, 0>{{.*}} : tensor<?x8xf32> -> tensor<?x6xf32>
// CHECK: return %[[SELECTED2]]
func.func @h_to_h_of_another_order(%x: tensor<?x8xf32>, %w: tensor<8x6xf32>, %n: tensor<6xf32>) -> tensor<?x6xf32> {
  %0 = llm.linear "a" dim<1> %x, %w {heads = 2} : tensor<?x8xf32> -> tensor<?x6xf32>
  %1 = llm.rms_norm "norm" dim<1> %0 weight(%n) {epsilon = 1.0e-5} : tensor<?x6xf32>
  return %1 : tensor<?x6xf32>
}

// Two readers share what was made for the first of them.
// CHECK-LABEL: @converted_once(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "a"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK: %[[B:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[A]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x1xf32> -> tensor<?x4xf32>
// CHECK: %[[ALL2:.*]] = shard.all_gather %[[B]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x1xf32> -> tensor<?x4xf32>
// CHECK: return %[[ALL1]], %[[ALL2]]
func.func @converted_once(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %1 = llm.linear "a" dim<1> %0, %w : tensor<?x8xf32> -> tensor<?x4xf32>
  %2 = llm.linear "b" dim<1> %0, %v : tensor<?x8xf32> -> tensor<?x4xf32>
  return %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>
}

// Complete rows are there already, so the second reader slices them instead of
// asking the blocks for an all-to-all.
// CHECK-LABEL: @from_the_cheapest_copy(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORM]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "a"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[TRUE]], %{{.*}} : tensor<?x8xf32> -> tensor<?x1xf32>
// CHECK: %[[PART1:.*]] = shard.all_slice %[[TRUE]] on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[B:.*]] = llm.linear {{.*}} %[[PART1]], %{{.*}} : tensor<?x2xf32> -> tensor<?x4xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[A]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x1xf32> -> tensor<?x4xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[B]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK: return %[[ALL1]], %[[SUM]]
func.func @from_the_cheapest_copy(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x4xf32>, %v: tensor<8x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %1 = llm.linear "a" dim<1> %0, %w : tensor<?x8xf32> -> tensor<?x4xf32>
  %2 = llm.linear "b" dim<0> %0, %v : tensor<?x8xf32> -> tensor<?x4xf32>
  return %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>
}

}
