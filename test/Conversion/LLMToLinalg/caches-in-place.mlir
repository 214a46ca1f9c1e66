// Bufferized, a layer's cache is a part of the argument: what is copied into it is
// a row, and no buffer has its size.

// RUN: shard-opt %s --convert-llm-to-linalg --canonicalize --cse \
// RUN:   | %mlir_opt --one-shot-bufferize="bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops=1" \
// RUN:     --cse --canonicalize --drop-equivalent-buffer-results \
// RUN:   | FileCheck %s

// CHECK-LABEL: @decode
// CHECK-NOT: memref.alloc{{.*}}memref<{{.*}}?x?x
// CHECK-NOT: memref.copy{{.*}}memref<?x?x
// CHECK: memref.copy %{{.*}}, %{{.*}} : memref<1x4xf32, {{.*}}> to memref<1x4xf32, {{.*}}>
// CHECK-NOT: memref.alloc{{.*}}memref<{{.*}}?x?x
// CHECK-NOT: memref.copy{{.*}}memref<?x?x
// CHECK: return %{{.*}} : memref<?x12xf32>
func.func private @decode(%x: tensor<?x12xf32>, %p: tensor<?xi32>, %k: tensor<2x?x?x1x4xf32>, %v: tensor<2x?x?x1x4xf32>, %w: tensor<2x12x12xf32> {bufferization.writable = false})
    -> (tensor<?x12xf32>, tensor<2x?x?x1x4xf32>, tensor<2x?x?x1x4xf32>) {
  %y:3 = llm.repeat 2 init(%r = %x : tensor<?x12xf32>) caches(%kc = %k : tensor<2x?x?x1x4xf32>, %vc = %v : tensor<2x?x?x1x4xf32>) stacked(%o = %w : tensor<2x12x12xf32>) invariants(%q = %p : tensor<?xi32>) {
    %h = llm.linear "proj" %r, %o : tensor<?x12xf32> -> tensor<?x12xf32>
    %a:3 = llm.attention gqa "attention" %h at(%q) cache(%kc, %vc) {heads = 1, kv_heads = 1, head_dim = 4, scale = 0.5} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
    llm.yield %h, %a#1, %a#2 : tensor<?x12xf32>, tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>
  }
  return %y#0, %y#1, %y#2 : tensor<?x12xf32>, tensor<2x?x?x1x4xf32>, tensor<2x?x?x1x4xf32>
}
