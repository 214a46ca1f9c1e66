// RUN: shard-opt %s --llm-insert-collectives --split-input-file --verify-diagnostics

// Values that are wired to what they cannot be: each type fits, and no program
// of several devices could compute it.

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // expected-note@+1 {{counts from here}}
  func.func @counts_of_an_argument(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>, %n: tensor<1x1x8xi32>) -> tensor<?x32xbf16> {
    %t, %i, %s = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    // expected-note@+1 {{rows from here}}
    %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
    // expected-error@+1 {{reads counts that are not of an 'llm.dispatch': expected those of the one that sends its rows}}
    %y = llm.combine "combine" dim<0> %d, %n, %o, %s : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
    return %y : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @counts_of_a_constant(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x32xbf16> {
    %t, %i, %s = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    // expected-note@+1 {{rows from here}}
    %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
    // expected-note@+1 {{counts from here}}
    %n = arith.constant dense<1> : tensor<1x1x8xi32>
    // expected-error@+1 {{reads counts that are not of an 'llm.dispatch'}}
    %y = llm.combine "combine" dim<0> %d, %n, %o, %s : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
    return %y : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // expected-note@+1 {{origins from here}}
  func.func @origins_of_an_argument(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>, %n: tensor<?xi32>) -> tensor<?x32xbf16> {
    %t, %i, %s = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    // expected-note@+1 {{rows from here}}
    %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
    // expected-error@+1 {{reads origins of other rows than its own: expected those of the 'llm.dispatch' that sends its rows}}
    %y = llm.combine "combine" dim<0> %d, %c, %n, %s : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
    return %y : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @combine_of_tokens(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x32xbf16> {
    %t, %i, %s = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    // expected-note@+1 {{counts from here}}
    %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
    // expected-error@+1 {{reads counts of other rows than its own: expected those of the 'llm.dispatch' that sends its rows}}
    %y = llm.combine "combine" dim<0> %x, %c, %o, %s : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
    return %y : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @experts_of_tokens(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>, %e: tensor<8x32x32xbf16>) -> tensor<?x32xbf16> {
    %t, %i, %s = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    // expected-note@+1 {{counts from here}}
    %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
    // expected-error@+1 {{'llm.ffn_up' op reads counts of other rows than its own}}
    %u = llm.ffn_up "up" dim<0> %x, %e counts(%c) : (tensor<?x32xbf16>, tensor<8x32x32xbf16>, tensor<1x1x8xi32>) -> tensor<?x32xbf16>
    return %u : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @sum_of_tokens_and_copies(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x32xbf16> {
    %t, %i, %s = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    // expected-note@+1 {{'dispatch' sends these rows to experts}}
    %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
    %y = llm.combine "combine" dim<0> %d, %c, %o, %s : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
    // expected-error@+1 {{adds rows of tokens and other rows, of experts: expected its operands to have the same rows}}
    %z = llm.add %y, %d : tensor<?x32xbf16>
    return %z : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @router_of_copies(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x2xi32> {
    %t, %i, %s = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    // expected-note@+1 {{'dispatch' sends these rows to experts}}
    %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
    // expected-error@+1 {{'llm.router' op reads rows of experts, expected rows of tokens}}
    %t2, %i2, %s2 = llm.router "again" dim<none> %d, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
    return %i2 : tensor<?x2xi32>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @static_rows(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<4x32xbf16> {
    %a = llm.linear "a" dim<0> %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
    // expected-error@+1 {{'tensor.cast' op says how many rows there are: expected a dynamic number, which the strategy divides over devices and micro-batches}}
    %b = tensor.cast %a : tensor<?x32xbf16> to tensor<4x32xbf16>
    return %b : tensor<4x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func private @g(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> {
    %a = llm.linear "a" dim<1> %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
    return %a : tensor<?x32xbf16>
  }
  func.func @weight_through_a_call(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> {
    // expected-note@+1 {{used here with another slice}}
    %a = llm.linear "b" dim<0> %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
    // expected-error@+1 {{'func.call' op reads argument #1 of its block, which is used with two different slices: expected an 'llm.param'}}
    %b = func.call @g(%a, %w) : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
    return %b : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // expected-note@+1 {{'g' is }}
  func.func private @g(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> {
    %a = llm.linear "a" dim<1> %x, %w : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
    return %a : tensor<?x32xbf16>
  }
  func.func @weight_for_a_callee(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> {
    // expected-error@+1 {{'func.call' op passes whole tensors to a function that takes parts of them once it is partitioned}}
    %b = func.call @g(%x, %w) : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
    return %b : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // expected-error@+1 {{function calls itself: expected a program without recursion}}
  func.func @recursive(%x: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
    %b = func.call @recursive(%x) : (tensor<?x32xbf16>) -> tensor<?x32xbf16>
    return %b : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @caches_change_places(%x: tensor<?x32xbf16>, %p: tensor<?xi32>, %n: tensor<32xbf16>, %w: tensor<32x96xbf16>, %o: tensor<32x32xbf16>, %a: tensor<2x?x?x2x8xbf16>, %b: tensor<2x?x?x2x8xbf16>, %c: tensor<2x?x?x2x8xbf16>, %d: tensor<2x?x?x2x8xbf16>) -> tensor<?x32xbf16> {
    %y:5 = llm.repeat 2 init(%r = %x : tensor<?x32xbf16>) caches(%k = %a : tensor<2x?x?x2x8xbf16>, %v = %b : tensor<2x?x?x2x8xbf16>, %l = %c : tensor<2x?x?x2x8xbf16>, %u = %d : tensor<2x?x?x2x8xbf16>) invariants(%at = %p : tensor<?xi32>, %norm = %n : tensor<32xbf16>, %qkv = %w : tensor<32x96xbf16>, %out = %o : tensor<32x32xbf16>) {
      %h = llm.rms_norm "norm" dim<none> %r weight(%norm) {epsilon = 1.0e-5} : tensor<?x32xbf16>
      %q = llm.qkv_proj "left_qkv" dim<1> %h, %qkv {head_dim = 8, heads = 8, kv_heads = 2} : tensor<?x32xbf16> -> tensor<?x96xbf16>
      // expected-note@+1 {{read here}}
      %s, %nk, %nv = llm.attention gqa "left" dim<0> %q at(%at) cache(%k, %v) {group = 4, head_dim = 8, heads = 8, kv_heads = 2, scale = 0.5} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
      %t, %nl, %nu = llm.attention gqa "right" dim<1> %q at(%at) cache(%l, %u) {group = 4, head_dim = 8, heads = 8, kv_heads = 2, scale = 0.5} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
      %f = llm.linear "left_out" dim<none> %h, %out : (tensor<?x32xbf16>, tensor<32x32xbf16>) -> tensor<?x32xbf16>
      %e = llm.add %r, %f : tensor<?x32xbf16>
      // expected-error@+1 {{gives as cache #0 a tensor with another sharding: expected that of the cache that the layer reads}}
      llm.yield %e, %nl, %nu, %nk, %nv : tensor<?x32xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
    }
    return %y#0 : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // expected-error@+1 {{returns as cache #0 a tensor with another sharding: expected that of the argument}}
  func.func @returned_caches_change_places(%q: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16> {llm.role = "cache"}, %v: tensor<?x?x2x8xbf16> {llm.role = "cache"}, %l: tensor<?x?x2x8xbf16> {llm.role = "cache"}, %u: tensor<?x?x2x8xbf16> {llm.role = "cache"}) -> (tensor<?x?x2x8xbf16> {llm.role = "cache"}, tensor<?x?x2x8xbf16> {llm.role = "cache"}, tensor<?x?x2x8xbf16> {llm.role = "cache"}, tensor<?x?x2x8xbf16> {llm.role = "cache"}) {
    %s, %nk, %nv = llm.attention gqa "left" dim<0> %q at(%p) cache(%k, %v) {group = 4, head_dim = 8, heads = 8, kv_heads = 2, scale = 0.5} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
    %t, %nl, %nu = llm.attention gqa "right" dim<1> %q at(%p) cache(%l, %u) {group = 4, head_dim = 8, heads = 8, kv_heads = 2, scale = 0.5} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
    return %nl, %nu, %nk, %nv : tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @one_cache_given_twice(%x: tensor<?x32xbf16>, %p: tensor<?xi32>, %w: tensor<32x96xbf16>, %o: tensor<64x32xbf16>, %a: tensor<2x?x?x2x8xbf16>, %b: tensor<2x?x?x2x8xbf16>) -> tensor<?x32xbf16> {
    %y:3 = llm.repeat 2 init(%r = %x : tensor<?x32xbf16>) caches(%k = %a : tensor<2x?x?x2x8xbf16>, %v = %b : tensor<2x?x?x2x8xbf16>) invariants(%at = %p : tensor<?xi32>, %qkv = %w : tensor<32x96xbf16>, %out = %o : tensor<64x32xbf16>) {
      %q = llm.qkv_proj "qkv" dim<1> %r, %qkv {head_dim = 8, heads = 8, kv_heads = 2} : tensor<?x32xbf16> -> tensor<?x96xbf16>
      %s, %nk, %nv = llm.attention gqa "attention" dim<0> %q at(%at) cache(%k, %v) {group = 4, head_dim = 8, heads = 8, kv_heads = 2, scale = 0.5} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
      %f = llm.out_proj "out" dim<0> %s, %out {heads = 8} : tensor<?x64xbf16> -> tensor<?x32xbf16>
      %e = llm.add %r, %f : tensor<?x32xbf16>
      // expected-error@+1 {{gives one tensor as caches #0 and #1: expected one for each place}}
      llm.yield %e, %nv, %nv : tensor<?x32xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
    }
    return %y#0 : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // expected-error@+1 {{returns one tensor as caches #0 and #1: expected one for each place}}
  func.func @one_cache_returned_twice(%q: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16> {llm.role = "cache"}, %v: tensor<?x?x2x8xbf16> {llm.role = "cache"}) -> (tensor<?x?x2x8xbf16> {llm.role = "cache"}, tensor<?x?x2x8xbf16> {llm.role = "cache"}) {
    %s, %nk, %nv = llm.attention gqa "left" dim<0> %q at(%p) cache(%k, %v) {group = 4, head_dim = 8, heads = 8, kv_heads = 2, scale = 0.5} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
    return %nv, %nv : tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @layer_yields_copies(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x32xbf16> {
    %y = llm.repeat 2 init(%r = %x : tensor<?x32xbf16>) invariants(%rw = %w : tensor<32x8xbf16>) {
      %t, %i, %s = llm.router "router" dim<none> %r, %rw {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
      // expected-note@+1 {{'dispatch' sends these rows to experts}}
      %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
      // expected-error@+1 {{'llm.yield' op reads rows of experts, expected rows of tokens}}
      llm.yield %d : tensor<?x32xbf16>
    }
    return %y : tensor<?x32xbf16>
  }
}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @layer_yields_sum_of_copies(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x32xbf16> {
    %y = llm.repeat 2 init(%r = %x : tensor<?x32xbf16>) invariants(%rw = %w : tensor<32x8xbf16>) {
      %t, %i, %s = llm.router "router" dim<none> %r, %rw {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
      // expected-note@+1 {{'dispatch' sends these rows to experts}}
      %d, %c, %o = llm.dispatch "dispatch" dim<0> %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
      %sum = llm.add %d, %d : tensor<?x32xbf16>
      // expected-error@+1 {{'llm.yield' op reads rows of experts, expected rows of tokens}}
      llm.yield %sum : tensor<?x32xbf16>
    }
    return %y : tensor<?x32xbf16>
  }
}
