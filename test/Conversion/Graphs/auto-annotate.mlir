// The shardings that people write by hand come out by themselves, and what cannot be sharded is
// said.

// RUN: split-file %s %t
// RUN: shard-opt %t/mlp.mlir --shard-auto-annotate=problem=%t/problem.json --remarks-filter='.*' 2> %t/remarks | mlir-opt-22 --pass-pipeline='builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),canonicalize,cse)' | FileCheck %t/mlp.mlir
// RUN: FileCheck %t/mlp.mlir --check-prefix=REMARK < %t/remarks
// RUN: shard-solve %t/problem.json 2>&1 | FileCheck %t/mlp.mlir --check-prefix=SOLVED
// RUN: shard-opt %t/mlp.mlir --shard-auto-annotate=memory-gb=0.08 -o /dev/null
// RUN: not shard-opt %t/mlp.mlir --shard-auto-annotate=memory-gb=0.05 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: shard-opt %t/odd.mlir --shard-auto-annotate=devices=3 --remarks-filter='.*' 2>&1 | FileCheck %t/odd.mlir
// RUN: shard-opt %t/mlp.mlir --shard-auto-annotate | not shard-opt --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not shard-opt %t/dynamic.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not shard-opt %t/blocks.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not shard-opt %t/loop.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not shard-opt %t/odd.mlir --shard-auto-annotate=devices=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not shard-opt %t/odd.mlir --shard-auto-annotate=machine=h100 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: echo 'module {}' | shard-opt --shard-auto-annotate | FileCheck %s --check-prefix=EMPTY

// MEMORY: error: 'func.func' op does not fit: every sharding takes at least {{[0-9]+}} bytes of a device, which has 50000000
// TWICE: error: 'shard.shard' op is an annotation already, expected a function without
// DYNAMIC: error: 'func.func' op takes 'tensor<?x4xf32>', expected static sizes of numbers
// BLOCKS: error: 'func.func' op has several blocks, expected one
// LOOP: error: 'scf.for' op has a region, expected ops of linalg in one block
// NONE: error: 'devices' is 0, expected 1 to 1048576
// MACHINE: error: unknown machine 'h100'
// EMPTY: shard.grid @grid(shape = 8)

//--- mlp.mlir

// Megatron's: columns, then rows, and one all-reduce. Weights are the arguments' own blocks.
// CHECK: shard.grid @grid(shape = 8)
// CHECK: func.func @mlp(%[[X:.*]]: tensor<16x4096xf32> {{.*}}, %[[U:.*]]: tensor<4096x2048xf32>, %[[D:.*]]: tensor<2048x4096xf32>) -> tensor<16x4096xf32>
// CHECK-NOT: shard.all
// CHECK: linalg.matmul ins(%[[X]], %[[U]] :
// CHECK-NOT: shard.all
// CHECK: linalg.matmul ins(%{{.*}}, %[[D]] : tensor<16x2048xf32>, tensor<2048x4096xf32>)
// CHECK-NEXT: shard.all_reduce
// CHECK-NOT: shard.all
// REMARK: annotated {{.*}} bound=[[COST:.*]], microseconds=[[COST]], proved=true
// SOLVED: proved
func.func @mlp(%x: tensor<16x4096xf32> {shardopt.replicated}, %u: tensor<4096x16384xf32>, %d: tensor<16384x4096xf32>) -> tensor<16x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16384xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16384xf32>) -> tensor<16x16384xf32>
  %h = linalg.matmul ins(%x, %u : tensor<16x4096xf32>, tensor<4096x16384xf32>) outs(%z : tensor<16x16384xf32>) -> tensor<16x16384xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<16x16384xf32>) outs(%e : tensor<16x16384xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<16x16384xf32>
  %e2 = tensor.empty() : tensor<16x4096xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %y = linalg.matmul ins(%r, %d : tensor<16x16384xf32>, tensor<16384x4096xf32>) outs(%z2 : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %y : tensor<16x4096xf32>
}

//--- odd.mlir

// No loop has a size that 3 divides; a slice is no op of linalg.
// CHECK: tensor.extract_slice is replicated: it is no op of linalg
// CHECK-NOT: split_axes = {{.*}}[0]
func.func @f(%x: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

//--- dynamic.mlir

func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

//--- blocks.mlir

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4x4xf32>
}

//--- loop.mlir

func.func @f(%x: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> tensor<4x4xf32> {
    scf.yield %z : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}
