// RUN: shard-opt %s --llm-insert-collectives --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error@+1 {{has no 'llm.strategy': expected a complete one; run --llm-search-sharding or --llm-apply-strategy first}}
module {
}

// -----

// expected-error@+1 {{'llm.strategy' has no 'pp': expected a complete strategy}}
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, batch = 8>} {
}

// -----

// expected-error@+1 {{the strategy, tp 2, dp 1, ep 2, pp 1, exchange gather, batch 8, has no grid: exchange gather needs experts, and the model has none}}
module attributes {llm.strategy = #llm.strategy<tp = 2, dp = 1, ep = 2, pp = 1, exchange = gather, batch = 8>} {
}

// -----

// expected-error@+1 {{is partitioned already: it has a 'shardopt.strategy'}}
module attributes {shardopt.strategy = {batch = 8 : i64, ep = 1 : i64, pp = 1 : i64, tp = 2 : i64}} {
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
func.func @no_sharding(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // expected-error@+1 {{'llm.linear' op has no 'sharding': expected a dim for every op before collectives are inserted}}
  %0 = llm.linear "a" %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
}

// -----

// Two features are one rotary pair, which four devices cannot share.
// expected-note@+1 {{the strategy of the module has tp 4 ep 1 pp 1 batch 8}}
module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>} {
func.func @illegal_dim(%x: tensor<?x6xf32>, %p: tensor<?xi32>, %k: tensor<?x?x1x2xf32>, %v: tensor<?x?x1x2xf32>) -> tensor<?x2xf32> {
  // expected-error@+1 {{'llm.attention' op sharding dim 1 is illegal here: }}
  %1:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) {heads = 1, kv_heads = 1, head_dim = 2, group = 1, scale = 0.5} : (tensor<?x6xf32>, tensor<?xi32>, tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>) -> (tensor<?x2xf32>, tensor<?x?x1x2xf32>, tensor<?x?x1x2xf32>)
  return %1#0 : tensor<?x2xf32>
}
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
func.func @argument_with_two_slices(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  // expected-note@+1 {{used here with another slice}}
  %0 = llm.linear "a" dim<1> %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  // expected-error@+1 {{'llm.linear' op reads argument #1 of its block, which is used with two different slices: expected an 'llm.param'}}
  %1 = llm.linear "b" dim<0> %0, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
func.func @computed_weight(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = llm.param @w : tensor<8x8xf32>
  // expected-note@+1 {{weight defined here}}
  %v = arith.negf %w : tensor<8x8xf32>
  // expected-error@+1 {{cannot slice a weight that is computed: expected an 'llm.param' or an argument}}
  %0 = llm.linear "a" dim<1> %x, %v : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
func.func @computed_stack(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = llm.param @w : tensor<2x8x8xf32>
  %v = arith.negf %w : tensor<2x8x8xf32>
  // expected-error@+1 {{'llm.repeat' op stacked operand #0 is computed: expected an argument, which can be sliced}}
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) stacked(%l = %v : tensor<2x8x8xf32>) {
    %0 = llm.linear "a" dim<1> %r, %l : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %1 = llm.add %r, %0 : tensor<?x8xf32>
    llm.yield %1 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
func.func @param_as_stack(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = llm.param @w : tensor<2x8x8xf32>
  // expected-error@+1 {{'llm.repeat' op stacked operand #0 is computed: expected an argument, which can be sliced}}
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) stacked(%l = %w : tensor<2x8x8xf32>) {
    %0 = llm.linear "a" dim<1> %r, %l : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %1 = llm.add %r, %0 : tensor<?x8xf32>
    llm.yield %1 : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

// Which copies a device has depends on the device, so nothing else may ask.
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
func.func @returned_origins(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>) -> tensor<?xi32> {
  // expected-note@+1 {{dispatched here}}
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : (tensor<?x8xf32>, tensor<?x2xi32>) -> (tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?xi32>)
  // expected-error@+1 {{uses counts or origins of a dispatch: expected only experts and 'llm.combine' to, for they differ from device to device}}
  return %o : tensor<?xi32>
}
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
func.func @op_with_a_region(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{'tensor.pad' op cannot be partitioned: only 'llm' ops may have regions in a program that is sharded}}
  %0 = tensor.pad %x low[0, 0] high[%c, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x8xf32> to tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>} {
// expected-error@+1 {{'func.func' op cannot be partitioned: expected one block, found 2}}
func.func @two_blocks(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  "test.branch"()[^end] : () -> ()
^end:
  return %x : tensor<?x8xf32>
}
}

// -----

// expected-note@+1 {{the strategy of the module has tp 4 ep 1 pp 1 batch 8}}
module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>} {
func.func @one_axis_of_tp(%x: tensor<?x8xf32>, %w: tensor<8x32xf32>) -> tensor<?x32xf32> {
  // expected-error@+1 {{sharding dim 3 is illegal here: sharding dim 3 (both) needs tp2 above 1, a second axis of tp}}
  %0 = llm.ffn_up "ffn_up" dim<both> %x, %w : tensor<?x8xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
}

// -----

// expected-error@+1 {{has no grid: tp2 4 does not properly divide tp 4, the nearest that does is 2}}
module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, tp2 = 4, batch = 8>} {
}
