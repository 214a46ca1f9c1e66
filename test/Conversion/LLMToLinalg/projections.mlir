// RUN: shard-opt %s --convert-llm-to-linalg | FileCheck %s

// CHECK-LABEL: @product
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8x4xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%[[ZEROS]] : tensor<?x4xf32>)
func.func @product(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>) -> tensor<?x4xf32> {
  %y = llm.out_proj "out_proj" %x, %w {heads = 2} : tensor<?x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Every row starts from the bias.
// CHECK-LABEL: @bias
// CHECK-SAME: %[[B:[^:]*]]: tensor<4xf32>) ->
// CHECK: %[[START:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<4xf32>)
// CHECK: linalg.matmul {{.*}} outs(%[[START]]
func.func @bias(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %y = llm.linear "proj" %x, %w bias(%b) : tensor<?x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: @transposed
// CHECK: linalg.matmul indexing_maps = {{.*}} ins({{.*}} : tensor<?x8xf32>, tensor<4x8xf32>)
func.func @transposed(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) -> tensor<?x4xf32> {
  %y = llm.linear "proj" %x, %w {transposed} : tensor<?x8xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// CHECK-LABEL: @norm_with_residual
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[R:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[R]] :
// CHECK: arith.addf
// CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}}["parallel", "reduction"]} ins(%[[SUM]] :
// CHECK: %[[NORMED:.*]] = linalg.generic {{.*}} ins(%[[SUM]], %[[SQUARES]], %[[W]] :
// CHECK: math.sqrt
// CHECK: return %[[NORMED]], %[[SUM]]
func.func @norm_with_residual(%x: tensor<?x8xf32>, %r: tensor<?x8xf32>, %w: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %n, %s = llm.rms_norm "ffn_norm" %x residual(%r) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %n, %s : tensor<?x8xf32>, tensor<?x8xf32>
}

// A token that another device has gives zeros.
// CHECK-LABEL: @embedding_of_a_block
// CHECK-SAME: %{{.*}}: tensor<?xi32>, %[[TABLE:.*]]: tensor<11x6xf32>, %[[OFFSET:.*]]: index
// CHECK: linalg.generic
// CHECK: %[[ROW:.*]] = arith.subi %{{.*}}, %[[OFFSET]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW]]
// CHECK: scf.if %[[INSIDE]]
// CHECK-NEXT: tensor.extract %[[TABLE]][%[[ROW]],
func.func @embedding_of_a_block(%t: tensor<?xi32>, %w: tensor<11x6xf32>, %o: index) -> tensor<?x6xf32> {
  %x = llm.embedding "embed" %t, %w offset(%o) : tensor<11x6xf32> -> tensor<?x6xf32>
  return %x : tensor<?x6xf32>
}

// CHECK-LABEL: @select_columns
// CHECK: %[[CHOSEN:.*]] = arith.constant dense<[0, 3, -1]> : tensor<3xi32>
// CHECK: linalg.generic {{.*}} ins(%[[CHOSEN]] :
func.func @select_columns(%x: tensor<?x4xf32>) -> tensor<?x3xf32> {
  %y = llm.select_columns %x {runs = array<i64: 0, 2, 3, 1, 0, -1, 1, 1, 1, 0>} : tensor<?x4xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
