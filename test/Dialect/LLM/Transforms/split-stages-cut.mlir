// RUN: shard-opt %s --llm-split-stages --mlir-print-local-scope --split-input-file | FileCheck %s

// The layers of each stage as the strategy says: one of the five to the first,
// which an even split gives two.
module attributes {shardopt.strategy = {batch = 6 : i64, ep = 1 : i64, pp = 3 : i64, stages = array<i64: 1, 3, 1>, tp = 1 : i64}} {
shard.grid @grid(shape = 3x1x1)
// CHECK-LABEL: func.func @f_stage0(
// CHECK-SAME: tensor<1x8xf32> {shardopt.slice = {dims = [{axis = "pp", runs = [{{\[}}array<i64: 0, 1, 1>], [array<i64: 1, 3, 1>], [array<i64: 4, 1, 1>]]}, {}]
// CHECK: llm.repeat 1 layers<0>
// CHECK-LABEL: func.func @f_stage1(
// CHECK-SAME: tensor<3x8xf32>
// CHECK: llm.repeat 3 layers<1-3>
// CHECK-LABEL: func.func @f_stage2(
// CHECK-SAME: tensor<1x8xf32>
// CHECK: llm.repeat 1 layers<4>
func.func @f(%x: tensor<?x8xf32>, %s: tensor<5x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 5 init(%r = %x : tensor<?x8xf32>) stacked(%w = %s : tensor<5x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

// A repeat whose stack is computed cannot be shared, but be a stage's own.
module attributes {shardopt.strategy = {batch = 6 : i64, ep = 1 : i64, pp = 2 : i64, stages = array<i64: 1, 3>, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
// CHECK-LABEL: func.func @f_stage0(
// CHECK-NOT: tensor.empty() : tensor<3x8xf32>
// CHECK-LABEL: func.func @f_stage1(
// CHECK: %[[STACK:.*]] = tensor.empty() : tensor<3x8xf32>
// CHECK: llm.repeat 3 init({{.*}}) stacked(%{{.*}} = %[[STACK]] : tensor<3x8xf32>)
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %s = tensor.empty() : tensor<3x8xf32>
  %y = llm.repeat 1 init(%r = %x : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  %z = llm.repeat 3 init(%r = %y : tensor<?x8xf32>) stacked(%w = %s : tensor<3x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  return %z : tensor<?x8xf32>
}
}
