// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope --split-input-file | FileCheck %s --implicit-check-not="shard.{{all|reduce}}"

// Weights on the axes tp1 (2 of the grid) and tp2 (3): features are gathered
// along one of them and their sums scattered along the other.
module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, tp2 = 2, batch = 8>} {

// CHECK: tp = array<i16: 2, 3>, tp1 = array<i16: 2>, tp2 = array<i16: 3>}
// CHECK: shard.grid @grid(shape = 1x1x2x2)
// CHECK-LABEL: @both(
// CHECK-SAME: %[[U:[^ ]*]]: tensor<4x16xf32> {shardopt.slice = {dims = [{axis = "tp2", runs = {{\[}}[array<i64: 0, 2, 1, 2, 4>], [array<i64: 2, 2, 1, 2, 4>]]}, {axis = "tp1", runs = {{\[}}[array<i64: 0, 16, 1>], [array<i64: 16, 16, 1>]]}]
// CHECK-SAME: %[[D:[^ ]*]]: tensor<16x4xf32> {shardopt.slice = {dims = [{axis = "tp1", runs = {{\[}}[array<i64: 0, 16, 1>], [array<i64: 16, 16, 1>]]}, {axis = "tp2", runs = {{\[}}[array<i64: 0, 2, 1, 2, 4>], [array<i64: 2, 2, 1, 2, 4>]]}]
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2, 3] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[IN:.*]] = shard.all_gather %[[PART]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}bytes = 128 : i64, cause = "ffn_up", charged = true{{.*}} : tensor<?x2xf32> -> tensor<?x4xf32>
// CHECK: %[[UP:.*]] = llm.ffn_up {{.*}} %[[IN]], %[[U]] {{.*}}: tensor<?x4xf32> -> tensor<?x16xf32>
// CHECK: %[[SUM:.*]] = shard.reduce_scatter %[[UP]] on @grid grid_axes = [3] scatter_axis = 1 {{.*}}bytes = 512 : i64, cause = "ffn_up", charged = true{{.*}} : tensor<?x16xf32> -> tensor<?x8xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[SUM]] {{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ACTIVATED]] on @grid grid_axes = [3] gather_axis = 1 {{.*}}bytes = 512 : i64, cause = "ffn_down"{{.*}} : tensor<?x8xf32> -> tensor<?x16xf32>
// CHECK: %[[DOWN:.*]] = llm.ffn_down {{.*}} %[[ALL]], %[[D]] : tensor<?x16xf32> -> tensor<?x4xf32>
// CHECK: %[[OUT:.*]] = shard.reduce_scatter %[[DOWN]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}bytes = 128 : i64, cause = "ffn_down"{{.*}} : tensor<?x4xf32> -> tensor<?x2xf32>
// CHECK: %[[WHOLE:.*]] = shard.all_gather %[[OUT]] on @grid grid_axes = [2, 3] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[WHOLE]]
func.func @both(%x: tensor<?x8xf32>, %u: tensor<8x32xf32>, %d: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<both> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32> -> tensor<?x32xf32>
  %1 = llm.ffn_down "ffn_down" dim<both> %0, %d : tensor<?x32xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, tp2 = 2, batch = 8>} {

// Gate and up of the same columns stay together: 10 columns in blocks of 3,
// the last one padded. The bias is on the first devices along tp2.
// CHECK-LABEL: @gated(
// CHECK-SAME: tensor<4x12xf32> {shardopt.slice = {dims = [{axis = "tp2", runs = {{\[}}[array<i64: 0, 2, 1, 2, 4>], [array<i64: 2, 2, 1, 2, 4>]]}, {axis = "tp1", runs = {{\[}}[array<i64: 0, 3, 1, 2, 10>, array<i64: 3, 3, 1, 2, 10>], [array<i64: 6, 3, 1, 2, 10>, array<i64: 9, 1, 1>, array<i64: -1, 2, 1>, array<i64: 19, 1, 1>, array<i64: -1, 2, 1>]]}]
// CHECK-SAME: tensor<12xf32> {shardopt.slice = {dims = [{axis = "tp", runs = {{\[}}[array<i64: 0, 3, 1, 2, 10>, array<i64: 3, 3, 1, 2, 10>], [array<i64: -1, 12, 1>], [{{.*}}], [array<i64: -1, 12, 1>]]}]
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2, 3] slice_axis = 1
// CHECK: %[[IN:.*]] = shard.all_gather %[[PART]] on @grid grid_axes = [2] gather_axis = 1
// CHECK: %[[UP:.*]] = llm.ffn_up {{.*}} %[[IN]], {{.*}} : tensor<?x4xf32> -> tensor<?x12xf32>
// CHECK: %[[SUM:.*]] = shard.reduce_scatter %[[UP]] on @grid grid_axes = [3] {{.*}} : tensor<?x12xf32> -> tensor<?x6xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[SUM]] {{.*}} : tensor<?x6xf32> -> tensor<?x3xf32>
// What contracts the columns takes them as they are.
// CHECK: %[[DOWN:.*]] = llm.ffn_down {{.*}} %[[ACTIVATED]], %{{.*}} : tensor<?x3xf32> -> tensor<?x8xf32>
// CHECK: shard.all_reduce %[[DOWN]] on @grid grid_axes = [2, 3]
func.func @gated(%x: tensor<?x8xf32>, %u: tensor<8x20xf32>, %b: tensor<20xf32>, %d: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.ffn_up "ffn_up" dim<3> %x, %u bias(%b) {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xf32> -> tensor<?x10xf32>
  %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x10xf32> -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
}
