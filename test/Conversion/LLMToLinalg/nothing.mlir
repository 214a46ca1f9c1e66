// RUN: shard-opt %s --convert-llm-to-linalg | FileCheck %s

// A program without the dialect stays as it is.
// CHECK-LABEL: @f
// CHECK-NEXT: %[[Y:.*]] = arith.addf
// CHECK-NEXT: return %[[Y]]
func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  %y = arith.addf %x, %x : tensor<4xf64>
  return %y : tensor<4xf64>
}
