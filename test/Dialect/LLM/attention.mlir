// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @gqa
func.func @gqa(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xf8E4M3FN>) {
  // CHECK: %{{.*}}, %{{.*}}:2 = llm.attention gqa %{{.*}} at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {group = 4 : i64, head_dim = 8 : i64, heads = 8 : i64, kv_heads = 2 : i64, name = "attention", rope = #llm.rope<dim = 8, theta = 1.000000e+04>, scale = 3.500000e-01 : f64, sharding = #llm.dim<1>, window = 128 : i64}
  %a:3 = llm.attention gqa %x at(%p) cache(%k, %v) {name = "attention", heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35, rope = #llm.rope<dim = 8, theta = 1.0e4>, window = 128, sharding = #llm.dim<1>}
    : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xf8E4M3FN>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xf8E4M3FN>)
  return
}

// CHECK-LABEL: @gqa_with_all_operands
func.func @gqa_with_all_operands(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %n: tensor<8xbf16>, %s: tensor<8xbf16>, %o: index) {
  // CHECK: llm.attention gqa %{{.*}} at(%{{.*}}) cache(%{{.*}}, %{{.*}}) q_norm(%{{.*}}) k_norm(%{{.*}}) sinks(%{{.*}}) head_offset(%{{.*}}) {epsilon = {{.*}} : f64, {{.*}}, sequence = 16 : i64}
  %a:3 = llm.attention gqa %x at(%p) cache(%k, %v) q_norm(%n) k_norm(%n) sinks(%s) head_offset(%o) {name = "attention", heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = 1.0e-6, sequence = 16}
    : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<8xbf16>, tensor<8xbf16>, tensor<8xbf16>, index) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// Two of six heads; `group` is that of the whole model.
// CHECK-LABEL: @gqa_of_one_device
func.func @gqa_of_one_device(%x: tensor<?x48xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // CHECK: llm.attention gqa
  %a:3 = llm.attention gqa %x at(%p) cache(%k, %v) head_offset(%o) {name = "attention", heads = 2, kv_heads = 2, head_dim = 8, group = 3, scale = 0.35}
    : (tensor<?x48xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, index) -> (tensor<?x16xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// CHECK-LABEL: @mla
func.func @mla(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // CHECK: %{{.*}}, %{{.*}} = llm.attention mla %{{.*}}, %{{.*}} at(%{{.*}}) cache(%{{.*}}) kv_norm(%{{.*}}) kv_up(%{{.*}}) {heads = 4 : i64, kv_norm_epsilon = {{.*}} : f64, name = "attention", nope_dim = 8 : i64, rank = 16 : i64, rope = #llm.rope<dim = 4, theta = 1.000000e+04, style = interleaved>, rope_dim = 4 : i64, scale = 2.900000e-01 : f64, value_dim = 8 : i64}
  %a:2 = llm.attention mla %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {name = "attention", heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, rope = #llm.rope<dim = 4, theta = 1.0e4, style = interleaved>}
    : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}
