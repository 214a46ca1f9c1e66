// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --verify-roundtrip -o /dev/null
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @gqa
func.func @gqa(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xf8E4M3FN>) {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = llm.attention gqa "attention" dim<1> %{{.*}} at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {group = 4, head_dim = 8, heads = 8, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35, window = 128}
  %a:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35, rope = #llm.rope<dim = 8, theta = 1.0e4>, window = 128} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xf8E4M3FN>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xf8E4M3FN>)
  return
}

// CHECK-LABEL: @gqa_with_all_operands
func.func @gqa_with_all_operands(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %n: tensor<8xbf16>, %s: tensor<8xbf16>, %o: index) {
  // CHECK: llm.attention gqa {{.*}} %{{.*}} at(%{{.*}}) cache(%{{.*}}, %{{.*}}) q_norm(%{{.*}}) k_norm(%{{.*}}) sinks(%{{.*}}) head_offset(%{{.*}}) {epsilon = {{.*}}, sequence = 16}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %v) q_norm(%n) k_norm(%n) sinks(%s) head_offset(%o) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = 1.0e-6, sequence = 16} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// Two of six heads; `group` is that of the whole model.
// CHECK-LABEL: @gqa_of_one_device
func.func @gqa_of_one_device(%x: tensor<?x48xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // CHECK: llm.attention gqa
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %v) head_offset(%o) {heads = 2, kv_heads = 2, head_dim = 8, group = 3, scale = 0.35} : tensor<?x48xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x16xbf16>
  return
}

// CHECK-LABEL: @mla
func.func @mla(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // CHECK: %{{.*}}, %{{.*}} = llm.attention mla "attention" %{{.*}}, %{{.*}} at(%{{.*}}) cache(%{{.*}}) kv_norm(%{{.*}}) kv_up(%{{.*}}) {heads = 4, kv_norm_epsilon = {{.*}}, nope_dim = 8, rank = 16, rope = #llm.rope<dim = 4, theta = 10000.0, style = interleaved>, rope_dim = 4, scale = 0.29, value_dim = 8}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, rope = #llm.rope<dim = 4, theta = 1.0e4, style = interleaved>} : tensor<?x48xbf16>, tensor<?x?x20xbf16> -> tensor<?x32xbf16>
  return
}

// CHECK-LABEL: @indexed
func.func @indexed(%x: tensor<?x48xbf16>, %l: tensor<?x29xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x26xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>, %q: tensor<?x18xbf16>, %k: tensor<6xbf16>, %b: tensor<6xbf16>) {
  // CHECK: llm.attention mla {{.*}} index_queries(%{{.*}}) index_norm(%{{.*}}) index_norm_bias(%{{.*}}) {{.*}}indexer = #llm.indexer<heads = 3, dim = 6, top_k = 5, epsilon = 1.0e-6>{{.*}} : tensor<?x48xbf16>, tensor<?x?x26xbf16> -> tensor<?x32xbf16>
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) index_queries(%q) index_norm(%k) index_norm_bias(%b) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, rope = #llm.rope<dim = 4, theta = 1.0e4, style = interleaved>, indexer = #llm.indexer<heads = 3, dim = 6, top_k = 5, epsilon = 1.0e-6>} : tensor<?x48xbf16>, tensor<?x?x26xbf16> -> tensor<?x32xbf16>
  return
}
