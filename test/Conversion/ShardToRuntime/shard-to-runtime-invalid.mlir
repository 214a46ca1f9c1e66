// RUN: shard-opt %s --convert-shard-to-runtime --split-input-file --verify-diagnostics

shard.grid @grid(shape = 4)
func.func @product(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{can be executed as a sum or a max, found 'product'}}
  %0 = shard.all_reduce %x on @grid grid_axes = [0] reduction = product : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @scatter_of_max(%x: tensor<?x8xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{can be executed as a sum, found 'max'}}
  %0 = shard.reduce_scatter %x on @grid grid_axes = [0] reduction = max scatter_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @narrow(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  // expected-error @+1 {{needs elements of f32 or i32 to be executed, found 'f16'}}
  %0 = shard.all_reduce %x on @grid grid_axes = [0] : tensor<?x8xf16> -> tensor<?x8xf16>
  return %0 : tensor<?x8xf16>
}

// -----

shard.grid @grid(shape = 4)
func.func @converted(%x: tensor<?x8xi32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{needs a result of the operand's element type to be executed, found 'tensor<?x8xi32>' and 'tensor<?x8xf32>'}}
  %0 = shard.all_reduce %x on @grid grid_axes = [0] : tensor<?x8xi32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @high(%x: tensor<1x1x1x1x8xf32>) -> tensor<1x1x1x1x8xf32> {
  // expected-error @+1 {{needs a tensor of rank 1 to 4 to be executed, found 'tensor<1x1x1x1x8xf32>'}}
  %0 = shard.all_reduce %x on @grid grid_axes = [0] : tensor<1x1x1x1x8xf32> -> tensor<1x1x1x1x8xf32>
  return %0 : tensor<1x1x1x1x8xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @from_anybody(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{needs a source to be executed}}
  %0 = shard.recv %x on @grid grid_axes = [0] : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

shard.grid @grid(shape = 4)
func.func @unknown(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{has no meaning in the runtime}}
  %0 = shard.shift %x on @grid grid_axes = [0] shift_axis = 0 offset = 1 rotate : tensor<?x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// expected-note @+1 {{first grid is here}}
shard.grid @grid(shape = 4)
// expected-error @+1 {{is a second grid, expected one to be executed}}
shard.grid @other(shape = 2x2)

// -----

// expected-error @+1 {{needs a static shape to be executed}}
shard.grid @grid(shape = 4x?)
