// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --verify-roundtrip -o /dev/null
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @param
func.func @param() {
  // CHECK: llm.param @w : tensor<8x4xbf16>
  %a = llm.param @w : tensor<8x4xbf16>
  // CHECK: llm.param @qkv : tensor<8x4xbf16> from dim 1 [
  // CHECK-NEXT: {{^}}        2 of "q" transposed,
  // CHECK-NEXT: {{^}}        "k" deinterleaved]
  %b = llm.param @qkv : tensor<8x4xbf16> from dim 1 [
      2 of "q" transposed,
      "k" deinterleaved]
  // CHECK: llm.param @quantised : tensor<8x4xf8E4M3FN> from "w" transposed scales "w_scale_inv" block 128x128
  %q = llm.param @quantised : tensor<8x4xf8E4M3FN> from "w" transposed scales "w_scale_inv" block 128x128
  // CHECK: llm.param @scaled : tensor<8x4xf32> from "w" transposed times 0.22{{$}}
  %scaled = llm.param @scaled : tensor<8x4xf32> from "w" transposed times 0.22
  // CHECK: llm.param @shifted : tensor<8xf32> from "n" times 2.0 plus 1.0
  %shifted = llm.param @shifted : tensor<8xf32> from "n" times 2.0 plus 1.0
  // What the text of a part has no words for is written as a dictionary.
  // CHECK: llm.param @other : tensor<8x4xbf16> from dict {parts = [{pattern = "w", since = 3 : i64}]}
  %d = llm.param @other : tensor<8x4xbf16> from dict {parts = [{pattern = "w", since = 3}]}
  // CHECK: llm.param @tied : tensor<8x4xf8E4M3FN> {shardopt.slice = {}}
  %c = llm.param @tied : tensor<8x4xf8E4M3FN> {shardopt.slice = {}}
  return
}

// CHECK-LABEL: @add
func.func @add(%a: tensor<?x8xbf16>, %b: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  // CHECK: llm.add %{{.*}}, %{{.*}} : tensor<?x8xbf16>
  %c = llm.add %a, %b : tensor<?x8xbf16>
  return %c : tensor<?x8xbf16>
}

// CHECK-LABEL: @repeat_residual_only
func.func @repeat_residual_only(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  // CHECK:      %[[Y:.*]] = llm.repeat 1 init(%[[R:.*]] = %{{.*}} : tensor<?x8xbf16>) {
  // CHECK-NEXT:   llm.yield %[[R]] : tensor<?x8xbf16>
  %y = llm.repeat 1 init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return %y : tensor<?x8xbf16>
}

// Caches come back stacked; a weight that is an argument is only read.
// CHECK-LABEL: @repeat_caches_and_weights
func.func @repeat_caches_and_weights(%x: tensor<?x8xbf16>, %k: tensor<3x?x?x2x4xbf16>, %w: tensor<3x8x8xbf16>, %p: tensor<?xi32>, %rows: index)
    -> tensor<3x?x?x2x4xbf16> {
  // CHECK:      %{{.*}}:2 = llm.repeat 3 layers<0, 2, 4> windows<128, 0, ...> init(%{{.*}} = %{{.*}} : tensor<?x8xbf16>) caches(%[[C:.*]] = %{{.*}} : tensor<3x?x?x2x4xbf16>) stacked(%{{.*}} = %{{.*}} : tensor<3x8x8xbf16>) invariants(%{{.*}} = %{{.*}} : tensor<?xi32>, %{{.*}} = %{{.*}} : index) {
  // CHECK:        llm.param @l : tensor<8xbf16>
  // CHECK:        llm.yield %{{.*}}, %[[C]] : tensor<?x8xbf16>, tensor<?x?x2x4xbf16>
  %y, %k1 = llm.repeat 3 layers<0, 2, 4> windows<128, 0, ...> init(%r = %x : tensor<?x8xbf16>) caches(%kc = %k : tensor<3x?x?x2x4xbf16>) stacked(%v = %w : tensor<3x8x8xbf16>) invariants(%q = %p : tensor<?xi32>, %n = %rows : index) {
    %l = llm.param @l : tensor<8xbf16>
    %u = llm.linear "proj" %r, %v : tensor<?x8xbf16> -> tensor<?x8xbf16>
    %s = llm.add %r, %u : tensor<?x8xbf16>
    llm.yield %s, %kc : tensor<?x8xbf16>, tensor<?x?x2x4xbf16>
  }
  return %k1 : tensor<3x?x?x2x4xbf16>
}

// Layers of one kind that are not adjacent share names and shardings.
// CHECK-LABEL: @names_shared_by_repeats
// CHECK-COUNT-2: "norm" dim<0>
func.func @names_shared_by_repeats(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) -> tensor<?x8xbf16> {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    %n = llm.rms_norm "norm" dim<0> %r weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  %z = llm.repeat 4 init(%r = %y : tensor<?x8xbf16>) {
    %n = llm.rms_norm "norm" dim<0> %r weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  return %z : tensor<?x8xbf16>
}

// Runs of layers are ranges, and windows are written until they start again.
// CHECK-LABEL: @layers_and_windows
func.func @layers_and_windows(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  // CHECK: llm.repeat 6 layers<0-2, 7, 60-61> windows<1024, 1024, 0, ...>
  %y = llm.repeat 6 layers<0, 1, 2, 7, 60-61> windows<1024, 1024, 0, 1024, 1024, 0> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  // CHECK: llm.repeat 3 layers<2, 1, 0> windows<0, 0, 5>
  %z = llm.repeat 3 layers<2, 1, 0> windows<0, 0, 5> init(%r = %y : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return %z : tensor<?x8xbf16>
}

// A result is called as its op is, and other results as what they are.
// CHECK-LABEL: @names_of_results
func.func @names_of_results(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) -> tensor<?x8xbf16> {
  // CHECK: %attn_norm = llm.rms_norm "attn_norm"
  %0 = llm.rms_norm "attn_norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  // CHECK: %ffn_norm, %residual = llm.rms_norm "ffn_norm" %attn_norm residual(
  %1, %2 = llm.rms_norm "ffn_norm" %0 residual(%x) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  // CHECK: %sum = llm.add %ffn_norm, %residual
  %3 = llm.add %1, %2 : tensor<?x8xbf16>
  return %3 : tensor<?x8xbf16>
}

// Reals are as short as reads back to the same double.
// CHECK-LABEL: @reals
func.func @reals(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // CHECK: {epsilon = 1.0e-6}
  %0 = llm.rms_norm "a" %x weight(%w) {epsilon = 9.9999999999999995E-7} : tensor<?x8xbf16>
  // CHECK: {epsilon = 0.30000000000000004}
  %1 = llm.rms_norm "b" %x weight(%w) {epsilon = 3.0000000000000004e-1} : tensor<?x8xbf16>
  // CHECK: {epsilon = 1.0e22}
  %2 = llm.rms_norm "c" %x weight(%w) {epsilon = 10000000000000000000000.0} : tensor<?x8xbf16>
  // CHECK: {epsilon = 2.0}
  %3 = llm.rms_norm "d" %x weight(%w) {epsilon = 2.0} : tensor<?x8xbf16>
  return
}

// CHECK-LABEL: func @layers_of_any_number
// CHECK: llm.repeat 4 layers<4, 9223372036854775806-9223372036854775807, 0>
func.func @layers_of_any_number(%x: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %y = llm.repeat 4 layers<4, 9223372036854775806-9223372036854775807, 0> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return %y : tensor<?x8xbf16>
}
