// RUN: shard-opt %s --llm-params-to-arguments --split-input-file | FileCheck %s
// RUN: shard-opt %s --llm-params-to-arguments --llm-params-to-arguments --split-input-file | FileCheck %s

// Outside a repeat a weight is itself; inside it is a stack, which the repeat
// slices after the caches. Arguments are in the order of the program.
// CHECK-LABEL: func.func @decode(
// CHECK-SAME: %[[TOKENS:[a-z0-9]*]]: tensor<?xi32> {llm.role = "tokens"},
// CHECK-SAME: %[[CACHE:[a-z0-9]*]]: tensor<2x?x?x1x8xf32> {llm.role = "cache"},
// CHECK-SAME: %[[TABLE:[a-z0-9]*]]: tensor<16x8xf32> {llm.param = "embed", llm.role = "param", llm.source = {parts = [{pattern = "embed"}]}},
// CHECK-SAME: %[[NORM:[a-z0-9]*]]: tensor<2x8xf32> {llm.layers = #llm.layers<3-4>, llm.param = "norm", llm.role = "param", llm.source = {parts = [{pattern = "layers.{layer}.norm"}]}, shardopt.slice = {dims = [{}], name = "norm", shape = array<i64: 8>}},
// CHECK-SAME: %[[PROJ:[a-z0-9]*]]: tensor<2x8x8xf32> {llm.layers = #llm.layers<3-4>, llm.param = "proj", llm.role = "param"},
// CHECK-SAME: %[[HEAD:[a-z0-9]*]]: tensor<8xf32> {llm.param = "norm", llm.role = "param"})
// CHECK: %[[X:.*]] = llm.embedding {{.*}} %[[TOKENS]], %[[TABLE]]
// CHECK: %[[Y:.*]]:2 = llm.repeat 2 layers<3-4> init(%[[R:.*]] = %[[X]] : tensor<?x8xf32>) caches(%[[C:.*]] = %[[CACHE]] : tensor<2x?x?x1x8xf32>)
// CHECK-SAME: stacked(%[[N:.*]] = %[[NORM]] : tensor<2x8xf32>, %[[W:.*]] = %[[PROJ]] : tensor<2x8x8xf32>) invariants(%{{.*}} = %[[TOKENS]] : tensor<?xi32>) {
// CHECK: llm.rms_norm {{.*}} %[[R]] weight(%[[N]])
// CHECK: llm.linear {{.*}} %{{.*}}, %[[W]]
// CHECK: llm.yield %{{.*}}, %[[C]]
// CHECK: llm.rms_norm {{.*}} %[[Y]]#0 weight(%[[HEAD]])
func.func @decode(%tokens: tensor<?xi32> {llm.role = "tokens"}, %cache: tensor<2x?x?x1x8xf32> {llm.role = "cache"}) -> tensor<?x8xf32> {
  %table = llm.param @embed : tensor<16x8xf32> from "embed"
  %x = llm.embedding "embed" %tokens, %table : tensor<16x8xf32> -> tensor<?x8xf32>
  %y:2 = llm.repeat 2 layers<3-4> init(%r = %x : tensor<?x8xf32>) caches(%c = %cache : tensor<2x?x?x1x8xf32>) invariants(%t = %tokens : tensor<?xi32>) {
    %n = llm.param @norm : tensor<8xf32> from "layers.{layer}.norm" {shardopt.slice = {dims = [{}], name = "norm", shape = array<i64: 8>}}
    %0 = llm.rms_norm "norm" %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %w = llm.param @proj : tensor<8x8xf32>
    %1 = llm.linear "proj" %0, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    llm.yield %1, %c : tensor<?x8xf32>, tensor<?x?x1x8xf32>
  }
  %n = llm.param @norm : tensor<8xf32>
  %z = llm.rms_norm "last" %y#0 weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}

// -----

// Without params nothing changes, and the function may be called.
// CHECK-LABEL: func.func @one(%{{.*}}: tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-LABEL: func.func @two(%{{.*}}: tensor<?x8xf32>) -> tensor<?x8xf32> {
func.func @one(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.add %x, %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func @two(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = call @one(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
