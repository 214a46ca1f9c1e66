// RUN: shard-opt %s --llm-finish-entries --split-input-file --verify-diagnostics | FileCheck %s

// A cache that is updated in place is an argument alone.
// CHECK: func.func @in_place(%{{[^:]*}}: memref<4xf32>, %{{[^:]*}}: memref<8xf32>) -> memref<4xf32> {
func.func @in_place(%x: memref<4xf32>, %keys: memref<8xf32> {llm.role = "cache"})
    -> memref<4xf32> {
  %at = memref.subview %keys[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  memref.copy %x, %at : memref<4xf32> to memref<4xf32, strided<[1], offset: 2>>
  return %x : memref<4xf32>
}

// -----

// expected-error@+1 {{'f' copies the cache of result 1, expected it to be updated in place}}
func.func @f(%x: memref<4xf32>, %keys: memref<8xf32> {llm.role = "cache"})
    -> (memref<4xf32>, memref<8xf32> {llm.role = "cache"}) {
  %copy = memref.alloc() : memref<8xf32>
  memref.copy %keys, %copy : memref<8xf32> to memref<8xf32>
  return %x, %copy : memref<4xf32>, memref<8xf32>
}
