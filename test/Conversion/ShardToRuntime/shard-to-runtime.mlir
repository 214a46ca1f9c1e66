// RUN: shard-opt %s --convert-shard-to-runtime --split-input-file | FileCheck %s

// Sites are numbered in program order, behind those that are there, and each keeps
// what is known of its collective.

// CHECK: module attributes {
// CHECK-SAME: shardopt.grid = array<i64: 1, 2, 4>
// CHECK-SAME: shardopt.sites = [{keep = {op = "qkv_proj"}},
// CHECK-SAME: {axes = array<i64: 2>, collective = {bytes = 64 : i64, cause = "qkv_proj", charged = true, microseconds = 5.000000e+00 : f64, type = f32}, name = "qkv_proj", op = "all_reduce"},
// CHECK-SAME: {axes = array<i64: 1>, op = "all_reduce"},
// CHECK-SAME: {axes = array<i64: 2, 1>, op = "reduce_scatter"}]
// CHECK-NOT: shard.grid
module attributes {shardopt.sites = [{keep = {op = "qkv_proj"}}]} {
  shard.grid @grid(shape = 1x2x4)

  // CHECK-LABEL: func.func @reductions(
  // CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[I:.*]]: tensor<4xi32>)
  func.func @reductions(%x: tensor<?x8xf32>, %i: tensor<4xi32>) -> (tensor<?x8xf32>, tensor<4xi32>, tensor<?x1xf32>) {
    // CHECK: %[[DYNAMIC:.*]] = tensor.cast %[[X]] : tensor<?x8xf32> to tensor<?x?xf32>
    // CHECK-DAG: %[[TP:.*]] = arith.constant 3 : i64
    // CHECK-DAG: %[[SITE:.*]] = arith.constant 1 : i64
    // CHECK: %[[SUM:.*]] = call @shardopt_all_reduce_sum_f32_2(%[[DYNAMIC]], %[[TP]], %[[SITE]])
    // CHECK: %[[STATIC:.*]] = tensor.cast %[[SUM]] : tensor<?x?xf32> to tensor<?x8xf32>
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {bytes = 64 : i64, cause = "qkv_proj", charged = true, microseconds = 5.0 : f64, type = f32}} : tensor<?x8xf32> -> tensor<?x8xf32>
    // CHECK: call @shardopt_all_reduce_max_i32_1(
    %1 = shard.all_reduce %i on @grid grid_axes = [1] reduction = max : tensor<4xi32> -> tensor<4xi32>
    // The first axis, tp, is in the lowest four bits: 0x23.
    // CHECK: %[[DIM:.*]] = arith.constant 1 : i64
    // CHECK: %[[BOTH:.*]] = arith.constant 35 : i64
    // CHECK: %[[THIRD:.*]] = arith.constant 3 : i64
    // CHECK: call @shardopt_reduce_scatter_f32_2(%{{.*}}, %[[DIM]], %[[BOTH]], %[[THIRD]])
    %2 = shard.reduce_scatter %0 on @grid grid_axes = [2, 1] scatter_axis = 1 : tensor<?x8xf32> -> tensor<?x1xf32>
    // CHECK: return %[[STATIC]]
    return %0, %1, %2 : tensor<?x8xf32>, tensor<4xi32>, tensor<?x1xf32>
  }

  // Each function is declared once. Its operands are read only, so that nothing is
  // copied for it.
  // CHECK: func.func private @shardopt_all_reduce_sum_f32_2(tensor<?x?xf32> {bufferization.access = "read"}, i64, i64) -> tensor<?x?xf32> attributes {llvm.emit_c_interface}
  // CHECK: func.func private @shardopt_all_reduce_max_i32_1(tensor<?xi32> {bufferization.access = "read"}, i64, i64) -> tensor<?xi32>
}

// -----

// CHECK-NOT: shard.grid
shard.grid @grid(shape = 1x2x4)

// CHECK-LABEL: func.func @gather_and_exchange
func.func @gather_and_exchange(%x: tensor<?x8xf32>, %y: tensor<?x4x2xi32>) -> (tensor<?x32xf32>, tensor<?x8x1xi32>) {
  // CHECK: call @shardopt_all_gather_f32_2({{.*}}) : (tensor<?x?xf32>, i64, i64, i64) -> tensor<?x?xf32>
  %0 = shard.all_gather %x on @grid grid_axes = [2] gather_axis = 1 : tensor<?x8xf32> -> tensor<?x32xf32>
  // CHECK: %[[SPLIT:.*]] = arith.constant 2 : i64
  // CHECK: %[[CONCAT:.*]] = arith.constant 1 : i64
  // CHECK: call @shardopt_all_to_all_i32_3(%{{.*}}, %[[SPLIT]], %[[CONCAT]], %{{.*}}, %{{.*}})
  %1 = shard.all_to_all %y on @grid grid_axes = [1] split_axis = 2 concat_axis = 1 : tensor<?x4x2xi32> -> tensor<?x8x1xi32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x8x1xi32>
}

// CHECK-LABEL: func.func @uneven_exchange
func.func @uneven_exchange(%r: tensor<?x32xf32>, %s: tensor<2x2x3xi32>, %c: tensor<2x2x3xi32>) -> tensor<?x32xf32> {
  // CHECK: call @shardopt_all_to_all_v_f32_2({{.*}}) : (tensor<?x?xf32>, tensor<?x?x?xi32>, tensor<?x?x?xi32>, i64, i64) -> tensor<?x?xf32>
  %0 = llm.all_to_all_v %r send(%s) recv(%c) on @grid grid_axes = [1] : (tensor<?x32xf32>, tensor<2x2x3xi32>, tensor<2x2x3xi32>) -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// -----

shard.grid @grid(shape = 3x2x4)

// The other side of a message is a number in its group.
// CHECK-LABEL: func.func @messages(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[I:.*]]: index)
func.func @messages(%x: tensor<?x8xf32>, %i: index) -> tensor<?x8xf32> {
  // CHECK: %[[TWO:.*]] = arith.constant 2 : i64
  // CHECK: call @shardopt_send_f32_2(%{{.*}}, %[[TWO]], %{{.*}}, %{{.*}}) : (tensor<?x?xf32>, i64, i64, i64) -> ()
  %0 = shard.send %x on @grid grid_axes = [0] destination = [2] : (tensor<?x8xf32>) -> tensor<?x8xf32>
  // Row 1 of [1, 2] is members 4 to 7.
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : i64
  // CHECK: %[[COLUMN:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK: %[[STRIDE:.*]] = arith.constant 1 : i64
  // CHECK: %[[TERM:.*]] = arith.muli %[[COLUMN]], %[[STRIDE]]
  // CHECK: %[[SOURCE:.*]] = arith.addi %[[FOUR]], %[[TERM]]
  // CHECK: %[[LIKE:.*]] = tensor.cast %[[X]]
  // CHECK: call @shardopt_recv_f32_2(%[[LIKE]], %[[SOURCE]], %{{.*}}, %{{.*}})
  %1 = shard.recv %0 on @grid grid_axes = [1, 2] source = [1, %i] : (tensor<?x8xf32>, index) -> tensor<?x8xf32>
  // CHECK: call @shardopt_broadcast_f32_2(
  %2 = shard.broadcast %1 on @grid grid_axes = [2] root = [3] : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// -----

shard.grid @grid(shape = 1x2x4)

// A slice moves nothing, so it is no site.
// CHECK-LABEL: func.func @slices(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>)
func.func @slices(%x: tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x8xf32>) {
  // CHECK: %[[SIZE:.*]] = arith.constant 2 : index
  // CHECK: %[[PLACE:.*]] = call @shardopt_process_index(
  // CHECK: %[[INDEX:.*]] = arith.index_cast %[[PLACE]]
  // CHECK: %[[OFFSET:.*]] = arith.muli %[[INDEX]], %[[SIZE]]
  // CHECK: tensor.extract_slice %[[X]][0, %[[OFFSET]]] [%{{.*}}, 2] [1, 1]
  %0 = shard.all_slice %x on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[X]]
  // CHECK: %[[GROUP:.*]] = arith.constant 8 : index
  // CHECK: %[[BLOCK:.*]] = arith.divui %[[ROWS]], %[[GROUP]]
  // CHECK: %[[TP:.*]] = arith.index_cast
  // CHECK: %[[EP:.*]] = arith.index_cast
  // CHECK: %[[EPS:.*]] = arith.constant 2 : index
  // CHECK: %[[SCALED:.*]] = arith.muli %[[TP]], %[[EPS]]
  // CHECK: %[[MEMBER:.*]] = arith.addi %[[SCALED]], %[[EP]]
  // CHECK: %[[START:.*]] = arith.muli %[[MEMBER]], %[[BLOCK]]
  // CHECK: tensor.extract_slice %[[X]][%[[START]], 0] [%[[BLOCK]], 8] [1, 1]
  %1 = shard.all_slice %x on @grid grid_axes = [2, 1] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0, %1 : tensor<?x2xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: func.func @places
func.func @places() -> (index, index, index) {
  // CHECK: %[[TP:.*]] = arith.constant 2 : i64
  // CHECK: call @shardopt_process_index(%[[TP]])
  // CHECK: %[[EP:.*]] = arith.constant 1 : i64
  // CHECK: call @shardopt_process_index(%[[EP]])
  %0, %1 = shard.process_multi_index on @grid axes = [2, 1] : index, index
  // CHECK-COUNT-3: call @shardopt_process_index(
  %2 = shard.process_linear_index on @grid : index
  return %0, %1, %2 : index, index, index
}
// CHECK: func.func private @shardopt_process_index(i64) -> i64 attributes {llvm.emit_c_interface}

// -----

// A program of one device stays as it is.
// CHECK-LABEL: module {
// CHECK: func.func @alone
func.func @alone(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
