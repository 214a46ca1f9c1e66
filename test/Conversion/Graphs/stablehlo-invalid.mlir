// What is not known or not as StableHLO has it: the op, its place and what would be accepted.

// RUN: shard-opt %s --allow-unregistered-dialect --shard-auto-annotate --split-input-file --verify-diagnostics

func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> { // expected-error {{takes 'tensor<?x8xf32>', expected static sizes of numbers}}
  return %x : tensor<?x8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'stablehlo.unheard' op is not known, expected an op whose factors are, or the attribute 'sdy.sharding_rule'}}
  %0 = "stablehlo.unheard"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'stablehlo.while' op expected a condition and a body of one block each, over the tensors that the loop carries}}
  %0 = "stablehlo.while"(%x) ({}, {}) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Until a value is small: nobody knows when.
func.func @f(%x: tensor<f32>) -> tensor<f32> {
  %small = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-error @below {{'stablehlo.while' op has no known number of trips, expected a counter from a constant below a constant, in constant steps, of 1 to 1048576 trips: unroll the loop, or import its body alone}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<f32>):
    %c = "stablehlo.compare"(%a, %small) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>):
    %b = "stablehlo.sqrt"(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'stablehlo.if' op is control flow, expected one straight block: import each branch alone}}
  %0 = "stablehlo.if"(%x) ({}, {}) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// expected-error @below {{argument 0 becomes result 0 in place ('tf.aliasing_output'), expected one pin for both: arg0 and result0}}
func.func @f(%x: tensor<8xf32> {tf.aliasing_output = 0 : i32}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expected dims of a tensor of rank 2 in 'permutation'}}
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 2>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expected #stablehlo.dot in 'dot_dimension_numbers'}}
  %0 = "stablehlo.dot_general"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<7x8xf32> {
  // expected-error @below {{expected as many elements in the result as in the operand}}
  %0 = "stablehlo.reshape"(%x) : (tensor<8x8xf32>) -> tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expected integers in 'dimensions'}}
  %0 = "stablehlo.reduce"(%x, %x) ({}) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expected #sdy.op_sharding_rule<([i, j])->([i, j]) {i=2, j=4}> with each dim of each value}}
  %0 = "any.op"(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i, j]) {i=8, j=8}>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op runs 'f' more than 1000000 times in all, expected calls that end}}
  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @g(tensor<8xf32>) -> tensor<8xf32>
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op runs 'g', expected a function of this module with one block}}
  %0 = call @g(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @f(%x: memref<8x8xf32>) { // expected-error {{takes 'memref<8x8xf32>', expected tensors, as before bufferization}}
  return
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'any.store' op is not known, expected an op whose factors are, or the attribute 'sdy.sharding_rule'}}
  "any.store"(%x) : (tensor<8xf32>) -> ()
  return %x : tensor<8xf32>
}

// -----

func.func @f() -> tensor<8xf32> {
  // expected-error @below {{'any.load' op is not known}}
  %0 = "any.load"() : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{makes 'tuple<tensor<8xf32>>', expected the tensors of the tuple}}
  %0 = "stablehlo.tuple"(%x) : (tensor<8xf32>) -> tuple<tensor<8xf32>>
  %1 = "stablehlo.get_tuple_element"(%0) <{index = 0 : i32}> : (tuple<tensor<8xf32>>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// expected-error @below {{argument 0: 'tf.aliasing_output' is "result", expected one of 1 results}}
func.func @f(%x: tensor<8xf32> {tf.aliasing_output = "result"}) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{takes 'tensor<4611686018427387904x8xf32>', expected at most 2^53 elements}}
func.func @f(%x: tensor<4611686018427387904x8xf32>) {
  return
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{expected each dim once in 'permutation'}}
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 0>}> : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @f(%x: tensor<8x8xf32>) -> tensor<16x8xf32> {
  // expected-error @below {{expected a dim of the result in 'dimension'}}
  %0 = "stablehlo.concatenate"(%x, %x) <{dimension = 2 : i64}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected one result}}
  %0:2 = "stablehlo.add"(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0 : tensor<8xf32>
}
