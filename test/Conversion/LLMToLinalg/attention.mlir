// RUN: shard-opt %s --convert-llm-to-linalg --canonicalize --cse | FileCheck %s

// A loop over rows writes the cache where a row's position says, a second one
// visits the positions that each row sees, head by head.

// CHECK-LABEL: @gqa
// CHECK-SAME: %{{.*}}: tensor<?x96xf32>, %[[P:.*]]: tensor<?xi32>, %[[K:.*]]: tensor<?x?x2x8xf32>, %[[V:.*]]: tensor<?x?x2x8xf32>
// CHECK: %[[KEYS:.*]] = scf.for %[[ROW:.*]] = {{.*}} iter_args(%[[CACHE:.*]] = %[[K]])
// CHECK:   %[[POSITION:.*]] = arith.index_cast
// CHECK:   %[[REAL:.*]] = arith.cmpi sge, %[[POSITION]], %c0
// CHECK:   scf.if %[[REAL]]
// CHECK:     tensor.insert_slice %{{.*}} into %[[CACHE]][%[[ROW]], %[[POSITION]], 0, 0] [1, 1, 2, 8]
// CHECK:   else
// CHECK:     scf.yield %[[CACHE]]
// CHECK: %[[VALUES:.*]] = scf.for {{.*}} = %[[V]])
// CHECK: %[[RESULT:.*]] = scf.for %[[ROW:[a-z0-9]*]] =
// CHECK:   %[[END:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK:   %[[FIRST:.*]] = arith.subi %[[END]], %c3
// CHECK:   %[[BEGIN:.*]] = arith.maxsi %[[FIRST]], %c0
// CHECK:   %[[COUNT:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:   scf.for %[[HEAD:[a-z0-9]*]] =
// CHECK:     %[[GROUP:.*]] = arith.divui %[[HEAD]], %c4
// CHECK:     %[[KV:.*]] = arith.minsi %[[GROUP]], %c1
// CHECK:     %[[SEEN:.*]] = tensor.extract_slice %[[KEYS]][%[[ROW]], %[[BEGIN]], %[[KV]], 0] [1, %[[COUNT]], 1, 8]
// CHECK:     linalg.matvec ins(%[[SEEN]],
// CHECK:     math.exp
// CHECK:     linalg.vecmat
// CHECK: return %{{.*}}, %[[KEYS]], %[[VALUES]]
func.func @gqa(%x: tensor<?x96xf32>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xf32>, %v: tensor<?x?x2x8xf32>) -> (tensor<?x64xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) {
  %a, %k1, %v1 = llm.attention gqa "attention" %x at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.5, window = 3} : tensor<?x96xf32>, tensor<?x?x2x8xf32> -> tensor<?x64xf32>
  return %a, %k1, %v1 : tensor<?x64xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>
}

// Frequencies are constants, angles f64. Half of each pair comes first.
// CHECK-LABEL: @rope
// CHECK-DAG: arith.constant dense<[1.000000e+00, 1.000000e-01]> : tensor<2xf64>
// CHECK: math.cos %{{.*}} : f64
// CHECK: -> (tensor<?x2xf32>, tensor<?x2xf32>)
// CHECK: -> (tensor<?x1x2xf32>, tensor<?x1x2xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 2]
func.func @rope(%x: tensor<?x12xf32>, %p: tensor<?xi32>, %k: tensor<?x?x1x4xf32>, %v: tensor<?x?x1x4xf32>) -> tensor<?x4xf32> {
  %a, %k1, %v1 = llm.attention gqa "attention" %x at(%p) cache(%k, %v) {heads = 1, kv_heads = 1, head_dim = 4, scale = 1.0, rope = #llm.rope<dim = 4, theta = 1.0e2>} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
  return %a : tensor<?x4xf32>
}

// Heads read the cached latent itself: nothing of the size of context times heads
// times features is made.
// CHECK-LABEL: @mla
// CHECK: %[[CACHE:.*]] = scf.for
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     %[[KEYS:.*]] = tensor.extract_slice %[[CACHE]]{{.*}} to tensor<?x10xf32>
// CHECK:     linalg.matvec ins(%[[KEYS]],
// CHECK:     %[[LATENTS:.*]] = tensor.extract_slice %[[KEYS]]{{.*}} to tensor<?x6xf32>
// CHECK:     linalg.vecmat ins(%{{.*}}, %[[LATENTS]]
func.func @mla(%x: tensor<?x27xf32>, %l: tensor<?x10xf32>, %p: tensor<?xi32>, %c: tensor<?x?x10xf32>, %n: tensor<6xf32>, %u: tensor<6x36xf32>) -> (tensor<?x21xf32>, tensor<?x?x10xf32>) {
  %a, %c1 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%u) {heads = 3, nope_dim = 5, rope_dim = 4, value_dim = 7, rank = 6, scale = 0.3, kv_norm_epsilon = 1.0e-6} : tensor<?x27xf32>, tensor<?x?x10xf32> -> tensor<?x21xf32>
  return %a, %c1 : tensor<?x21xf32>, tensor<?x?x10xf32>
}
