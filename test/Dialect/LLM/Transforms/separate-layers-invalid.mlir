// RUN: shard-opt %s --llm-separate-layers --split-input-file --verify-diagnostics

func.func @weights_as_arguments(%x: tensor<?x8xbf16>, %w: tensor<2x8xbf16>) -> tensor<?x8xbf16> {
  // expected-error @below {{reads stacked weights, expected them as 'llm.param' where layers are separated}}
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) stacked(%v = %w : tensor<2x8xbf16>) {
    %n = llm.rms_norm "norm" %r weight(%v) {epsilon = 1.0e-5} : tensor<?x8xbf16>
    %s = llm.add %r, %n : tensor<?x8xbf16>
    llm.yield %s : tensor<?x8xbf16>
  }
  return %y : tensor<?x8xbf16>
}

// -----

func.func @cache_read_elsewhere(%x: tensor<?x8xbf16>, %k: tensor<2x4xbf16>) -> (tensor<?x8xbf16>, tensor<2x4xbf16>, tensor<2x4xbf16>) {
  // expected-error @below {{has a cache that is no argument of the function, or has other uses, expected one of its own for each stack of layers}}
  %y:2 = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) caches(%c = %k : tensor<2x4xbf16>) {
    llm.yield %r, %c : tensor<?x8xbf16>, tensor<4xbf16>
  }
  // expected-note@+1 {{used here}}
  return %y#0, %y#1, %k : tensor<?x8xbf16>, tensor<2x4xbf16>, tensor<2x4xbf16>
}

// -----

func.func @cache_dropped(%x: tensor<?x8xbf16>, %k: tensor<2x4xbf16>) -> tensor<?x8xbf16> {
  // expected-error @below {{has a cache that is not returned, or more than once, expected each of them returned once}}
  %y:2 = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) caches(%c = %k : tensor<2x4xbf16>) {
    llm.yield %r, %c : tensor<?x8xbf16>, tensor<4xbf16>
  }
  return %y#0 : tensor<?x8xbf16>
}
