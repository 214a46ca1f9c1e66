// StableHLO of another compiler, in generic form: the shardings that people write by hand come
// out by themselves, as Shardy's. Compute and memory are slow, so that small sizes are worth it.

// RUN: split-file %s %t
// RUN: %python -c "import json; m = json.load(open('%shardopt_root/machines/h100_sxm.json')); m['compute']['bf16_flops_per_s'] /= 1e5; m['memory']['bandwidth_bytes_per_s'] /= 1e5; json.dump(m, open('%t/slow.json', 'w'))"
// RUN: shard-opt %t/mlp.mlir --allow-unregistered-dialect --shard-auto-annotate='mesh=model=2 machine=%t/slow.json' --remarks-filter='.*' 2>&1 | FileCheck %t/mlp.mlir
// RUN: shard-opt %t/attention.mlir --allow-unregistered-dialect --shard-auto-annotate='mesh=2 machine=%t/slow.json' | FileCheck %t/attention.mlir
// RUN: sed 's/shardopt.replicated/shardopt.sharded = array<i64: 0, -1>/' %t/attention.mlir | shard-opt --allow-unregistered-dialect --shard-auto-annotate='mesh=data=2,model=2 machine=%t/slow.json' | FileCheck %t/attention.mlir --check-prefix=AXES
// RUN: shard-opt %t/rules.mlir --allow-unregistered-dialect --shard-auto-annotate='mesh=2 machine=%t/slow.json' --remarks-filter='.*' 2>&1 | FileCheck %t/rules.mlir
// RUN: shard-opt %t/ops.mlir --allow-unregistered-dialect --shard-auto-annotate='mesh=2 machine=%t/slow.json' | FileCheck %t/ops.mlir
// RUN: shard-opt %t/mlp.mlir --allow-unregistered-dialect --shard-auto-annotate | not shard-opt --allow-unregistered-dialect --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=TWICE

// TWICE: error: {{.*}} is an annotation already, expected a function without

//--- mlp.mlir

// Megatron's: columns, then rows, and one all-reduce. The function that is called is inlined.
// CHECK: annotated {{.*}} proved=true
// CHECK: module @jit_mlp attributes {mhlo.num_partitions = 2 : i32}
// CHECK: "sdy.mesh"() <{mesh = #sdy.mesh<["model"=2]>, sym_name = "shardopt_mesh"}>
// CHECK: func.func public @main(%arg0: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@shardopt_mesh, [{}, {}]>}, %arg1: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@shardopt_mesh, [{}, {"model"}]>}, %arg2: tensor<256x64xf32> {sdy.sharding = #sdy.sharding<@shardopt_mesh, [{"model"}, {}]>}) -> (tensor<16x64xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@shardopt_mesh, [{}, {}]>})
// CHECK: "stablehlo.dot_general"(%arg0, %arg1) {{.*}} {sdy.sharding = #sdy.sharding_per_value<[<@shardopt_mesh, [{}, {"model"}]>]>}
// CHECK: "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : ()
// CHECK: "stablehlo.maximum"({{.*}}sharding_per_value<[<@shardopt_mesh, [{}, {"model"}]>]>}
// CHECK: "stablehlo.dot_general"({{.*}}sharding_per_value<[<@shardopt_mesh, [{}, {}]>]>}
// CHECK-NOT: sharding_constraint
// CHECK-NOT: @relu
"builtin.module"() <{sym_name = "jit_mlp"}> ({
  "func.func"() <{function_type = (tensor<16x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<16x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<16x64xf32>, %arg1: tensor<64x256xf32>, %arg2: tensor<256x64xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x64xf32>, tensor<64x256xf32>) -> tensor<16x256xf32>
    %1 = "func.call"(%0) <{callee = @relu}> : (tensor<16x256xf32>) -> tensor<16x256xf32>
    %2 = "stablehlo.dot_general"(%1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x256xf32>, tensor<256x64xf32>) -> tensor<16x64xf32>
    "func.return"(%2) : (tensor<16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<16x256xf32>) -> tensor<16x256xf32>, sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x256xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x256xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<16x256xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
    "func.return"(%2) : (tensor<16x256xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()

//--- attention.mlir

// Heads; with two axes and sequences that the caller shards over one, heads over the other.
// CHECK: func.func @attention({{.*}}%{{.*}}: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@shardopt_mesh, [{}, {"x"}]>}, %{{.*}}: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@shardopt_mesh, [{"x"}, {}]>})
// CHECK: "stablehlo.reshape"({{.*}}[{}, {}, {"x"}, {}]>]>} : (tensor<2x16x64xf32>) -> tensor<2x16x8x8xf32>
// CHECK: "stablehlo.reshape"({{.*}}[{}, {}, {"x"}]>]>} : (tensor<2x16x8x8xf32>) -> tensor<2x16x64xf32>
// CHECK: "stablehlo.dot_general"({{.*}}[{}, {}, {}]>]>} : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
// AXES: "stablehlo.dot_general"({{.*}}[{"data"}, {"model"}, {}, {}]>]>} : (tensor<2x16x8x8xf32>, tensor<2x16x8x8xf32>) -> tensor<2x8x16x16xf32>
func.func @attention(%x: tensor<2x16x64xf32> {shardopt.replicated}, %wq: tensor<64x64xf32>, %wk: tensor<64x64xf32>, %wv: tensor<64x64xf32>, %wo: tensor<64x64xf32>) -> tensor<2x16x64xf32> {
  %q = "stablehlo.dot_general"(%x, %wq) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
  %qh = "stablehlo.reshape"(%q) : (tensor<2x16x64xf32>) -> tensor<2x16x8x8xf32>
  %k = "stablehlo.dot_general"(%x, %wk) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
  %kh = "stablehlo.reshape"(%k) : (tensor<2x16x64xf32>) -> tensor<2x16x8x8xf32>
  %v = "stablehlo.dot_general"(%x, %wv) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
  %vh = "stablehlo.reshape"(%v) : (tensor<2x16x64xf32>) -> tensor<2x16x8x8xf32>
  %s = "stablehlo.dot_general"(%qh, %kh) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>}> : (tensor<2x16x8x8xf32>, tensor<2x16x8x8xf32>) -> tensor<2x8x16x16xf32>
  %e = "stablehlo.exponential"(%s) : (tensor<2x8x16x16xf32>) -> tensor<2x8x16x16xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %t = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8x16x16xf32>, tensor<f32>) -> tensor<2x8x16xf32>
  %tb = "stablehlo.broadcast_in_dim"(%t) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x8x16xf32>) -> tensor<2x8x16x16xf32>
  %p = "stablehlo.divide"(%e, %tb) : (tensor<2x8x16x16xf32>, tensor<2x8x16x16xf32>) -> tensor<2x8x16x16xf32>
  %o = "stablehlo.dot_general"(%vh, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>}> : (tensor<2x16x8x8xf32>, tensor<2x8x16x16xf32>) -> tensor<2x8x8x16xf32>
  %ot = "stablehlo.transpose"(%o) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x8x8x16xf32>) -> tensor<2x16x8x8xf32>
  %of = "stablehlo.reshape"(%ot) : (tensor<2x16x8x8xf32>) -> tensor<2x16x64xf32>
  %y = "stablehlo.dot_general"(%of, %wo) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32>
  return %y : tensor<2x16x64xf32>
}

//--- rules.mlir

// A custom call is replicated without a rule, and sharded by one.
// CHECK: stablehlo.custom_call is replicated: its factors are not known
// CHECK: %[[A:.*]] = "stablehlo.custom_call"(%arg0) {{.*}}[<@shardopt_mesh, [{}, {}]>]
// CHECK: %[[B:.*]] = "sdy.sharding_constraint"(%[[A]]) <{sharding = #sdy.sharding<@shardopt_mesh, [{}, {"x"}]>}>
// CHECK: "stablehlo.custom_call"(%[[B]]) {{.*}}[<@shardopt_mesh, [{}, {}, {"x"}]>]
func.func @f(%x: tensor<8x8xf32> {shardopt.replicated}) -> (tensor<4x2x8xf32> {shardopt.sharded = 2}) {
  %a = "stablehlo.custom_call"(%x) {call_target_name = "one"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = "stablehlo.custom_call"(%a) {call_target_name = "two", sdy.sharding_rule = #sdy.op_sharding_rule<([ij, k])->([i, j, k]) {i=4, j=2, k=8} need_replication={i}, custom>} : (tensor<8x8xf32>) -> tensor<4x2x8xf32>
  return %b : tensor<4x2x8xf32>
}

//--- ops.mlir

// A table of rows that each device looks up for itself: its columns stay where they are. So do
// the batches of a scatter, the features of a grouped convolution, and what is pooled, sliced,
// padded, joined and sorted along other dims.
// CHECK-NOT: sharding_constraint
// CHECK: "stablehlo.gather"({{.*}}[{}, {"x"}]>]>}
// CHECK: "stablehlo.sort"
// CHECK: [{}, {"x"}]>, <@shardopt_mesh, [{}, {"x"}]>]>}
// CHECK: "stablehlo.scatter"
// CHECK: [{"x"}, {}]>]>}
// CHECK: "stablehlo.convolution"({{.*}}[{}, {"x"}, {}, {}]>]>}
// CHECK: "stablehlo.reduce_window"
// CHECK: [{}, {"x"}, {}, {}]>]>}
// CHECK-NOT: sharding_constraint
// CHECK: return
func.func @rows(%table: tensor<100x64xf32> {shardopt.sharded = 1}, %rows: tensor<16x1xi32> {shardopt.replicated}, %at: tensor<i32>) -> (tensor<24x64xf32> {shardopt.sharded = 1}, tensor<24x64xi32> {shardopt.sharded = 1}) {
  %0 = "stablehlo.gather"(%table, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<100x64xf32>, tensor<16x1xi32>) -> tensor<16x64xf32>
  %1 = "stablehlo.slice"(%0) <{start_indices = array<i64: 4, 0>, limit_indices = array<i64: 12, 64>, strides = array<i64: 1, 1>}> : (tensor<16x64xf32>) -> tensor<8x64xf32>
  %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<16x64xf32>, tensor<8x64xf32>) -> tensor<24x64xf32>
  %3 = "stablehlo.dynamic_update_slice"(%2, %1, %at, %at) : (tensor<24x64xf32>, tensor<8x64xf32>, tensor<i32>, tensor<i32>) -> tensor<24x64xf32>
  %4 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<24x64xi32>
  %5:2 = "stablehlo.sort"(%3, %4) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%less) : (tensor<i1>) -> ()
  }) : (tensor<24x64xf32>, tensor<24x64xi32>) -> (tensor<24x64xf32>, tensor<24x64xi32>)
  return %5#0, %5#1 : tensor<24x64xf32>, tensor<24x64xi32>
}
func.func @batches(%x: tensor<8x64xf32> {shardopt.sharded = 0}, %at: tensor<8x4x1xi32> {shardopt.sharded = 0}, %new: tensor<8x4xf32> {shardopt.sharded = 0}) -> (tensor<8x64xf32> {shardopt.sharded = 0}) {
  %0 = "stablehlo.scatter"(%x, %at, %new) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<8x64xf32>, tensor<8x4x1xi32>, tensor<8x4xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}
func.func @image(%x: tensor<2x16x8x8xf32> {shardopt.sharded = 1}, %w: tensor<16x1x3x3xf32>, %zero: tensor<f32>) -> (tensor<2x16x4x4xf32> {shardopt.sharded = 1}) {
  %0 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 16 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<2x16x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<2x16x8x8xf32>
  %1 = "stablehlo.reduce_window"(%0, %zero) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x16x8x8xf32>, tensor<f32>) -> tensor<2x16x4x4xf32>
  return %1 : tensor<2x16x4x4xf32>
}
