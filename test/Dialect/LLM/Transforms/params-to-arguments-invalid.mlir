// RUN: shard-opt %s --llm-params-to-arguments --split-input-file --verify-diagnostics

// expected-error @+1 {{has params and is called: expected an entry, to which a caller gives its weights}}
func.func @one() -> tensor<8xf32> {
  %w = llm.param @w : tensor<8xf32>
  return %w : tensor<8xf32>
}
func.func @two() -> tensor<8xf32> {
  %0 = call @one() : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @nested(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) {
    %z = llm.repeat 3 init(%s = %r : tensor<?x8xf32>) {
      // expected-error @+1 {{stands in a repeat of a repeat: expected one, for a stack of weights has one leading size}}
      %w = llm.param @w : tensor<8x8xf32>
      %0 = llm.linear "proj" %s, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
      llm.yield %0 : tensor<?x8xf32>
    }
    llm.yield %z : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
