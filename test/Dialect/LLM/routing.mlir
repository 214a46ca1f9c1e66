// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @router
func.func @router(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>, %b: tensor<8xbf16>) {
  // CHECK: llm.router %{{.*}}, %{{.*}} {name = "a", scoring = #llm.scoring<softmax>, sharding = #llm.dim<none>, top_k = 2 : i64} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  %0:3 = llm.router %x, %w {name = "a", scoring = #llm.scoring<softmax>, top_k = 2, sharding = #llm.dim<none>} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  // CHECK: llm.router %{{.*}}, %{{.*}} bias(%{{.*}}) correction(%{{.*}}) {groups = 4 : i64, name = "b", normalize = true, scale = 2.500000e+00 : f64, scoring = #llm.scoring<sigmoid>, top_groups = 2 : i64, top_k = 3 : i64}
  %1:3 = llm.router %x, %w bias(%b) correction(%b) {name = "b", scoring = #llm.scoring<sigmoid>, top_k = 3, normalize = true, groups = 4, top_groups = 2, scale = 2.5} : (tensor<?x32xbf16>, tensor<32x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x32xbf16>, tensor<?x3xi32>, tensor<?x3xf32>)
  return
}

// CHECK-LABEL: @exchange
func.func @exchange(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) -> tensor<?x32xbf16> {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = llm.dispatch %{{.*}}, %{{.*}} {experts = 8 : i64, name = "dispatch", sharding = #llm.dim<0>} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
  %d, %c, %o = llm.dispatch %t, %i {name = "dispatch", experts = 8, sharding = #llm.dim<0>} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
  // CHECK: llm.combine %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {name = "combine", sharding = #llm.dim<1>} : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
  %x = llm.combine %d, %c, %o, %w {name = "combine", sharding = #llm.dim<1>} : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
  return %x : tensor<?x32xbf16>
}
