// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope --split-input-file | FileCheck %s

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// A device has whole groups with their heads, two of three and zeros behind the
// third, and norms them by itself.
// CHECK-LABEL: @groups(
// CHECK-SAME: tensor<8x24xf32> {{.*}}array<i64: 0, 8, 1, 2, 12>, array<i64: 24, 2, 1, 2, 3>, array<i64: 30, 4, 1>]
// CHECK: llm.mamba2_proj {{.*}}groups = 2, head_dim = 2, heads = 4
// CHECK-NOT: shard.
// CHECK: llm.mamba2 {{.*}} norm({{.*}}groups = 2, head_dim = 2, heads = 4
// CHECK: shard.all_gather {{.*}}cause = "return"
func.func @groups(%h: tensor<?x8xf32>, %m: tensor<8x36xf32>, %p: tensor<?xi32>, %c: tensor<?x3x18xf32>, %s: tensor<?x6x2x1xf32>, %w: tensor<4x18xf32>, %b: tensor<18xf32>, %d: tensor<6xf32>, %n: tensor<12xf32>) -> tensor<?x12xf32> {
  %x = llm.mamba2_proj "in_proj" dim<columns> %h, %m {heads = 6, head_dim = 2, groups = 3, state_dim = 1} : tensor<?x8xf32> -> tensor<?x36xf32>
  %y:3 = llm.mamba2 "mamba2" dim<heads> %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%b) decay(%d) skip(%d) step_bias(%d) norm(%n) {heads = 6, head_dim = 2, groups = 3, state_dim = 1, epsilon = 1.0e-5} : tensor<?x36xf32>, tensor<?x3x18xf32>, tensor<?x6x2x1xf32> -> tensor<?x12xf32>
  return %y#0 : tensor<?x12xf32>
}

// The heads of a single group are cut, B and C are on every device, and the norm is of
// the heads of all.
// CHECK-LABEL: @one_group(
// CHECK-SAME: array<i64: 0, 4, 1, 2, 8>, array<i64: 16, 6, 1>], [array<i64: 4, 4, 1>, array<i64: 12, 8, 1>, array<i64: 22, 2, 1>]
// CHECK-SAME: tensor<?x3x8xf32> {{.*}}array<i64: 0, 4, 1, 2, 8>], [array<i64: 4, 8, 1>]
// CHECK: llm.mamba2_proj {{.*}}groups = 1, head_dim = 2, heads = 2
// CHECK: %[[MADE:.*]], %{{.*}}, %{{.*}} = llm.mamba2 {{.*}} step_bias(%{{[a-z0-9]*}}) {groups = 1, head_dim = 2, heads = 2
// CHECK: %[[OWN:.*]] = llm.sum_squares %[[MADE]]
// CHECK: %[[ALL:.*]] = shard.all_reduce %[[OWN]] {{.*}}bytes = 32 {{.*}}cause = "mamba2"
// CHECK: llm.scale_norm %[[MADE]], %[[ALL]], {{.*}}size = 8}
func.func @one_group(%h: tensor<?x8xf32>, %m: tensor<8x24xf32>, %p: tensor<?xi32>, %c: tensor<?x3x12xf32>, %s: tensor<?x4x2x2xf32>, %w: tensor<4x12xf32>, %d: tensor<4xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  %x = llm.mamba2_proj "in_proj" dim<columns> %h, %m {heads = 4, head_dim = 2, groups = 1, state_dim = 2} : tensor<?x8xf32> -> tensor<?x24xf32>
  %y:3 = llm.mamba2 "mamba2" dim<heads> %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) skip(%d) step_bias(%d) norm(%n) {heads = 4, head_dim = 2, groups = 1, state_dim = 2, epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<?x3x12xf32>, tensor<?x4x2x2xf32> -> tensor<?x8xf32>
  return %y#0 : tensor<?x8xf32>
}

// Features are contracted: what every device needs of the sum is all-reduced, the rest
// scattered.
// CHECK-LABEL: @scattered(
// CHECK: llm.mamba2_proj "in_proj" dim<0>
// CHECK-COUNT-2: shard.reduce_scatter {{.*}}bytes = 256
// CHECK-COUNT-2: shard.all_reduce {{.*}}bytes = 64
// CHECK: shard.reduce_scatter {{.*}}bytes = 128
// CHECK: tensor.concat
// CHECK: llm.mamba2 "mamba2" dim<0>
func.func @scattered(%h: tensor<?x8xf32>, %m: tensor<8x24xf32>, %p: tensor<?xi32>, %c: tensor<?x3x12xf32>, %s: tensor<?x4x2x2xf32>, %w: tensor<4x12xf32>, %d: tensor<4xf32>) -> tensor<?x8xf32> {
  %x = llm.mamba2_proj "in_proj" dim<input> %h, %m {heads = 4, head_dim = 2, groups = 1, state_dim = 2} : tensor<?x8xf32> -> tensor<?x24xf32>
  %y:3 = llm.mamba2 "mamba2" dim<heads> %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) skip(%d) step_bias(%d) {heads = 4, head_dim = 2, groups = 1, state_dim = 2} : tensor<?x24xf32>, tensor<?x3x12xf32>, tensor<?x4x2x2xf32> -> tensor<?x8xf32>
  return %y#0 : tensor<?x8xf32>
}

// Sequences are cut, and every state is whole.
// CHECK-LABEL: @sequences(
// CHECK-SAME: {rows = ["ep", "tp"]}, {}, {}, {}]
// CHECK: llm.mamba2 "mamba2" dim<none> {{.*}} norm({{.*}}groups = 1, head_dim = 2, heads = 4
// CHECK: shard.all_gather {{.*}}gather_axis = 0
func.func @sequences(%h: tensor<?x24xf32>, %g: tensor<24xf32>, %p: tensor<?xi32>, %c: tensor<?x3x12xf32>, %s: tensor<?x4x2x2xf32>, %w: tensor<4x12xf32>, %d: tensor<4xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  %x = llm.rms_norm "norm" dim<tokens> %h weight(%g) {epsilon = 1.0e-5} : tensor<?x24xf32>
  %y:3 = llm.mamba2 "mamba2" dim<none> %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) skip(%d) step_bias(%d) norm(%n) {heads = 4, head_dim = 2, groups = 1, state_dim = 2, epsilon = 1.0e-5} : tensor<?x24xf32>, tensor<?x3x12xf32>, tensor<?x4x2x2xf32> -> tensor<?x8xf32>
  return %y#0 : tensor<?x8xf32>
}

}
