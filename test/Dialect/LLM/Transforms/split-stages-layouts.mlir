// RUN: shard-opt %s --llm-insert-collectives --llm-split-stages --split-input-file | FileCheck %s
// RUN: shard-opt %s --llm-insert-collectives --llm-split-stages=machine=b200_sxm --split-input-file | FileCheck %s

// The residual travels as the loop carries it. In T that is a block of the rows,
// of which each stage works out the size.
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 2, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
// CHECK-LABEL: func.func @blocks_stage0(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} slice_axis = 0
// CHECK: %[[Y:.*]] = llm.repeat 1 {{.*}}init(%{{.*}} = %[[PART]] :
// CHECK: shard.send %[[Y]] on @grid grid_axes = [0] destination = [1] {shardopt.collective = {bytes = 64 : i64, cause = "stage_transfer", charged = true,
// CHECK-LABEL: func.func @blocks_stage1(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
// CHECK: %[[PADDING:.*]] = arith.subi
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK-NEXT: %[[PADDED:.*]] = arith.addi %[[ROWS]], %[[PADDING]] : index
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[BLOCK:.*]] = arith.divui %[[PADDED]], %[[TWO]] : index
// CHECK-NEXT: %[[LIKE:.*]] = tensor.empty(%[[BLOCK]]) : tensor<?x8xf32>
// CHECK-NEXT: %[[R:.*]] = shard.recv %[[LIKE]] on @grid grid_axes = [0] source = [0]
// CHECK: llm.repeat 1 {{.*}}init(%{{.*}} = %[[R]] :
func.func @blocks(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %n = llm.param @norm : tensor<8xf32>
    %0 = llm.rms_norm "norm" dim<0> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %2 = llm.add %r, %0 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// In H it is a part of the features; bytes are those of the true ones.
// CHECK-LABEL: func.func @features_stage0(
// CHECK: shard.send %{{.*}} on @grid grid_axes = [0] destination = [1] {shardopt.collective = {bytes = 56 : i64, cause = "stage_transfer", charged = true, {{.*}}}} : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-LABEL: func.func @features_stage1(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x7xf32>
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[LIKE:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x4xf32>
// CHECK: shard.recv %[[LIKE]]
func.func @features(%x: tensor<?x7xf32>) -> tensor<?x7xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x7xf32>) {
    %n = llm.param @norm : tensor<7xf32>
    %0 = llm.rms_norm "norm" dim<1> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x7xf32>
    %2 = llm.add %r, %0 : tensor<?x7xf32>
    llm.yield %2 : tensor<?x7xf32>
  }
  return %y : tensor<?x7xf32>
}

// In R all of a group hold the same. Where little is sent, each sends all of it.
// CHECK-LABEL: func.func @whole_stage0(
// CHECK: %[[Y:.*]] = llm.repeat 1
// CHECK-NOT: shard.all_slice
// CHECK: shard.send %[[Y]] on @grid grid_axes = [0] destination = [1] {shardopt.collective = {bytes = 128 : i64,
// CHECK-LABEL: func.func @whole_stage1(
// CHECK: %[[R:.*]] = shard.recv
// CHECK-NEXT: llm.repeat 1 {{.*}}init(%{{.*}} = %[[R]] :
func.func @whole(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8xf32>) {
    %n = llm.param @norm : tensor<8xf32>
    %0 = llm.rms_norm "norm" dim<none> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %2 = llm.add %r, %0 : tensor<?x8xf32>
    llm.yield %2 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

// Where much is sent over a slow network, each sends a block, and the receivers
// gather: 8192 sequences in two micro-batches of 8192 features.
module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 2, batch = 8192>, llm.workload = #llm.workload<phase = decode, context = 64>} {
// CHECK-LABEL: func.func @gathered_stage0(
// CHECK: %[[ROWS:.*]] = tensor.dim
// CHECK: %[[Y:.*]] = llm.repeat 1
// CHECK: %[[PADDED:.*]] = tensor.pad %[[Y]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[BLOCK:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0
// CHECK: shard.send %[[BLOCK]] on @grid grid_axes = [0] destination = [1] {shardopt.collective = {bytes = 8388608 : i64, cause = "stage_transfer", charged = true,
// CHECK-LABEL: func.func @gathered_stage1(
// CHECK: %[[ROWS:.*]] = tensor.dim
// CHECK: %[[SIZE:.*]] = arith.divui
// CHECK: %[[LIKE:.*]] = tensor.empty(%[[SIZE]])
// CHECK: %[[PART:.*]] = shard.recv %[[LIKE]] {{.*}}bytes = 8388608 : i64, cause = "stage_transfer", charged = false,
// CHECK: %[[ALL:.*]] = shard.all_gather %[[PART]] on @grid grid_axes = [2] gather_axis = 0 {shardopt.collective = {bytes = 67108864 : i64, cause = "stage_transfer", charged = true,
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%[[ROWS]], 8192] [1, 1]
// CHECK: llm.repeat 1 {{.*}}init(%{{.*}} = %[[TRUE]] :
func.func @gathered(%x: tensor<?x8192xbf16>) -> tensor<?x8192xbf16> {
  %y = llm.repeat 2 layers<0-1> init(%r = %x : tensor<?x8192xbf16>) {
    %n = llm.param @norm : tensor<8192xbf16>
    %0 = llm.rms_norm "norm" dim<none> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8192xbf16>
    %2 = llm.add %r, %0 : tensor<?x8192xbf16>
    llm.yield %2 : tensor<?x8192xbf16>
  }
  return %y : tensor<?x8192xbf16>
}
}
