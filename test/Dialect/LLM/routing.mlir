// RUN: shard-opt %s | shard-opt | FileCheck %s
// RUN: shard-opt %s --mlir-print-op-generic | shard-opt | FileCheck %s
// RUN: shard-opt %s --verify-roundtrip -o /dev/null
// RUN: shard-opt %s --emit-bytecode | shard-opt | FileCheck %s

// CHECK-LABEL: @router
func.func @router(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>, %b: tensor<8xbf16>, %c: tensor<8xf32>) {
  // CHECK: llm.router "a" dim<none> %{{.*}}, %{{.*}} {scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x32xbf16>, tensor<32x8xbf16>
  %0:3 = llm.router "a" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x32xbf16>, tensor<32x8xbf16>
  // CHECK: llm.router "b" %{{.*}}, %{{.*}} bias(%{{.*}}) correction(%{{.*}}) {groups = 4, normalize = true, scale = 2.5, scoring = #llm.scoring<sigmoid>, top_groups = 2, top_k = 3}
  %1:3 = llm.router "b" %x, %w bias(%b) correction(%c) {scoring = #llm.scoring<sigmoid>, top_k = 3, normalize = true, groups = 4, top_groups = 2, scale = 2.5} : tensor<?x32xbf16>, tensor<32x8xbf16>
  return
}

// CHECK-LABEL: @exchange
func.func @exchange(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) -> tensor<?x32xbf16> {
  // CHECK: %{{.*}}, %{{.*}}, %{{.*}} = llm.dispatch "dispatch" dim<0> %{{.*}}, %{{.*}} {experts = 8} : tensor<?x32xbf16>, tensor<?x2xi32>
  %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : tensor<?x32xbf16>, tensor<?x2xi32>
  // CHECK: llm.combine "combine" dim<1> %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?x2xf32>
  %x = llm.combine "combine" dim<1> %d, %c, %o, %w : tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?x2xf32>
  return %x : tensor<?x32xbf16>
}

// CHECK-LABEL: @scaled_copies
func.func @scaled_copies(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) -> tensor<?x32xbf16> {
  // CHECK: llm.dispatch "dispatch" %{{.*}}, %{{.*}} weights(%{{.*}}) {experts = 8} : tensor<?x32xbf16>, tensor<?x2xi32>
  %d, %c, %o = llm.dispatch "dispatch" %t, %i weights(%w) {experts = 8} : tensor<?x32xbf16>, tensor<?x2xi32>
  // CHECK: llm.combine "combine" %{{.*}} {unweighted} : tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?x2xf32>
  %x = llm.combine "combine" %d, %c, %o, %w {unweighted} : tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?x2xf32>
  return %x : tensor<?x32xbf16>
}
