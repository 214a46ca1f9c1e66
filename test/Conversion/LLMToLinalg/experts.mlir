// RUN: shard-opt %s --convert-llm-to-linalg --canonicalize --cse | FileCheck %s
// RUN: shard-opt %s --convert-llm-to-linalg=routing=balanced --canonicalize --cse | FileCheck %s --check-prefix=TURNS

// Each expert's rows of each home and source, one after the other.
// CHECK-LABEL: @grouped_product
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<3x8x4xf32>, %[[COUNTS:.*]]: tensor<2x2x3xi32>
// CHECK: %[[BLOCK:.*]] = arith.divui %{{.*}}, %c2
// CHECK: scf.for %[[HOME:.*]] = %c0 to %c2
// CHECK:   %[[FIRST:.*]] = arith.muli %[[HOME]], %[[BLOCK]]
// CHECK:   scf.for %[[SOURCE:[a-z0-9]*]] = {{.*}} = %[[FIRST]])
// CHECK:     scf.for %[[EXPERT:[a-z0-9]*]] = {{.*}} iter_args(%[[Y:.*]] = %{{.*}}, %[[BEGIN:.*]] = %{{.*}})
// CHECK:       tensor.extract %[[COUNTS]][%[[HOME]], %[[SOURCE]], %[[EXPERT]]]
// CHECK:       %[[COUNT:.*]] = arith.index_cast
// CHECK-DAG:   %[[OWN:.*]] = tensor.extract_slice %[[W]][%[[EXPERT]], 0, 0]
// CHECK-DAG:   %[[ROWS:.*]] = tensor.extract_slice %[[X]][%[[BEGIN]], 0] [%[[COUNT]], 8]
// CHECK:       linalg.matmul ins(%[[ROWS]], %[[OWN]]
// CHECK:       tensor.insert_slice %{{.*}} into %[[Y]][%[[BEGIN]], 0] [%[[COUNT]], 4]
// CHECK:       arith.addi %[[BEGIN]], %[[COUNT]]
func.func @grouped_product(%x: tensor<?x8xf32>, %w: tensor<3x8x4xf32>, %c: tensor<2x2x3xi32>) -> tensor<?x4xf32> {
  %y = llm.ffn_down "ffn_down" %x, %w counts(%c) : tensor<?x8xf32>, tensor<2x2x3xi32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// The first of the largest, k times; or the row's number, in turn.
// CHECK-LABEL: @top_k
// CHECK: scf.for %[[ROW:[a-z0-9]*]] =
// CHECK:   scf.for %[[ROUND:[a-z0-9]*]] =
// CHECK:     scf.for
// CHECK:       arith.cmpf ogt
// CHECK:     tensor.insert %{{.*}} into %{{.*}}[%[[ROW]], %{{.*}}] : tensor<?x7xf32>
// CHECK:     tensor.insert %{{.*}} into %{{.*}}[%[[ROW]], %[[ROUND]]] : tensor<?x2xi32>
// TURNS-LABEL: @top_k
// TURNS: linalg.generic
// TURNS: arith.remui %{{.*}}, %c7
// TURNS: arith.index_cast %{{.*}} : index to i32
func.func @top_k(%l: tensor<?x9xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %i, %w = llm.top_k %l {experts = 7, scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x9xf32>
  return %i, %w : tensor<?x2xi32>, tensor<?x2xf32>
}

// A counting sort: count the keys, add the counts up, put copies in their places.
// Padding has a key of its own, the last, and is not sent.
// CHECK-LABEL: @exchange_plan
// CHECK: %[[COUNTS:.*]] = scf.for
// CHECK:   %[[PADDING:.*]] = arith.cmpi slt, %{{.*}}, %c0
// CHECK:   arith.select %[[PADDING]], %c18
// CHECK: %[[STARTS:.*]]:2 = scf.for
// CHECK: %[[SENT:.*]] = tensor.extract %[[STARTS]]#0[%c18]
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[SENT]]
// CHECK: %[[PLACED:.*]]:2 = scf.for {{.*}} = %[[STARTS]]#0)
// CHECK: tensor.extract_slice %[[COUNTS]][0] [18]
// CHECK: tensor.extract_slice %[[PLACED]]#0[0] [%[[SIZE]]]
func.func @exchange_plan(%i: tensor<?x2xi32>, %b: index) -> (tensor<2x3x3xi32>, tensor<?xi32>) {
  %c, %o = llm.exchange_plan %i block(%b) : tensor<?x2xi32> -> tensor<2x3x3xi32>
  return %c, %o : tensor<2x3x3xi32>, tensor<?xi32>
}

// CHECK-LABEL: @argmax
// CHECK: -> (tensor<?xf32>, tensor<?xi32>)
// CHECK: arith.bitcast %{{.*}} : f32 to i32
func.func @argmax(%l: tensor<?x5xf32>, %o: index) -> tensor<?x2xi32> {
  %a = llm.argmax %l offset(%o) {vocabulary = 12} : tensor<?x5xf32>
  return %a : tensor<?x2xi32>
}
