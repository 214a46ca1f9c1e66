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
  // expected-error @below {{'stablehlo.while' op is control flow, expected one straight block: unroll the loop, or import its body alone}}
  %0 = "stablehlo.while"(%x) ({}, {}) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
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
