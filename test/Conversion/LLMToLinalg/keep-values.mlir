// RUN: split-file %s %t
// RUN: shard-opt %t/plain.mlir --convert-llm-to-linalg=keep-values | FileCheck %t/plain.mlir
// RUN: shard-opt %t/sharded.mlir --convert-llm-to-linalg=keep-values | FileCheck %t/sharded.mlir
// RUN: shard-opt %t/plain.mlir --convert-llm-to-linalg | FileCheck %t/plain.mlir --check-prefix=NONE

//--- plain.mlir
// Of the unsharded program: the first result of every named op, if it is a matrix.

// NONE-NOT: keep

// CHECK: shardopt.sites = [{keep = {layout = "R", op = "ffn_norm"}}, {keep = {layout = "R", op = "proj"}}]
// CHECK-LABEL: @f
// CHECK: %[[NORMED:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} :
// CHECK: %[[CAST:.*]] = tensor.cast %[[NORMED]] : tensor<?x8xf32> to tensor<?x?xf32>
// CHECK: %[[SITE:.*]] = arith.constant 0 : i64
// CHECK: call @shardopt_keep_f32_2(%[[CAST]], %[[SITE]])
// CHECK: linalg.matmul
// CHECK: call @shardopt_keep_f32_2
// CHECK-NOT: call
// CHECK: func.func private @shardopt_keep_f32_2(tensor<?x?xf32> {bufferization.access = "read"}, i64) attributes {llvm.emit_c_interface}
func.func @f(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %w: tensor<8xbf16>, %p: tensor<8x4xbf16>) -> tensor<?xi32> {
  %n, %s = llm.rms_norm "ffn_norm" %x residual(%r) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  %y = llm.linear "proj" %n, %p : tensor<?x8xbf16> -> tensor<?x4xbf16>
  %a = llm.add %s, %x : tensor<?x8xbf16>
  %t = llm.lm_head "lm_head" %a norm(%w) weight(%p) {epsilon = 1.0e-5} : tensor<?x8xbf16>, tensor<8x4xbf16> -> tensor<?xi32>
  return %t : tensor<?xi32>
}

//--- sharded.mlir
// Of the program of one device: what has a `shardopt.value`, behind the sites that
// are there.

// CHECK: shardopt.sites = [{op = "all_reduce"}, {keep = {layout = "R", op = "proj", rows = "tokens"}}]
// CHECK-LABEL: @f
// CHECK: %[[SUM:.*]] = shard.all_reduce
// CHECK: %[[CAST:.*]] = tensor.cast %[[SUM]]
// CHECK: %[[SITE:.*]] = arith.constant 1 : i64
// CHECK: call @shardopt_keep_f32_2(%[[CAST]], %[[SITE]])
module attributes {shardopt.strategy = {tp = 2 : i64}, shardopt.sites = [{op = "all_reduce"}]} {
  shard.grid @grid(shape = 1x1x2)
  func.func @f(%x: tensor<?x8xf32>, %p: tensor<8x4xf32>) -> tensor<?x4xf32> {
    %y = llm.linear "proj" %x, %p : tensor<?x8xf32> -> tensor<?x4xf32>
    %z = shard.all_reduce %y on @grid grid_axes = [2] {shardopt.value = {op = "proj", layout = "R", rows = "tokens"}} : tensor<?x4xf32> -> tensor<?x4xf32>
    return %z : tensor<?x4xf32>
  }
}
