// RUN: shard-opt %s --convert-llm-to-linalg | FileCheck %s

// Narrow floats are f32 everywhere; what is said of the declared program stays.

// CHECK: shardopt.workload = {context = 64 : i64, phase = "decode"}
// CHECK-NOT: bf16
// CHECK-NOT: f8E4M3FN
module attributes {llm.strategy = #llm.strategy<tp = 2>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  shard.grid @grid(shape = 1x1x2)

  // CHECK-LABEL: @collective
  // CHECK-SAME: tensor<?x8xf32> {llm.role = "cache"}
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: tensor.yield %[[ZERO]] : f32
  // CHECK: shard.all_gather {{.*}} {shardopt.collective = {type = bf16}} : tensor<?x8xf32> -> tensor<?x8xf32>
  // CHECK-NOT: bf16
  func.func @collective(%x: tensor<?x8xbf16> {llm.role = "cache"}, %n: index) -> tensor<?x8xbf16> {
    %zero = arith.constant 0.0 : bf16
    %padded = tensor.pad %x low[0, 0] high[%n, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : bf16
    } : tensor<?x8xbf16> to tensor<?x8xbf16>
    %y = shard.all_gather %padded on @grid grid_axes = [2] gather_axis = 0 {shardopt.collective = {type = bf16}} : tensor<?x8xbf16> -> tensor<?x8xbf16>
    return %y : tensor<?x8xbf16>
  }

  // Conversions between what is now one type are gone.
  // CHECK-LABEL: @conversions
  // CHECK-SAME: (%[[X:.*]]: f32) -> (f32, f64, tensor<2xf32>)
  // CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
  // CHECK: %[[C:.*]] = arith.constant dense<[1.500000e+00, 2.500000e-01]> : tensor<2xf32>
  // CHECK: return %[[X]], %[[WIDE]], %[[C]]
  func.func @conversions(%x: f8E4M3FN) -> (bf16, f64, tensor<2xbf16>) {
    %y = arith.extf %x : f8E4M3FN to bf16
    %z = arith.extf %y : bf16 to f64
    %c = arith.constant dense<[1.5, 0.25]> : tensor<2xbf16>
    return %y, %z, %c : bf16, f64, tensor<2xbf16>
  }

  // The exchange of uneven numbers of rows stays.
  // CHECK-LABEL: @exchange
  // CHECK: llm.all_to_all_v {{.*}} : (tensor<?x8xf32>, tensor<2x1x2xi32>, tensor<2x1x2xi32>) -> tensor<?x8xf32>
  func.func @exchange(%x: tensor<?x8xbf16>, %s: tensor<2x1x2xi32>) -> tensor<?x8xbf16> {
    %y = llm.all_to_all_v %x send(%s) recv(%s) on @grid grid_axes = [2] : (tensor<?x8xbf16>, tensor<2x1x2xi32>, tensor<2x1x2xi32>) -> tensor<?x8xbf16>
    return %y : tensor<?x8xbf16>
  }
}
