// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @param
func.func @param() {
  // CHECK: llm.param @w : tensor<8x4xbf16>
  %a = llm.param @w : tensor<8x4xbf16>
  // CHECK: llm.param @qkv {source = {axis = 1 : i64, parts = [{pattern = "q", size = 2 : i64, transposed}, {deinterleave, pattern = "k"}]}} : tensor<8x4xbf16>
  %b = llm.param @qkv {source = {axis = 1 : i64, parts = [{pattern = "q", size = 2 : i64, transposed}, {pattern = "k", deinterleave}]}} : tensor<8x4xbf16>
  // CHECK: llm.param @quantised {source = {parts = [{block = array<i64: 128, 128>, pattern = "w", scales = "w_scale_inv", transposed}]}} : tensor<8x4xf8E4M3FN>
  %q = llm.param @quantised {source = {parts = [{pattern = "w", transposed, scales = "w_scale_inv", block = array<i64: 128, 128>}]}} : tensor<8x4xf8E4M3FN>
  // CHECK: llm.param @tied {shardopt.slice = {}} : tensor<8x4xf8E4M3FN>
  %c = llm.param @tied {shardopt.slice = {}} : tensor<8x4xf8E4M3FN>
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
  // CHECK:      %[[Y:.*]] = llm.repeat 1 init(%{{.*}}) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  // CHECK-NEXT: ^bb0(%[[R:.*]]: tensor<?x8xbf16>):
  // CHECK-NEXT:   llm.yield %[[R]] : tensor<?x8xbf16>
  %y = llm.repeat 1 init(%x) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return %y : tensor<?x8xbf16>
}

// Caches come back stacked; a weight that is an argument is only read.
// CHECK-LABEL: @repeat_caches_and_weights
func.func @repeat_caches_and_weights(%x: tensor<?x8xbf16>, %k: tensor<3x?x?x2x4xbf16>, %w: tensor<3x8x8xbf16>, %p: tensor<?xi32>, %rows: index)
    -> tensor<3x?x?x2x4xbf16> {
  // CHECK:      %{{.*}}:2 = llm.repeat 3 init(%{{.*}}) stacked(%{{.*}}, %{{.*}}) invariants(%{{.*}}, %{{.*}}) attributes {windows = array<i64: 128, 0, 128>} : (tensor<?x8xbf16>, tensor<3x?x?x2x4xbf16>, tensor<3x8x8xbf16>, tensor<?xi32>, index) -> (tensor<?x8xbf16>, tensor<3x?x?x2x4xbf16>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x8xbf16>, %[[C:.*]]: tensor<?x?x2x4xbf16>, %{{.*}}: tensor<8x8xbf16>, %{{.*}}: tensor<?xi32>, %{{.*}}: index):
  // CHECK:        llm.param @l {layers = array<i64: 0, 2, 4>} : tensor<8xbf16>
  // CHECK:        llm.yield %{{.*}}, %[[C]] : tensor<?x8xbf16>, tensor<?x?x2x4xbf16>
  %y, %k1 = llm.repeat 3 init(%x) stacked(%k, %w) invariants(%p, %rows) attributes {windows = array<i64: 128, 0, 128>}
      : (tensor<?x8xbf16>, tensor<3x?x?x2x4xbf16>, tensor<3x8x8xbf16>, tensor<?xi32>, index) -> (tensor<?x8xbf16>, tensor<3x?x?x2x4xbf16>) {
  ^bb0(%r: tensor<?x8xbf16>, %kc: tensor<?x?x2x4xbf16>, %v: tensor<8x8xbf16>, %q: tensor<?xi32>, %n: index):
    %l = llm.param @l {layers = array<i64: 0, 2, 4>} : tensor<8xbf16>
    %u = llm.linear %r, %v {name = "proj"} : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    %s = llm.add %r, %u : tensor<?x8xbf16>
    llm.yield %s, %kc : tensor<?x8xbf16>, tensor<?x?x2x4xbf16>
  }
  return %k1 : tensor<3x?x?x2x4xbf16>
}

// Layers of one kind that are not adjacent share names and shardings.
// CHECK-LABEL: @names_shared_by_repeats
// CHECK-COUNT-2: name = "norm", sharding = #llm.dim<0>
func.func @names_shared_by_repeats(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) -> tensor<?x8xbf16> {
  %y = llm.repeat 2 init(%x) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    %n = llm.rms_norm %r weight(%w) {epsilon = 1.0e-5, name = "norm", sharding = #llm.dim<0>} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  %z = llm.repeat 4 init(%y) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    %n = llm.rms_norm %r weight(%w) {epsilon = 1.0e-5, name = "norm", sharding = #llm.dim<0>} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  return %z : tensor<?x8xbf16>
}
