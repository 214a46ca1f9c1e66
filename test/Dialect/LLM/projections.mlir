// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @embedding
func.func @embedding(%t: tensor<?xi32>, %w: tensor<96x8xbf16>, %o: index) {
  // CHECK: llm.embedding %{{.*}}, %{{.*}} {name = "embed", sharding = #llm.dim<0>} : (tensor<?xi32>, tensor<96x8xbf16>) -> tensor<?x8xbf16>
  %a = llm.embedding %t, %w {name = "embed", sharding = #llm.dim<0>} : (tensor<?xi32>, tensor<96x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: llm.embedding %{{.*}}, %{{.*}} offset(%{{.*}}) {name = "local"}
  %b = llm.embedding %t, %w offset(%o) {name = "local"} : (tensor<?xi32>, tensor<96x8xbf16>, index) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // CHECK: %[[N:.*]] = llm.rms_norm %{{.*}} weight(%{{.*}}) {epsilon = 9.9999999999999995E-7 : f64, name = "attn_norm", sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  %a = llm.rms_norm %x weight(%w) {name = "attn_norm", epsilon = 1.0e-6, sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // CHECK: %{{.*}}, %{{.*}} = llm.rms_norm %{{.*}} residual(%{{.*}}) weight(%{{.*}}) {{{.*}}name = "ffn_norm"} : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  %b, %s = llm.rms_norm %x residual(%r) weight(%w) {name = "ffn_norm", epsilon = 1.0e-6} : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  return
}

// CHECK-LABEL: @qkv_proj
func.func @qkv_proj(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>, %b: tensor<96xbf16>) {
  // CHECK: llm.qkv_proj %{{.*}}, %{{.*}} {head_dim = 8 : i64, heads = 8 : i64, kv_heads = 2 : i64, name = "a", sharding = #llm.dim<none>}
  %q = llm.qkv_proj %x, %w {name = "a", heads = 8, kv_heads = 2, head_dim = 8, sharding = #llm.dim<none>} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x96xbf16>
  // CHECK: llm.qkv_proj %{{.*}}, %{{.*}} bias(%{{.*}}) {{{.*}}name = "b"} : (tensor<?x64xbf16>, tensor<64x96xbf16>, tensor<96xbf16>) -> tensor<?x96xbf16>
  %p = llm.qkv_proj %x, %w bias(%b) {name = "b", heads = 8, kv_heads = 2, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x96xbf16>, tensor<96xbf16>) -> tensor<?x96xbf16>
  return
}

// With six heads, two of them for keys and values, and four devices, a device
// has two query heads and may have one or two kv heads.
// CHECK-LABEL: @qkv_proj_of_one_device
func.func @qkv_proj_of_one_device(%x: tensor<?x64xbf16>, %w: tensor<64x48xbf16>) {
  // CHECK: llm.qkv_proj
  %q = llm.qkv_proj %x, %w {name = "a", heads = 2, kv_heads = 2, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x48xbf16>) -> tensor<?x48xbf16>
  return
}

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<?x8xbf16>, %w: tensor<8x6xf8E4M3FN>, %t: tensor<6x8xbf16>, %n: tensor<8xbf16>, %b: tensor<6xbf16>) {
  // CHECK: llm.linear %{{.*}}, %{{.*}} {name = "a"} : (tensor<?x8xbf16>, tensor<8x6xf8E4M3FN>) -> tensor<?x6xbf16>
  %a = llm.linear %x, %w {name = "a"} : (tensor<?x8xbf16>, tensor<8x6xf8E4M3FN>) -> tensor<?x6xbf16>
  // CHECK: llm.linear %{{.*}}, %{{.*}} norm(%{{.*}}) bias(%{{.*}}) {epsilon = {{.*}} : f64, heads = 3 : i64, name = "b", sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8x6xf8E4M3FN>, tensor<8xbf16>, tensor<6xbf16>) -> tensor<?x6xbf16>
  %c = llm.linear %x, %w norm(%n) bias(%b) {name = "b", epsilon = 1.0e-6, heads = 3, sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8x6xf8E4M3FN>, tensor<8xbf16>, tensor<6xbf16>) -> tensor<?x6xbf16>
  // CHECK: llm.linear %{{.*}}, %{{.*}} bias(%{{.*}}) {name = "c", transposed}
  %d = llm.linear %x, %t bias(%b) {name = "c", transposed} : (tensor<?x8xbf16>, tensor<6x8xbf16>, tensor<6xbf16>) -> tensor<?x6xbf16>
  return
}

// CHECK-LABEL: @out_proj
func.func @out_proj(%x: tensor<?x64xbf16>, %w: tensor<64x8xbf16>, %b: tensor<8xbf16>) {
  // CHECK: llm.out_proj %{{.*}}, %{{.*}} {heads = 8 : i64, name = "a", sharding = #llm.dim<0>}
  %a = llm.out_proj %x, %w {name = "a", heads = 8, sharding = #llm.dim<0>} : (tensor<?x64xbf16>, tensor<64x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: llm.out_proj %{{.*}}, %{{.*}} bias(%{{.*}}) {heads = 8 : i64, name = "b"}
  %c = llm.out_proj %x, %w bias(%b) {name = "b", heads = 8} : (tensor<?x64xbf16>, tensor<64x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @dense_ffn
func.func @dense_ffn(%x: tensor<?x8xbf16>, %u: tensor<8x32xbf16>, %b: tensor<32xbf16>, %d: tensor<16x8xbf16>, %c: tensor<8xbf16>) {
  // CHECK: llm.ffn_up %{{.*}}, %{{.*}} {activation = #llm.activation<kind = silu, gated = true>, name = "up", sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8x32xbf16>) -> tensor<?x16xbf16>
  %0 = llm.ffn_up %x, %u {name = "up", activation = #llm.activation<kind = silu, gated = true>, sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8x32xbf16>) -> tensor<?x16xbf16>
  // CHECK: llm.ffn_up %{{.*}}, %{{.*}} bias(%{{.*}}) {activation = #llm.activation<kind = relu>, name = "up2"}
  %1 = llm.ffn_up %x, %u bias(%b) {name = "up2", activation = #llm.activation<kind = relu>} : (tensor<?x8xbf16>, tensor<8x32xbf16>, tensor<32xbf16>) -> tensor<?x32xbf16>
  // CHECK: llm.ffn_up %{{.*}}, %{{.*}} {name = "projection"} : (tensor<?x8xbf16>, tensor<8x32xbf16>) -> tensor<?x32xbf16>
  %2 = llm.ffn_up %x, %u {name = "projection"} : (tensor<?x8xbf16>, tensor<8x32xbf16>) -> tensor<?x32xbf16>
  // CHECK: llm.ffn_down %{{.*}}, %{{.*}} {name = "down", sharding = #llm.dim<0>} : (tensor<?x16xbf16>, tensor<16x8xbf16>) -> tensor<?x8xbf16>
  %3 = llm.ffn_down %0, %d {name = "down", sharding = #llm.dim<0>} : (tensor<?x16xbf16>, tensor<16x8xbf16>) -> tensor<?x8xbf16>
  // CHECK: llm.ffn_down %{{.*}}, %{{.*}} bias(%{{.*}}) {name = "down2"}
  %4 = llm.ffn_down %0, %d bias(%c) {name = "down2"} : (tensor<?x16xbf16>, tensor<16x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @grouped_ffn
func.func @grouped_ffn(%x: tensor<?x8xbf16>, %u: tensor<4x8x32xf4E2M1FN>, %b: tensor<4x32xbf16>, %d: tensor<4x16x8xf4E2M1FN>, %e: tensor<4x8xbf16>, %n: tensor<2x3x4xi32>) {
  // CHECK: llm.ffn_up %{{.*}}, %{{.*}} bias(%{{.*}}) counts(%{{.*}}) {activation = {{.*}}, name = "up"} : (tensor<?x8xbf16>, tensor<4x8x32xf4E2M1FN>, tensor<4x32xbf16>, tensor<2x3x4xi32>) -> tensor<?x16xbf16>
  %0 = llm.ffn_up %x, %u bias(%b) counts(%n) {name = "up", activation = #llm.activation<kind = silu, gated = true>} : (tensor<?x8xbf16>, tensor<4x8x32xf4E2M1FN>, tensor<4x32xbf16>, tensor<2x3x4xi32>) -> tensor<?x16xbf16>
  // CHECK: llm.ffn_down %{{.*}}, %{{.*}} bias(%{{.*}}) counts(%{{.*}}) {name = "down"} : (tensor<?x16xbf16>, tensor<4x16x8xf4E2M1FN>, tensor<4x8xbf16>, tensor<2x3x4xi32>) -> tensor<?x8xbf16>
  %1 = llm.ffn_down %0, %d bias(%e) counts(%n) {name = "down"} : (tensor<?x16xbf16>, tensor<4x16x8xf4E2M1FN>, tensor<4x8xbf16>, tensor<2x3x4xi32>) -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @lm_head
func.func @lm_head(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>, %t: tensor<101x8xbf16>) {
  // CHECK: llm.lm_head %{{.*}} norm(%{{.*}}) weight(%{{.*}}) {epsilon = {{.*}} : f64, name = "a", sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  %a = llm.lm_head %x norm(%n) weight(%w) {name = "a", epsilon = 1.0e-5, sharding = #llm.dim<1>} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  // CHECK: %{{.*}}, %{{.*}} = llm.lm_head %{{.*}} norm(%{{.*}}) weight(%{{.*}}) {epsilon = {{.*}} : f64, name = "b", sequence = 16 : i64, tied} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<101x8xbf16>) -> (tensor<?xi32>, tensor<?x101xbf16>)
  %b, %l = llm.lm_head %x norm(%n) weight(%t) {name = "b", epsilon = 1.0e-5, sequence = 16, tied} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<101x8xbf16>) -> (tensor<?xi32>, tensor<?x101xbf16>)
  return
}
