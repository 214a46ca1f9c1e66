// RUN: shard-opt %s --llm-split-stages --split-input-file --verify-diagnostics
// RUN: not shard-opt %s --llm-split-stages=machine=h200x 2>&1 --split-input-file | FileCheck %s

// CHECK: error: unknown machine 'h200x'
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
// expected-error @+1 {{has no 'llm.repeat' to cut: expected the layers that 2 stages share}}
func.func @no_layers(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
}

// -----

// (C1)
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
func.func @layer_outside(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  // expected-error @+1 {{ends a layer outside of an 'llm.repeat': expected layers to be in repeats, which stages can share}}
  %z = llm.add %x, %y : tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
}

// -----

// (C1)
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
func.func private @print()
func.func @side_effect(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{may have side effects, which belong to no stage}}
  func.call @print() : () -> ()
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

// (C2)
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
// expected-error @+1 {{argument 1 is a stack of layers and has other uses: expected none, for each stage has layers of its own}}
func.func @stack_read(%x: tensor<?x8xf32>, %s: tensor<2x8xf32>) -> (tensor<?x8xf32>, tensor<2x8xf32>) {
  // expected-note @+1 {{used here}}
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) stacked(%w = %s : tensor<2x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  // expected-note @+1 {{used here}}
  return %y, %s : tensor<?x8xf32>, tensor<2x8xf32>
}
}

// -----

// (C2)
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
func.func @stack_made(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-note @+1 {{computed here}}
  %s = tensor.empty() : tensor<2x8xf32>
  // expected-error @+1 {{has a stacked operand that is computed: expected an argument, since each stage gets its layers, or stages that have all layers of the repeat or none, but stage 1 begins with its layer 1}}
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) stacked(%w = %s : tensor<2x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

// (C1)
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, stages = array<i64: 2, 2>, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
// expected-error @+1 {{cannot be cut: 'stages' adds up to 4 layers, expected all 3, such as 2, 1}}
func.func @other_layers(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 3 init(%r = %x : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

// expected-error @+1 {{'shardopt.strategy': 'stages' has the layers of 3 stages, expected as many as pp, 2}}
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, stages = array<i64: 1, 1, 1>, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
func.func @other_stages(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}
}

// -----

// (C3)
module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
func.func @early_result(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // expected-note @+1 {{layers are here}}
  %y = llm.repeat 1 init(%r = %x : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  %n = llm.param @n : tensor<8xf32>
  %between = llm.rms_norm "between" %y weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %z = llm.repeat 1 init(%r = %between : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  // expected-error @+1 {{needs what layers of another stage make: expected only the residual to leave a stage}}
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}
}

// -----

module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
func.func @unknown_rows(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-note @+1 {{'tensor.concat' does not say how many it has}}
  %twice = tensor.concat dim(0) %x, %x : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-error @+1 {{needs the number of rows of its residual: expected a known one}}
  %y = llm.repeat 2 init(%r = %twice : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
}

// -----

module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
// expected-error @+1 {{needs the name 'f_stage1' for a stage}}
func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xf32>) {
    llm.yield %r : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
// expected-note @+1 {{which is taken here}}
func.func private @f_stage1()
}

// -----

module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
// expected-error @+1 {{is called: expected an entry, since each stage becomes one}}
func.func @called() {
  return
}
func.func private @caller() {
  func.call @called() : () -> ()
  return
}
}

// -----

module attributes {shardopt.strategy = {batch = 4 : i64, ep = 1 : i64, pp = 2 : i64, tp = 1 : i64}} {
shard.grid @grid(shape = 2x1x1)
// expected-error @+1 {{cannot be split into stages: expected one block, found 2}}
func.func @blocks() {
  return
^bb1:
  return
}
}

// -----

// expected-error @+1 {{module has a grid and no 'shardopt.strategy': expected a partitioned module; run --llm-insert-collectives first}}
module {
shard.grid @grid(shape = 2x1x1)
func.func @f() {
  return
}
}
