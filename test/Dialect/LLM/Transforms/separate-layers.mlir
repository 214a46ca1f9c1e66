// RUN: shard-opt %s --llm-separate-layers | FileCheck %s --check-prefix=LAYER
// RUN: shard-opt %s --llm-separate-layers=by=window | FileCheck %s --check-prefix=WINDOW
// RUN: not shard-opt %s --llm-separate-layers=by=stage 2>&1 | FileCheck %s --check-prefix=BY
// BY: error: unknown by 'stage'; known: layer, window

// Each layer gets a repeat, with the number, the window and the cache that it had.

// LAYER-LABEL: func.func @caches
// LAYER-SAME: %[[T:[^:]*]]: tensor<?xi32>
// LAYER-SAME: %[[K0:[^:]*]]: tensor<1x?x?x1x8xbf16> {llm.role = "cache"}, %[[K1:[^:]*]]: tensor<1x?x?x1x8xbf16> {llm.role = "cache"}, %[[K2:[^:]*]]: tensor<1x?x?x1x8xbf16> {llm.role = "cache"}
// LAYER-SAME: %[[V0:[^:]*]]: tensor<1x?x?x1x8xbf16> {llm.role = "cache"}, %[[V1:[^:]*]]: tensor<1x?x?x1x8xbf16> {llm.role = "cache"}, %[[V2:[^:]*]]: tensor<1x?x?x1x8xbf16>
// LAYER: %[[A:.*]]:3 = llm.repeat 1 layers<5> windows<4> init({{.*}}) caches(%{{.*}} = %[[K0]] : {{.*}} = %[[V0]] :
// LAYER: llm.rms_norm "layer5.norm"
// LAYER: %[[B:.*]]:3 = llm.repeat 1 layers<6> windows<0> init(%{{.*}} = %[[A]]#0 {{.*}}) caches(%{{.*}} = %[[K1]] : {{.*}} = %[[V1]] :
// LAYER: llm.attention gqa "layer6.attention"
// LAYER: %[[C:.*]]:3 = llm.repeat 1 layers<7> windows<4> init(%{{.*}} = %[[B]]#0 {{.*}}) caches(%{{.*}} = %[[K2]] : {{.*}} = %[[V2]] :
// LAYER: return %[[C]]#0, %[[A]]#1, %[[B]]#1, %[[C]]#1, %[[A]]#2, %[[B]]#2, %[[C]]#2

// Layers of one window share names, and so dims.

// WINDOW-LABEL: func.func @caches
// WINDOW: llm.repeat 1 layers<5> windows<4>
// WINDOW: llm.rms_norm "window4.norm"
// WINDOW: llm.repeat 1 layers<6> windows<0>
// WINDOW: llm.rms_norm "full.norm"
// WINDOW: llm.repeat 1 layers<7> windows<4>
// WINDOW: llm.rms_norm "window4.norm"
func.func @caches(%t: tensor<?xi32>, %x: tensor<?x16xbf16>, %w: tensor<16xbf16>, %q: tensor<16x32xbf16>, %o: tensor<16x16xbf16>, %k: tensor<3x?x?x1x8xbf16> {llm.role = "cache"}, %v: tensor<3x?x?x1x8xbf16> {llm.role = "cache"}) -> (tensor<?x16xbf16>, tensor<3x?x?x1x8xbf16> {llm.role = "cache"}, tensor<3x?x?x1x8xbf16> {llm.role = "cache"}) {
  %y:3 = llm.repeat 3 layers<5-7> windows<4, 0, ...> init(%r = %x : tensor<?x16xbf16>) caches(%ks = %k : tensor<3x?x?x1x8xbf16>, %vs = %v : tensor<3x?x?x1x8xbf16>) invariants(%p = %t : tensor<?xi32>) {
    %n = llm.rms_norm "norm" %r weight(%w) {epsilon = 1.0e-5} : tensor<?x16xbf16>
    %qkv = llm.qkv_proj "qkv_proj" %n, %q {head_dim = 8, heads = 2, kv_heads = 1} : tensor<?x16xbf16> -> tensor<?x32xbf16>
    %a, %nk, %nv = llm.attention gqa "attention" %qkv at(%p) cache(%ks, %vs) {group = 2, head_dim = 8, heads = 2, kv_heads = 1, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35} : tensor<?x32xbf16>, tensor<?x?x1x8xbf16> -> tensor<?x16xbf16>
    %out = llm.out_proj "out_proj" %a, %o {heads = 2} : tensor<?x16xbf16> -> tensor<?x16xbf16>
    %s = llm.add %r, %out : tensor<?x16xbf16>
    llm.yield %s, %nk, %nv : tensor<?x16xbf16>, tensor<?x?x1x8xbf16>, tensor<?x?x1x8xbf16>
  }
  return %y#0, %y#1, %y#2 : tensor<?x16xbf16>, tensor<3x?x?x1x8xbf16>, tensor<3x?x?x1x8xbf16>
}

// Where no layer has a window, there is nothing to separate by it. What marks a kind of
// layers stays in front.

// LAYER-LABEL: func.func @dense
// LAYER: llm.repeat 1 layers<0>
// LAYER: llm.rms_norm "dense.layer0.norm"
// LAYER: llm.repeat 1 layers<1>
// LAYER: llm.rms_norm "dense.layer1.norm"
// WINDOW-LABEL: func.func @dense
// WINDOW: llm.repeat 2 init
// WINDOW: llm.rms_norm "dense.norm"
func.func @dense(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) -> tensor<?x8xbf16> {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    %n = llm.rms_norm "dense.norm" %r weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
    %s = llm.add %r, %n : tensor<?x8xbf16>
    llm.yield %s : tensor<?x8xbf16>
  }
  return %y : tensor<?x8xbf16>
}
