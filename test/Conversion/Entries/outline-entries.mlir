// RUN: shard-opt %s --llm-outline-entries | FileCheck %s

// The entry returns no cache, and lets bufferization write into caches alone.
// CHECK-LABEL: func.func @shardopt_entry_f(
// CHECK-SAME: tensor<4xf32> {bufferization.writable = false}
// CHECK-SAME: tensor<8xf32>) -> tensor<4xf32> attributes {llvm.emit_c_interface}
// CHECK: %[[R:.*]]:2 = call @f
// CHECK: return %[[R]]#0
// CHECK-LABEL: func.func private @f(

func.func @f(%x: tensor<4xf32>, %keys: tensor<8xf32> {llm.role = "cache"})
    -> (tensor<4xf32>, tensor<8xf32> {llm.role = "cache"}) {
  %next = tensor.insert_slice %x into %keys[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %x, %next : tensor<4xf32>, tensor<8xf32>
}

// A function of elsewhere stays as it is.
// CHECK: func.func private @elsewhere(
func.func private @elsewhere(tensor<4xf32>)
