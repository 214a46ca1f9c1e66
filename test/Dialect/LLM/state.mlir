// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --verify-roundtrip -o /dev/null

// CHECK-LABEL: @gated_delta_net
func.func @gated_delta_net(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = llm.gated_delta_net "net" dim<0> %{{.*}} at(%{{.*}}) conv_state(%{{.*}}) state(%{{.*}}) conv(%{{.*}}) decay(%{{.*}}) step_bias(%{{.*}}) norm(%{{.*}}) {epsilon = 1.0e-6, heads = 2, key_dim = 4, sequence = 16, value_dim = 6, value_heads = 4} : tensor<?x72xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32> -> tensor<?x24xbf16>
  %y:3 = llm.gated_delta_net "net" dim<heads> %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%d) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6, sequence = 16} : tensor<?x72xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32> -> tensor<?x24xbf16>
  return
}

// CHECK-LABEL: @mamba2
func.func @mamba2(%h: tensor<?x16xbf16>, %m: tensor<16x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %b: tensor<36xbf16>, %d: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // CHECK: llm.mamba2_proj "in_proj" dim<1> %{{.*}}, %{{.*}} {groups = 2, head_dim = 5, heads = 4, state_dim = 4} : tensor<?x16xbf16> -> tensor<?x60xbf16>
  %x = llm.mamba2_proj "in_proj" dim<columns> %h, %m {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : tensor<?x16xbf16> -> tensor<?x60xbf16>
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = llm.mamba2 "space" dim<0> %{{.*}} at(%{{.*}}) conv_state(%{{.*}}) state(%{{.*}}) conv(%{{.*}}) conv_bias(%{{.*}}) decay(%{{.*}}) skip(%{{.*}}) step_bias(%{{.*}}) norm(%{{.*}}) {epsilon = 1.0e-5, groups = 2, head_dim = 5, heads = 4, sequence = 16, state_dim = 4, step_max = 0.5, step_min = 0.1} : tensor<?x60xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32> -> tensor<?x20xbf16>
  %y:3 = llm.mamba2 "space" dim<heads> %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%b) decay(%d) skip(%d) step_bias(%d) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5, step_min = 0.1, step_max = 0.5, sequence = 16} : tensor<?x60xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32> -> tensor<?x20xbf16>
  // CHECK: llm.mamba2 "plain" %{{.*}} at(%{{.*}}) conv_state(%{{.*}}) state(%{{.*}}) conv(%{{.*}}) decay(%{{.*}}) skip(%{{.*}}) step_bias(%{{.*}}) {groups = 2, head_dim = 5, heads = 4, state_dim = 4} :
  %z:3 = llm.mamba2 "plain" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) skip(%d) step_bias(%d) {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : tensor<?x60xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32> -> tensor<?x20xbf16>
  return
}

// Gates stand behind the queries of their heads.
// CHECK-LABEL: @gates
func.func @gates(%x: tensor<?x64xbf16>, %w: tensor<64x160xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) {
  // CHECK: llm.qkv_proj "qkv_proj" %{{.*}}, %{{.*}} {gated, head_dim = 8, heads = 8, kv_heads = 2}
  %q = llm.qkv_proj "qkv_proj" %x, %w {heads = 8, kv_heads = 2, head_dim = 8, gated} : tensor<?x64xbf16> -> tensor<?x160xbf16>
  // CHECK: llm.attention gqa "attention" {{.*}} {gated, group = 4, head_dim = 8
  %a:3 = llm.attention gqa "attention" %q at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35, gated} : tensor<?x160xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// CHECK-LABEL: @source
func.func @source() {
  // CHECK: from dim 1 groups 2 [
  // CHECK-NEXT: 4 of "q" transposed,
  // CHECK-NEXT: 8 from 4 of "q" transposed]
  %w = llm.param @w : tensor<8x12xbf16> from dim 1 groups 2 [4 of "q" transposed, 8 from 4 of "q" transposed]
  return
}
