// Collectives are replaced where the time model says that it pays.
//
// RUN: shard-opt %s -split-input-file --llm-optimize-collectives | FileCheck %s
// RUN: shard-opt %s -split-input-file --llm-optimize-collectives=comm-model=direct | FileCheck %s --check-prefix=DIRECT

// CHECK-LABEL: @nothing_to_improve
// CHECK: shard.all_reduce %{{.*}} on @grid grid_axes = [2]
// CHECK-NEXT: return
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @nothing_to_improve(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {cause = "a", bytes = 1048576 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    return %0 : tensor<?x64xbf16>
  }
}

// -----

// The note of the new collective keeps the cause and the bytes; its time is new.
// CHECK-LABEL: @slice_of_all_reduce
// CHECK-NOT: all_reduce
// CHECK: shard.reduce_scatter %{{.*}} on @grid grid_axes = [2] scatter_axis = 1
// CHECK-SAME: bytes = 1048576 : i64, cause = "ffn_down", charged = true, microseconds = 7.18{{[0-9]*}} : f64
// CHECK-NOT: all_slice
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @slice_of_all_reduce(%x: tensor<?x64xbf16>) -> tensor<?x16xbf16> {
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {cause = "ffn_down", bytes = 1048576 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %1 = shard.all_slice %0 on @grid grid_axes = [2] slice_axis = 1 : tensor<?x64xbf16> -> tensor<?x16xbf16>
    return %1 : tensor<?x16xbf16>
  }
}

// -----

// Padding with zeros commutes with the sum.
// CHECK-LABEL: @slice_of_padded_all_reduce
// CHECK-SAME: %[[X:.*]]: tensor<?x64xbf16>
// CHECK: %[[PADDED:.*]] = tensor.pad %[[X]]
// CHECK: shard.reduce_scatter %[[PADDED]] {{.*}} scatter_axis = 0
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @slice_of_padded_all_reduce(%x: tensor<?x64xbf16>, %n: index) -> tensor<?x64xbf16> {
    %zero = arith.constant 0.0 : bf16
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {cause = "a", bytes = 1048576 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %1 = tensor.pad %0 low[0, 0] high[%n, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : bf16
    } : tensor<?x64xbf16> to tensor<?x64xbf16>
    %2 = shard.all_slice %1 on @grid grid_axes = [2] slice_axis = 0 : tensor<?x64xbf16> -> tensor<?x64xbf16>
    return %2 : tensor<?x64xbf16>
  }
}

// -----

// Somebody else needs the whole sum: nothing would be saved.
// CHECK-LABEL: @slice_of_shared_all_reduce
// CHECK: shard.all_reduce
// CHECK: shard.all_slice
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @slice_of_shared_all_reduce(%x: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x16xbf16>) {
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {cause = "a", bytes = 1048576 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %1 = shard.all_slice %0 on @grid grid_axes = [2] slice_axis = 1 : tensor<?x64xbf16> -> tensor<?x16xbf16>
    return %0, %1 : tensor<?x64xbf16>, tensor<?x16xbf16>
  }
}

// -----

// CHECK-LABEL: @gather_and_slice_undo_each_other
// CHECK-SAME: %[[X:.*]]: tensor<?x16xbf16>, %[[Y:.*]]: tensor<?x64xbf16>
// CHECK-NEXT: return %[[X]], %[[Y]]
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @gather_and_slice_undo_each_other(%x: tensor<?x16xbf16>, %y: tensor<?x64xbf16>) -> (tensor<?x16xbf16>, tensor<?x64xbf16>) {
    %0 = shard.all_gather %x on @grid grid_axes = [2] gather_axis = 1 : tensor<?x16xbf16> -> tensor<?x64xbf16>
    %1 = shard.all_slice %0 on @grid grid_axes = [2] slice_axis = 1 : tensor<?x64xbf16> -> tensor<?x16xbf16>
    %2 = shard.all_slice %y on @grid grid_axes = [2] slice_axis = 1 : tensor<?x64xbf16> -> tensor<?x16xbf16>
    %3 = shard.all_gather %2 on @grid grid_axes = [2] gather_axis = 1 : tensor<?x16xbf16> -> tensor<?x64xbf16>
    return %1, %3 : tensor<?x16xbf16>, tensor<?x64xbf16>
  }
}

// -----

// A gather along one dim of which each device keeps a block along another.
// CHECK-LABEL: @slice_across_gather
// CHECK: shard.all_to_all %{{.*}} on @grid grid_axes = [2] split_axis = 1 concat_axis = 0
// CHECK-SAME: bytes = 4194304 : i64, cause = "attention"
// CHECK-NOT: all_gather
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @slice_across_gather(%x: tensor<?x64xbf16>) -> tensor<?x16xbf16> {
    %0 = shard.all_gather %x on @grid grid_axes = [2] gather_axis = 0 {shardopt.collective = {cause = "attention", bytes = 16777216 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %1 = shard.all_slice %0 on @grid grid_axes = [2] slice_axis = 1 : tensor<?x64xbf16> -> tensor<?x16xbf16>
    return %1 : tensor<?x16xbf16>
  }
}

// -----

// CHECK-LABEL: @sum_of_all_reduces
// CHECK: %[[SUM:.*]] = llm.add %{{.*}}, %{{.*}} : tensor<?x64xbf16>
// CHECK-NEXT: shard.all_reduce %[[SUM]]
// CHECK-NEXT: return
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @sum_of_all_reduces(%x: tensor<?x64xbf16>, %y: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {cause = "a", bytes = 1048576 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %1 = shard.all_reduce %y on @grid grid_axes = [2] {shardopt.collective = {cause = "b", bytes = 1048576 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %2 = llm.add %0, %1 : tensor<?x64xbf16>
    return %2 : tensor<?x64xbf16>
  }
}

// -----

// CHECK-LABEL: @equal_gathers
// CHECK: %[[G:.*]] = shard.all_gather
// CHECK-NOT: all_gather
// CHECK: return %[[G]], %[[G]]
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @equal_gathers(%x: tensor<?x16xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
    %0 = shard.all_gather %x on @grid grid_axes = [2] gather_axis = 1 {shardopt.collective = {cause = "a", bytes = 1024 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x16xbf16> -> tensor<?x64xbf16>
    %1 = shard.all_gather %x on @grid grid_axes = [2] gather_axis = 1 {shardopt.collective = {cause = "b", bytes = 1024 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x16xbf16> -> tensor<?x64xbf16>
    return %0, %1 : tensor<?x64xbf16>, tensor<?x64xbf16>
  }
}

// -----

// Positions do not change from layer to layer, so neither do their blocks.
// CHECK-LABEL: @slice_of_an_invariant
// CHECK: shard.all_gather
// CHECK: llm.repeat
// CHECK-NOT: shard.all_gather
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @slice_of_an_invariant(%x: tensor<?x64xbf16>, %y: tensor<?x16xbf16>) -> tensor<?x64xbf16> {
    %0 = llm.repeat 3 init(%r = %x : tensor<?x64xbf16>) invariants(%i = %y : tensor<?x16xbf16>) {
      %1 = shard.all_gather %i on @grid grid_axes = [2] gather_axis = 1 {shardopt.collective = {cause = "a", bytes = 1024 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x16xbf16> -> tensor<?x64xbf16>
      %2 = llm.add %r, %1 : tensor<?x64xbf16>
      llm.yield %2 : tensor<?x64xbf16>
    }
    return %0 : tensor<?x64xbf16>
  }
}

// -----

// A norm that subtracts the mean is one of rows, too (see @norm_of_all_reduce).
// CHECK-LABEL: @layer_norm_of_all_reduce
// DIRECT-LABEL: @layer_norm_of_all_reduce
// DIRECT: %[[S:.*]] = shard.reduce_scatter
// DIRECT: %[[N:.*]] = llm.layer_norm {{.*}} %[[S]] weight(%{{.*}}) bias(%{{.*}})
// DIRECT: shard.all_gather %[[N]] {{.*}} gather_axis = 0
// DIRECT-NOT: all_reduce
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @layer_norm_of_all_reduce(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %b: tensor<64xbf16>) -> tensor<?x64xbf16> {
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {cause = "ffn_norm", bytes = 16777216 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %n = llm.layer_norm "ffn_norm" %0 weight(%w) bias(%b) {epsilon = 1.0e-5} : tensor<?x64xbf16>
    return %n : tensor<?x64xbf16>
  }
}

// -----

// Two-shot all-reduces cost a reduce-scatter and an all-gather: the norm of a
// block of rows between the two is cheaper, and the residual stays cut until the
// next sum. In-network reductions are faster than both, so nothing changes there.
// CHECK-LABEL: @norm_of_all_reduce
// CHECK-NOT: reduce_scatter
// DIRECT-LABEL: @norm_of_all_reduce
// DIRECT-SAME: %[[X:.*]]: tensor<?x64xbf16>, %[[R:.*]]: tensor<?x64xbf16>, %[[W:.*]]: tensor<64xbf16>
// DIRECT: %[[S:.*]] = shard.reduce_scatter
// DIRECT: %[[B:.*]] = shard.all_slice
// DIRECT: %[[N:.*]], %[[SUM:.*]] = llm.rms_norm {{.*}} %[[S]] residual(%[[B]]) weight(%[[W]])
// DIRECT: shard.all_gather %[[N]] {{.*}} gather_axis = 0
// DIRECT: %[[S2:.*]] = shard.reduce_scatter
// DIRECT: %[[ADDED:.*]] = llm.add %[[SUM]], %[[S2]]
// DIRECT: shard.all_gather %[[ADDED]]
// DIRECT-NOT: all_reduce
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @norm_of_all_reduce(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>, %w: tensor<64xbf16>, %u: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {cause = "ffn_norm", bytes = 16777216 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %n, %s = llm.rms_norm "ffn_norm" %0 residual(%r) weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
    %1 = llm.linear "proj" %n, %u : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %2 = shard.all_reduce %1 on @grid grid_axes = [2] {shardopt.collective = {cause = "attn_norm", bytes = 16777216 : i64, microseconds = 1.0 : f64, charged = true, type = bf16}} : tensor<?x64xbf16> -> tensor<?x64xbf16>
    %3 = llm.add %s, %2 : tensor<?x64xbf16>
    return %3 : tensor<?x64xbf16>
  }
}
