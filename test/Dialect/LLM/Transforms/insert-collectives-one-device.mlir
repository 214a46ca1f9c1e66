// RUN: shard-opt %s --llm-insert-collectives | FileCheck %s --implicit-check-not="shard.{{all|reduce|process}}" \
// RUN:   --implicit-check-not=tensor. --implicit-check-not=arith. --implicit-check-not=llm.all_to_all_v

// On one device there is nothing to insert: ops stay whole, whatever their dims.

// CHECK: module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 1 : i64, tp = 1 : i64}
// CHECK: shard.grid @grid(shape = 1x1x1)
module attributes {llm.strategy = #llm.strategy<tp = 1, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// CHECK-LABEL: @one_device(
// CHECK: %[[EMBED:.*]] = llm.embedding {{.*}} %{{.*}}, %{{.*}} : tensor<10x8xf32> -> tensor<?x8xf32>
// CHECK: %[[REPEAT:.*]]:3 = llm.repeat 2 {{.*}}init(%{{.*}} = %[[EMBED]] : tensor<?x8xf32>) caches(%{{.*}} = %{{.*}} : tensor<2x?x?x2x4xf32>, %{{.*}} = %{{.*}} : tensor<2x?x?x2x4xf32>) invariants(%{{.*}} = %{{.*}} : tensor<?xi32>)
// CHECK: %[[ATTN_NORM:.*]] = llm.rms_norm {{.*}} %{{.*}} weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %[[ATTN_NORM]], %{{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x8xf32> -> tensor<?x32xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[QKV_PROJ]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 2{{.*}} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
// CHECK: %[[OUT_PROJ:.*]] = llm.out_proj {{.*}} %[[RESULT]], %{{.*}}heads = 4{{.*}} : tensor<?x16xf32> -> tensor<?x8xf32>
// CHECK: %[[RESULT1:.*]], %[[SUM:.*]] = llm.rms_norm {{.*}} %[[OUT_PROJ]] residual(%{{.*}}) weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %{{.*}}, %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.router {{.*}} %[[RESULT1]], %{{.*}} : tensor<?x8xf32>, tensor<8x6xf32>
// CHECK: %[[ROWS:.*]], %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.dispatch {{.*}} %[[RESULT1]], %[[INDICES]]{{.*}} : tensor<?x8xf32>, tensor<?x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[ROWS]], %{{.*}} counts(%[[COUNTS]]){{.*}} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[COUNTS]]){{.*}} : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
// CHECK: %[[COMBINE:.*]] = llm.combine {{.*}} %[[FFN_DOWN]], %[[COUNTS]], %[[ORIGINS]], %[[WEIGHTS]]{{.*}} : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
// CHECK: %[[ADDED:.*]] = llm.add %[[SUM]], %[[COMBINE]] : tensor<?x8xf32>
// CHECK: %[[LM_HEAD:.*]] = llm.lm_head {{.*}} %[[REPEAT]]#0 norm(%{{.*}}) weight(%{{.*}}){{.*}} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>
// CHECK: return %[[LM_HEAD]], %[[REPEAT]]#1, %[[REPEAT]]#2
func.func @one_device(%t: tensor<?xi32>, %p: tensor<?xi32>, %k: tensor<2x?x?x2x4xf32>, %v: tensor<2x?x?x2x4xf32>) -> (tensor<?xi32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>) {
  %e = llm.param @embed : tensor<10x8xf32>
  %x = llm.embedding "embed" dim<0> %t, %e : tensor<10x8xf32> -> tensor<?x8xf32>
  %y:3 = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) caches(%kc = %k : tensor<2x?x?x2x4xf32>, %vc = %v : tensor<2x?x?x2x4xf32>) invariants(%at = %p : tensor<?xi32>) {
    %n = llm.param @attn_norm : tensor<8xf32>
    %0 = llm.rms_norm "attn_norm" dim<0> %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %w = llm.param @qkv_proj : tensor<8x32xf32>
    %q = llm.qkv_proj "qkv_proj" dim<1> %0, %w {heads = 4, kv_heads = 2, head_dim = 4} : tensor<?x8xf32> -> tensor<?x32xf32>
    %a:3 = llm.attention gqa "attention" dim<1> %q at(%at) cache(%kc, %vc) {heads = 4, kv_heads = 2, head_dim = 4, group = 2, scale = 0.5} : tensor<?x32xf32>, tensor<?x?x2x4xf32> -> tensor<?x16xf32>
    %b = llm.param @out_proj : tensor<16x8xf32>
    %o = llm.out_proj "out_proj" dim<0> %a#0, %b {heads = 4} : tensor<?x16xf32> -> tensor<?x8xf32>
    %m = llm.param @ffn_norm : tensor<8xf32>
    %f, %s = llm.rms_norm "ffn_norm" dim<1> %o residual(%r) weight(%m) {epsilon = 1.0e-5} : tensor<?x8xf32>
    %rw = llm.param @router : tensor<8x6xf32>
    %g, %i, %h = llm.router "router" dim<1> %f, %rw {scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x8xf32>, tensor<8x6xf32>
    %d, %c, %or = llm.dispatch "dispatch" dim<0> %g, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
    %uw = llm.param @ffn_up : tensor<6x8x8xf32>
    %u = llm.ffn_up "ffn_up" dim<0> %d, %uw counts(%c) {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
    %dw = llm.param @ffn_down : tensor<6x4x8xf32>
    %j = llm.ffn_down "ffn_down" dim<1> %u, %dw counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
    %l = llm.combine "combine" dim<1> %j, %c, %or, %h : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
    %z = llm.add %s, %l : tensor<?x8xf32>
    llm.yield %z, %a#1, %a#2 : tensor<?x8xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
  }
  %nw = llm.param @norm : tensor<8xf32>
  %hw = llm.param @lm_head : tensor<8x10xf32>
  %ids = llm.lm_head "lm_head" dim<0> %y#0 norm(%nw) weight(%hw) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>
  return %ids, %y#1, %y#2 : tensor<?xi32>, tensor<2x?x?x2x4xf32>, tensor<2x?x?x2x4xf32>
}

}
