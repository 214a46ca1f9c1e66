// RUN: shard-opt %s --llm-split-stages --mlir-print-local-scope --split-input-file | FileCheck %s
// RUN: shard-opt %s --llm-split-stages --llm-split-stages --mlir-print-local-scope --split-input-file | FileCheck %s

// Five layers in two repeats, over three stages: of the two layers that are left
// over, the stages in front of the last get one each. Windows, numbers of layers
// and caches are cut with the repeats.
module attributes {shardopt.strategy = {batch = 6 : i64, ep = 1 : i64, pp = 3 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 3x1x1)

// The first stage embeds the tokens, and has neither the head nor other caches.
// CHECK-LABEL: func.func @decode_stage0(
// CHECK-SAME: %[[TOKENS:[a-z0-9]*]]: tensor<?xi32> {llm.role = "tokens"}, %[[POSITIONS:[a-z0-9]*]]: tensor<?xi32> {llm.role = "positions"},
// CHECK-SAME: %[[CACHE:[a-z0-9]*]]: tensor<2x?x?x4xf32> {llm.role = "cache", shardopt.slice = {dims = [{axis = "pp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 2, 1, 1>], []]}, {rows = ["ep"]}, {}, {}], name = "arg2", shape = array<i64: 3, -1, -1, 4>}})
// CHECK-SAME: -> (tensor<2x?x?x4xf32> {llm.role = "cache", shardopt.slice = {dims = [{axis = "pp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 2, 1, 1>], []]}, {rows = ["ep"]}, {}, {}], name = "arg2", shape = array<i64: 3, -1, -1, 4>}})
// CHECK-SAME: attributes {shardopt.stage = {count = 3 : i64, index = 0 : i64}}
// CHECK: llm.param @embed
// CHECK: %[[X:.*]] = llm.embedding {{.*}} %[[TOKENS]]
// CHECK: %[[Y:.*]]:2 = llm.repeat 2 layers<4, 7> windows<0, 3> init(%{{.*}} = %[[X]] : tensor<?x8xf32>) caches(%{{.*}} = %[[CACHE]] : tensor<2x?x?x4xf32>) invariants(%{{.*}} = %[[POSITIONS]] : tensor<?xi32>)
// CHECK: llm.param @a
// CHECK: shard.send %[[Y]]#0 on @grid grid_axes = [0] destination = [1] {shardopt.collective = {bytes = 64 : i64, cause = "stage_transfer", charged = true, microseconds = {{.*}} : f64, type = f32}} : (tensor<?x8xf32>) -> tensor<?x8xf32>
// CHECK: return %[[Y]]#1 : tensor<2x?x?x4xf32>

// The second begins in the middle of one repeat and ends in that of another. It
// reads the rows of what it receives off its tokens. A cache without a slice gets
// one, and a repeat without layers those of its iterations.
// CHECK-LABEL: func.func @decode_stage1(
// CHECK-SAME: %[[TOKENS:[a-z0-9]*]]: tensor<?xi32> {llm.role = "tokens"}, %{{[a-z0-9]*}}: tensor<?xi32> {llm.role = "positions"},
// CHECK-SAME: %[[CACHE:[a-z0-9]*]]: tensor<1x?x?x4xf32> {{{.*}}name = "arg2"{{.*}}}, %[[OTHER:[a-z0-9]*]]: tensor<1x?x?x4xf32> {llm.role = "cache", shardopt.slice = {dims = [{axis = "pp", runs = {{\[}}[], [array<i64: 0, 1, 1>], [array<i64: 1, 1, 1>]]}, {}, {}, {}], name = "arg3", shape = array<i64: 2, -1, -1, 4>}})
// CHECK-SAME: -> (tensor<1x?x?x4xf32> {{{.*}}name = "arg2"{{.*}}}, tensor<1x?x?x4xf32> {{{.*}}name = "arg3"{{.*}}})
// CHECK-NOT: llm.embedding
// CHECK: %[[ROWS:.*]] = tensor.dim %[[TOKENS]], %{{.*}}
// CHECK: %[[LIKE:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x8xf32>
// CHECK: %[[R:.*]] = shard.recv %[[LIKE]] on @grid grid_axes = [0] source = [0] {shardopt.collective = {bytes = 64 : i64, cause = "stage_transfer", charged = false,
// CHECK: %[[Y:.*]]:2 = llm.repeat 1 layers<9> windows<0> init(%{{.*}} = %[[R]] : tensor<?x8xf32>) caches(%{{.*}} = %[[CACHE]] : tensor<1x?x?x4xf32>)
// CHECK: llm.param @a
// CHECK: %[[Z:.*]]:2 = llm.repeat 1 layers<0> init(%{{.*}} = %[[Y]]#0 : tensor<?x8xf32>) caches(%{{.*}} = %[[OTHER]] : tensor<1x?x?x4xf32>)
// CHECK: llm.param @b
// CHECK: shard.send %[[Z]]#0 on @grid grid_axes = [0] destination = [2]
// CHECK: return %[[Y]]#1, %[[Z]]#1

// The last returns what the program returns, beside its caches.
// CHECK-LABEL: func.func @decode_stage2(
// CHECK-SAME: -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<1x?x?x4xf32> {{{.*}}name = "arg3"{{.*}}})
// CHECK: shard.recv %{{.*}} on @grid grid_axes = [0] source = [1]
// CHECK: llm.repeat 1 layers<1>
// CHECK: llm.param @b
// CHECK: llm.lm_head
// CHECK-NOT: shard.send
// CHECK: return
// CHECK-NOT: func.func @decode(
func.func @decode(%tokens: tensor<?xi32> {llm.role = "tokens"}, %positions: tensor<?xi32> {llm.role = "positions"},
    %first: tensor<3x?x?x4xf32> {llm.role = "cache", shardopt.slice = {dims = [{}, {rows = ["ep"]}, {}, {}], name = "arg2", shape = array<i64: 3, -1, -1, 4>}},
    %second: tensor<2x?x?x4xf32> {llm.role = "cache"})
    -> (tensor<?xi32> {llm.role = "token_ids"},
        tensor<3x?x?x4xf32> {llm.role = "cache", shardopt.slice = {dims = [{}, {rows = ["ep"]}, {}, {}], name = "arg2", shape = array<i64: 3, -1, -1, 4>}},
        tensor<2x?x?x4xf32> {llm.role = "cache", shardopt.slice = {dims = [{}, {rows = ["ep"]}, {}, {}], name = "arg3", shape = array<i64: 2, -1, -1, 4>}}) {
  %table = llm.param @embed : tensor<16x8xf32>
  %x = llm.embedding "embed" %tokens, %table : tensor<16x8xf32> -> tensor<?x8xf32>
  %y:2 = llm.repeat 3 layers<4, 7, 9> windows<0, 3, ...> init(%r = %x : tensor<?x8xf32>) caches(%c = %first : tensor<3x?x?x4xf32>) invariants(%p = %positions : tensor<?xi32>) {
    %w = llm.param @a : tensor<8x8xf32>
    %0 = llm.linear "a" %r, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    llm.yield %0, %c : tensor<?x8xf32>, tensor<?x?x4xf32>
  }
  %z:2 = llm.repeat 2 init(%r = %y#0 : tensor<?x8xf32>) caches(%c = %second : tensor<2x?x?x4xf32>) invariants(%p = %positions : tensor<?xi32>) {
    %w = llm.param @b : tensor<8x8xf32>
    %0 = llm.linear "b" %r, %w : tensor<?x8xf32> -> tensor<?x8xf32>
    llm.yield %0, %c : tensor<?x8xf32>, tensor<?x?x4xf32>
  }
  %n = llm.param @norm : tensor<8xf32>
  %h = llm.param @head : tensor<8x16xf32>
  %ids = llm.lm_head "lm_head" %z#0 norm(%n) weight(%h) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x16xf32> -> tensor<?xi32>
  return %ids, %y#1, %z#1 : tensor<?xi32>, tensor<3x?x?x4xf32>, tensor<2x?x?x4xf32>
}
}

// -----

// More stages than layers: the first embeds, the second passes on what it receives, the
// last has the head alone. Values that several stages read, here one that stands in
// front of the layers, are made in each of them.
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 4 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 4x1x1)
// CHECK-LABEL: func.func @f_stage0(
// CHECK-SAME: %[[T:[a-z0-9]*]]: tensor<?xi32>, %[[S:[a-z0-9]*]]: tensor<8x8xf32>) attributes
// CHECK: %[[X:.*]] = llm.embedding {{.*}} %[[T]], %[[S]]
// CHECK: shard.send %[[X]]
// CHECK-LABEL: func.func @f_stage1(
// CHECK-SAME: %[[T:[a-z0-9]*]]: tensor<?xi32>) attributes
// CHECK: %[[R:.*]] = shard.recv
// CHECK-NEXT: shard.send %[[R]] on @grid grid_axes = [0] destination = [2]
// CHECK-LABEL: func.func @f_stage2(
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<8x8xf32>) attributes
// CHECK: %[[BOTH:.*]] = arith.addf %[[S]], %[[S]]
// CHECK: %[[R:.*]] = shard.recv
// CHECK: %[[Y:.*]] = llm.repeat 1 {{.*}}init(%{{.*}} = %[[R]] :
// CHECK: llm.linear {{.*}} %{{.*}}, %[[BOTH]]
// CHECK: shard.send %[[Y]] on @grid grid_axes = [0] destination = [3]
// CHECK-LABEL: func.func @f_stage3(
// CHECK-SAME: %[[S:[a-z0-9]*]]: tensor<8x8xf32>) -> tensor<?x8xf32> attributes
// CHECK: %[[BOTH:.*]] = arith.addf %[[S]], %[[S]]
// CHECK: %[[R:.*]] = shard.recv
// CHECK: %[[Z:.*]] = llm.linear {{.*}} %[[R]], %[[BOTH]]
// CHECK: return %[[Z]]
func.func @f(%tokens: tensor<?xi32>, %s: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %both = arith.addf %s, %s : tensor<8x8xf32>
  %x = llm.embedding "embed" %tokens, %s : tensor<8x8xf32> -> tensor<?x8xf32>
  %y = llm.repeat 1 init(%r = %x : tensor<?x8xf32>) {
    %0 = llm.linear "a" %r, %both : tensor<?x8xf32> -> tensor<?x8xf32>
    llm.yield %0 : tensor<?x8xf32>
  }
  %z = llm.linear "b" %y, %both : tensor<?x8xf32> -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
}

// -----

// One stage, or no grid: nothing is cut. A helper is no entry.
// CHECK: func.func @one(%{{.*}}: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {shardopt.stage = {count = 1 : i64, index = 0 : i64}} {
// CHECK: func.func private @helper(%{{.*}}: tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK: func.func private @elsewhere()
func.func @one(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = call @helper(%x) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @helper(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
func.func private @elsewhere()
