// RUN: shard-opt %s --convert-llm-to-linalg --canonicalize --cse | FileCheck %s
// RUN: shard-opt %s --llm-to-llvm | FileCheck %s --check-prefix=LLVM

// LLVM-NOT: llm.

// CHECK-LABEL: @weights
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<3x8x8xf32>
// CHECK: %[[Y:.*]] = scf.for %[[LAYER:.*]] = %c0 to %c3 step %c1 iter_args(%[[R:.*]] = %[[X]])
// CHECK:   %[[OWN:.*]] = tensor.extract_slice %[[W]][%[[LAYER]], 0, 0] [1, 8, 8]
// CHECK:   linalg.matmul ins(%[[R]], %[[OWN]]
// CHECK: return %[[Y]]
func.func @weights(%x: tensor<?x8xf32>, %w: tensor<3x8x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 3 init(%r = %x : tensor<?x8xf32>) stacked(%v = %w : tensor<3x8x8xf32>) {
    %u = llm.linear "proj" %r, %v : tensor<?x8xf32> -> tensor<?x8xf32>
    llm.yield %u : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// A layer's cache goes back to where it came from, and each layer has its window: a
// large one where attention is full.
// CHECK-LABEL: @caches
// CHECK-SAME: %[[K:[^ ]*]]: tensor<2x?x?x1x4xf32> {{.*}}, %[[V:.*]]: tensor<2x?x?x1x4xf32>
// CHECK: %[[WINDOWS:.*]] = arith.constant dense<[3, 4611686018427387903]> : tensor<2xindex>
// CHECK: scf.for %[[LAYER:.*]] = %c0 to %c2 {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[KEYS:.*]] = %[[K]], %{{.*}} = %[[V]])
// CHECK:   tensor.extract_slice %[[KEYS]][%[[LAYER]], 0, 0, 0, 0]
// CHECK:   tensor.extract %[[WINDOWS]][%[[LAYER]]]
// CHECK:   tensor.insert_slice %{{.*}} into %[[KEYS]][%[[LAYER]], 0, 0, 0, 0]
func.func @caches(%x: tensor<?x4xf32>, %p: tensor<?xi32>, %o: tensor<4x12xf32>, %k: tensor<2x?x?x1x4xf32> {llm.role = "cache"}, %v: tensor<2x?x?x1x4xf32> {llm.role = "cache"})
    -> (tensor<?x4xf32>, tensor<2x?x?x1x4xf32> {llm.role = "cache"}, tensor<2x?x?x1x4xf32> {llm.role = "cache"}) {
  %y:3 = llm.repeat 2 windows<3, 0> init(%r = %x : tensor<?x4xf32>) caches(%kc = %k : tensor<2x?x?x1x4xf32>, %vc = %v : tensor<2x?x?x1x4xf32>) invariants(%q = %p : tensor<?xi32>, %w = %o : tensor<4x12xf32>) {
    %h = llm.qkv_proj "qkv_proj" %r, %w {heads = 1, kv_heads = 1, head_dim = 4} : tensor<?x4xf32> -> tensor<?x12xf32>
    %a:3 = llm.attention gqa "attention" %h at(%q) cache(%kc, %vc) {heads = 1, kv_heads = 1, head_dim = 4, scale = 0.5} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
    llm.yield %a#0, %a#1, %a#2 : tensor<?x4xf32>, tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>
  }
  return %y#0, %y#1, %y#2 : tensor<?x4xf32>, tensor<2x?x?x1x4xf32>, tensor<2x?x?x1x4xf32>
}
