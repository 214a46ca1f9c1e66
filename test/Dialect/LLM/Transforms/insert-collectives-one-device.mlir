// RUN: shard-opt %s --llm-insert-collectives | FileCheck %s --implicit-check-not="shard.{{all|reduce|process}}" \
// RUN:   --implicit-check-not=tensor. --implicit-check-not=arith. --implicit-check-not=llm.all_to_all_v

// On one device there is nothing to insert: ops stay whole, whatever their dims.

// CHECK: module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 1 : i64, tp = 1 : i64}
// CHECK: shard.grid @grid(shape = 1x1x1)
module attributes {llm.strategy = #llm.strategy<tp = 1, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// CHECK-LABEL: @one_device(
// CHECK: %[[EMBED:.*]] = llm.embedding %{{.*}}, %{{.*}} : (tensor<?xi32>, tensor<10x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[REPEAT:.*]]:3 = llm.repeat 2 init(%[[EMBED]]) stacked(%{{.*}}, %{{.*}}) invariants(%{{.*}}) : (tensor<?x8xf32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>, tensor<?xi32>) -> (tensor<?x8xf32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>)
// CHECK: %[[ATTN_NORM:.*]] = llm.rms_norm %{{.*}} weight(%{{.*}}) {{.*}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj %[[ATTN_NORM]], %{{.*}}head_dim = 4 : i64{{.*}}heads = 4 : i64{{.*}}kv_heads = 2 : i64{{.*}} : (tensor<?x8xf32>, tensor<8x32xf32>) -> tensor<?x32xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION:.*]]:2 = llm.attention gqa %[[QKV_PROJ]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4 : i64{{.*}}heads = 4 : i64{{.*}}kv_heads = 2 : i64{{.*}} : (tensor<?x32xf32>, tensor<?xi32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x16xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>)
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj %[[RESULT]], %{{.*}}heads = 4 : i64{{.*}} : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
// CHECK: %[[RESULT1:.*]], %[[SUM:.*]] = llm.rms_norm %[[OUT_PROJ]] residual(%{{.*}}) weight(%{{.*}}) {{.*}} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: %{{.*}}, %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.router %[[RESULT1]], %{{.*}} : (tensor<?x8xf32>, tensor<8x6xf32>) -> (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>)
// CHECK: %[[ROWS:.*]], %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.dispatch %[[RESULT1]], %[[INDICES]] {{.*}} : (tensor<?x8xf32>, tensor<?x2xi32>) -> (tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?xi32>)
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up %[[ROWS]], %{{.*}} counts(%[[COUNTS]]) {{.*}} : (tensor<?x8xf32>, tensor<6x8x8xf32>, tensor<1x1x6xi32>) -> tensor<?x4xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down %[[FFN_UP]], %{{.*}} counts(%[[COUNTS]]) {{.*}} : (tensor<?x4xf32>, tensor<6x4x8xf32>, tensor<1x1x6xi32>) -> tensor<?x8xf32>
// CHECK: %[[COMBINE:.*]] = llm.combine %[[FFN_DOWN]], %[[COUNTS]], %[[ORIGINS]], %[[WEIGHTS]] {{.*}} : (tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x8xf32>
// CHECK: %[[ADDED:.*]] = llm.add %[[SUM]], %[[COMBINE]] : tensor<?x8xf32>
// CHECK: %[[LM_HEAD:.*]] = llm.lm_head %[[REPEAT]]#0 norm(%{{.*}}) weight(%{{.*}}) {{.*}} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8x10xf32>) -> tensor<?xi32>
// CHECK: return %[[LM_HEAD]], %[[REPEAT]]#1, %[[REPEAT]]#2
func.func @one_device(%t: tensor<?xi32>, %p: tensor<?xi32>, %k: tensor<2x?x?x2x4xf32>, %v: tensor<2x?x?x2x4xf32>) -> (tensor<?xi32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>) {
  %e = llm.param @embed : tensor<10x8xf32>
  %x = llm.embedding %t, %e {name = "embed", sharding = #llm.dim<0>} : (tensor<?xi32>, tensor<10x8xf32>) -> tensor<?x8xf32>
  %y:3 = llm.repeat 2 init(%x) stacked(%k, %v) invariants(%p) : (tensor<?x8xf32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>, tensor<?xi32>) -> (tensor<?x8xf32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>) {
  ^bb0(%r: tensor<?x8xf32>, %kc: tensor<?x?x2x4xf32>, %vc: tensor<?x?x2x4xf32>, %at: tensor<?xi32>):
    %n = llm.param @attn_norm : tensor<8xf32>
    %0 = llm.rms_norm %r weight(%n) {name = "attn_norm", epsilon = 1.0e-5, sharding = #llm.dim<0>} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %w = llm.param @qkv_proj : tensor<8x32xf32>
    %q = llm.qkv_proj %0, %w {name = "qkv_proj", heads = 4, kv_heads = 2, head_dim = 4, sharding = #llm.dim<1>} : (tensor<?x8xf32>, tensor<8x32xf32>) -> tensor<?x32xf32>
    %a:3 = llm.attention gqa %q at(%at) cache(%kc, %vc) {name = "attention", heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5, sharding = #llm.dim<1>} : (tensor<?x32xf32>, tensor<?xi32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> (tensor<?x16xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>)
    %b = llm.param @out_proj : tensor<16x8xf32>
    %o = llm.out_proj %a#0, %b {name = "out_proj", heads = 4, sharding = #llm.dim<0>} : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
    %m = llm.param @ffn_norm : tensor<8xf32>
    %f, %s = llm.rms_norm %o residual(%r) weight(%m) {name = "ffn_norm", epsilon = 1.0e-5, sharding = #llm.dim<1>} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
    %rw = llm.param @router : tensor<8x6xf32>
    %g, %i, %h = llm.router %f, %rw {name = "router", scoring = #llm.scoring<softmax>, top_k = 2, sharding = #llm.dim<1>} : (tensor<?x8xf32>, tensor<8x6xf32>) -> (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>)
    %d, %c, %or = llm.dispatch %g, %i {name = "dispatch", experts = 6, sharding = #llm.dim<0>} : (tensor<?x8xf32>, tensor<?x2xi32>) -> (tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?xi32>)
    %uw = llm.param @ffn_up : tensor<6x8x8xf32>
    %u = llm.ffn_up %d, %uw counts(%c) {name = "ffn_up", activation = #llm.activation<kind = silu, gated = true>, sharding = #llm.dim<0>} : (tensor<?x8xf32>, tensor<6x8x8xf32>, tensor<1x1x6xi32>) -> tensor<?x4xf32>
    %dw = llm.param @ffn_down : tensor<6x4x8xf32>
    %j = llm.ffn_down %u, %dw counts(%c) {name = "ffn_down", sharding = #llm.dim<1>} : (tensor<?x4xf32>, tensor<6x4x8xf32>, tensor<1x1x6xi32>) -> tensor<?x8xf32>
    %l = llm.combine %j, %c, %or, %h {name = "combine", sharding = #llm.dim<1>} : (tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x8xf32>
    %z = llm.add %s, %l : tensor<?x8xf32>
    llm.yield %z, %a#1, %a#2 : tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
  }
  %nw = llm.param @norm : tensor<8xf32>
  %hw = llm.param @lm_head : tensor<8x10xf32>
  %ids = llm.lm_head %y#0 norm(%nw) weight(%hw) {name = "lm_head", epsilon = 1.0e-5, sharding = #llm.dim<0>} : (tensor<?x8xf32>, tensor<8xf32>, tensor<8x10xf32>) -> tensor<?xi32>
  return %ids, %y#1, %y#2 : tensor<?xi32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>
}

}
