// A feed-forward network without activation, as another compiler may write it.
func.func @mlp(%x: tensor<16x4096xf32> {shardopt.replicated}, %u: tensor<4096x16384xf32>, %d: tensor<16384x4096xf32>) -> tensor<16x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16384xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16384xf32>) -> tensor<16x16384xf32>
  %h = linalg.matmul ins(%x, %u : tensor<16x4096xf32>, tensor<4096x16384xf32>) outs(%z : tensor<16x16384xf32>) -> tensor<16x16384xf32>
  %e2 = tensor.empty() : tensor<16x4096xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %y = linalg.matmul ins(%h, %d : tensor<16x16384xf32>, tensor<16384x4096xf32>) outs(%z2 : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %y : tensor<16x4096xf32>
}
