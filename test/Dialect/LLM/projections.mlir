// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --verify-roundtrip -o /dev/null
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @embedding
func.func @embedding(%t: tensor<?xi32>, %w: tensor<96x8xbf16>, %o: index) {
  // CHECK: llm.embedding "embed" dim<0> %{{.*}}, %{{.*}} : tensor<96x8xbf16> -> tensor<?x8xbf16>
  %a = llm.embedding "embed" dim<0> %t, %w : tensor<96x8xbf16> -> tensor<?x8xbf16>
  // CHECK: llm.embedding "local" %{{.*}}, %{{.*}} offset(%{{.*}})
  %b = llm.embedding "local" %t, %w offset(%o) : tensor<96x8xbf16> -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // CHECK: %[[N:.*]] = llm.rms_norm "attn_norm" dim<1> %{{.*}} weight(%{{.*}}) {epsilon = 1.0e-6} : tensor<?x8xbf16>
  %a = llm.rms_norm "attn_norm" dim<1> %x weight(%w) {epsilon = 1.0e-6} : tensor<?x8xbf16>
  // CHECK: %{{.*}}, %{{.*}} = llm.rms_norm "ffn_norm" %{{.*}} residual(%{{.*}}) weight(%{{.*}}) {epsilon = 1.0e-6} : tensor<?x8xbf16>{{$}}
  %b, %s = llm.rms_norm "ffn_norm" %x residual(%r) weight(%w) {epsilon = 1.0e-6} : tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @qkv_proj
func.func @qkv_proj(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>, %b: tensor<96xbf16>) {
  // CHECK: llm.qkv_proj "a" dim<none> %{{.*}}, %{{.*}} {head_dim = 8, heads = 8, kv_heads = 2}
  %q = llm.qkv_proj "a" dim<none> %x, %w {heads = 8, kv_heads = 2, head_dim = 8} : tensor<?x64xbf16> -> tensor<?x96xbf16>
  // CHECK: llm.qkv_proj "b" %{{.*}}, %{{.*}} bias(%{{.*}}) {{{.*}}} : tensor<?x64xbf16> -> tensor<?x96xbf16>
  %p = llm.qkv_proj "b" %x, %w bias(%b) {heads = 8, kv_heads = 2, head_dim = 8} : tensor<?x64xbf16> -> tensor<?x96xbf16>
  return
}

// With six heads, two of them for keys and values, and four devices, a device
// has two query heads and may have one or two kv heads.
// CHECK-LABEL: @qkv_proj_of_one_device
func.func @qkv_proj_of_one_device(%x: tensor<?x64xbf16>, %w: tensor<64x48xbf16>) {
  // CHECK: llm.qkv_proj
  %q = llm.qkv_proj "a" %x, %w {heads = 2, kv_heads = 2, head_dim = 8} : tensor<?x64xbf16> -> tensor<?x48xbf16>
  return
}

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<?x8xbf16>, %w: tensor<8x6xf8E4M3FN>, %t: tensor<6x8xbf16>, %n: tensor<8xbf16>, %b: tensor<6xbf16>) {
  // CHECK: llm.linear "a" %{{.*}}, %{{.*}} : tensor<?x8xbf16> -> tensor<?x6xbf16> weights f8E4M3FN
  %a = llm.linear "a" %x, %w : tensor<?x8xbf16> -> tensor<?x6xbf16> weights f8E4M3FN
  // CHECK: llm.linear "b" dim<1> %{{.*}}, %{{.*}} norm(%{{.*}}) bias(%{{.*}}) {epsilon = {{.*}}, heads = 3} : tensor<?x8xbf16> -> tensor<?x6xbf16> weights f8E4M3FN
  %c = llm.linear "b" dim<1> %x, %w norm(%n) bias(%b) {epsilon = 1.0e-6, heads = 3} : tensor<?x8xbf16> -> tensor<?x6xbf16> weights f8E4M3FN
  // CHECK: llm.linear "c" %{{.*}}, %{{.*}} bias(%{{.*}}) {transposed}
  %d = llm.linear "c" %x, %t bias(%b) {transposed} : tensor<?x8xbf16> -> tensor<?x6xbf16>
  return
}

// CHECK-LABEL: @out_proj
func.func @out_proj(%x: tensor<?x64xbf16>, %w: tensor<64x8xbf16>, %b: tensor<8xbf16>) {
  // CHECK: llm.out_proj "a" dim<0> %{{.*}}, %{{.*}} {heads = 8}
  %a = llm.out_proj "a" dim<0> %x, %w {heads = 8} : tensor<?x64xbf16> -> tensor<?x8xbf16>
  // CHECK: llm.out_proj "b" %{{.*}}, %{{.*}} bias(%{{.*}}) {heads = 8}
  %c = llm.out_proj "b" %x, %w bias(%b) {heads = 8} : tensor<?x64xbf16> -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @dense_ffn
func.func @dense_ffn(%x: tensor<?x8xbf16>, %u: tensor<8x32xbf16>, %b: tensor<32xbf16>, %d: tensor<16x8xbf16>, %c: tensor<8xbf16>) {
  // CHECK: llm.ffn_up "up" dim<1> %{{.*}}, %{{.*}} {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xbf16> -> tensor<?x16xbf16>
  %0 = llm.ffn_up "up" dim<1> %x, %u {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xbf16> -> tensor<?x16xbf16>
  // CHECK: llm.ffn_up "up2" %{{.*}}, %{{.*}} bias(%{{.*}}) {activation = #llm.activation<kind = relu>}
  %1 = llm.ffn_up "up2" %x, %u bias(%b) {activation = #llm.activation<kind = relu>} : tensor<?x8xbf16> -> tensor<?x32xbf16>
  // CHECK: llm.ffn_up "projection" %{{.*}}, %{{.*}} : tensor<?x8xbf16> -> tensor<?x32xbf16>
  %2 = llm.ffn_up "projection" %x, %u : tensor<?x8xbf16> -> tensor<?x32xbf16>
  // CHECK: llm.ffn_down "down" dim<0> %{{.*}}, %{{.*}} : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %3 = llm.ffn_down "down" dim<0> %0, %d : tensor<?x16xbf16> -> tensor<?x8xbf16>
  // CHECK: llm.ffn_down "down2" %{{.*}}, %{{.*}} bias(%{{.*}})
  %4 = llm.ffn_down "down2" %0, %d bias(%c) : tensor<?x16xbf16> -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @gated_rows
func.func @gated_rows(%x: tensor<?x8xbf16>, %u: tensor<8x32xbf16>, %g: tensor<8xbf16>) {
  // CHECK: llm.ffn_up "up" dim<1> %{{.*}}, %{{.*}} row_gate(%{{.*}}) {activation = {{.*}}} : tensor<?x8xbf16> -> tensor<?x16xbf16>
  %0 = llm.ffn_up "up" dim<1> %x, %u row_gate(%g) {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xbf16> -> tensor<?x16xbf16>
  return
}

// CHECK-LABEL: @grouped_ffn
func.func @grouped_ffn(%x: tensor<?x8xbf16>, %u: tensor<4x8x32xf4E2M1FN>, %b: tensor<4x32xbf16>, %d: tensor<4x16x8xf4E2M1FN>, %e: tensor<4x8xbf16>, %n: tensor<2x3x4xi32>) {
  // CHECK: llm.ffn_up "up" %{{.*}}, %{{.*}} bias(%{{.*}}) counts(%{{.*}}) {activation = {{.*}}} : tensor<?x8xbf16>, tensor<2x3x4xi32> -> tensor<?x16xbf16> weights f4E2M1FN
  %0 = llm.ffn_up "up" %x, %u bias(%b) counts(%n) {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xbf16>, tensor<2x3x4xi32> -> tensor<?x16xbf16> weights f4E2M1FN
  // CHECK: llm.ffn_down "down" %{{.*}}, %{{.*}} bias(%{{.*}}) counts(%{{.*}}) : tensor<?x16xbf16>, tensor<2x3x4xi32> -> tensor<?x8xbf16> weights f4E2M1FN
  %1 = llm.ffn_down "down" %0, %d bias(%e) counts(%n) : tensor<?x16xbf16>, tensor<2x3x4xi32> -> tensor<?x8xbf16> weights f4E2M1FN
  return
}

// A dim may be called by what it cuts.
// CHECK-LABEL: @dims_by_name
func.func @dims_by_name(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>, %n: tensor<64xbf16>) {
  // CHECK: llm.rms_norm "a" dim<0>
  %a = llm.rms_norm "a" dim<tokens> %x weight(%n) {epsilon = 1.0e-6} : tensor<?x64xbf16>
  // CHECK: llm.out_proj "b" dim<0>
  %b = llm.out_proj "b" dim<heads> %a, %w {heads = 8} : tensor<?x64xbf16> -> tensor<?x64xbf16>
  // CHECK: llm.linear "c" dim<1>
  %c = llm.linear "c" dim<columns> %b, %w : tensor<?x64xbf16> -> tensor<?x64xbf16>
  return
}

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %w: tensor<8xbf16>, %b: tensor<8xbf16>) {
  // CHECK: %[[N:.*]] = llm.layer_norm "attn_norm" dim<0> %{{.*}} weight(%{{.*}}) bias(%{{.*}}) {epsilon = 1.0e-6} : tensor<?x8xbf16>{{$}}
  %a = llm.layer_norm "attn_norm" dim<0> %x weight(%w) bias(%b) {epsilon = 1.0e-6} : tensor<?x8xbf16>
  // CHECK: %{{.*}}, %{{.*}} = llm.layer_norm "ffn_norm" %{{.*}} residual(%{{.*}}) weight(%{{.*}}) bias(%{{.*}}) {epsilon = 1.0e-6} : tensor<?x8xbf16>{{$}}
  %c, %s = llm.layer_norm "ffn_norm" %x residual(%r) weight(%w) bias(%b) {epsilon = 1.0e-6} : tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @lm_head_with_a_bias_of_its_norm
func.func @lm_head_with_a_bias_of_its_norm(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // CHECK: llm.lm_head "a" %{{.*}} norm(%{{.*}}) weight(%{{.*}}) norm_bias(%{{.*}}) {epsilon = {{.*}}} : tensor<?x8xbf16>, tensor<8x101xbf16> -> tensor<?xi32>
  %a = llm.lm_head "a" %x norm(%n) weight(%w) norm_bias(%n) {epsilon = 1.0e-5} : tensor<?x8xbf16>, tensor<8x101xbf16> -> tensor<?xi32>
  return
}

// CHECK-LABEL: @lm_head(
func.func @lm_head(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>, %t: tensor<101x8xbf16>) {
  // CHECK: llm.lm_head "a" dim<1> %{{.*}} norm(%{{.*}}) weight(%{{.*}}) {epsilon = {{.*}}} : tensor<?x8xbf16>, tensor<8x101xbf16> -> tensor<?xi32>
  %a = llm.lm_head "a" dim<1> %x norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>, tensor<8x101xbf16> -> tensor<?xi32>
  // CHECK: %{{.*}}, %{{.*}} = llm.lm_head "b" %{{.*}} norm(%{{.*}}) weight(%{{.*}}) {epsilon = {{.*}}, sequence = 16, tied} : tensor<?x8xbf16>, tensor<101x8xbf16> -> tensor<?xi32>, tensor<?x101xbf16>
  %b, %l = llm.lm_head "b" %x norm(%n) weight(%t) {epsilon = 1.0e-5, sequence = 16, tied} : tensor<?x8xbf16>, tensor<101x8xbf16> -> tensor<?xi32>, tensor<?x101xbf16>
  return
}
