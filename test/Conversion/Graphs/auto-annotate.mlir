// The shardings that people write by hand come out by themselves, and what cannot be sharded is
// said.

// RUN: split-file %s %t
// RUN: shard-opt %t/mlp.mlir --shard-auto-annotate=problem=%t/problem.json --remarks-filter='.*' 2> %t/remarks | mlir-opt-22 --pass-pipeline='builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),canonicalize,cse)' | FileCheck %t/mlp.mlir
// RUN: FileCheck %t/mlp.mlir --check-prefix=REMARK < %t/remarks
// RUN: shard-solve %t/problem.json 2>&1 | FileCheck %t/mlp.mlir --check-prefix=SOLVED
// RUN: shard-opt %t/mlp.mlir --shard-auto-annotate=memory-gb=0.08 -o /dev/null
// RUN: not shard-opt %t/mlp.mlir --shard-auto-annotate=memory-gb=0.05 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: shard-opt %t/odd.mlir --shard-auto-annotate=mesh=3 --remarks-filter='.*' 2>&1 | FileCheck %t/odd.mlir
// RUN: shard-opt %t/mlp.mlir --shard-auto-annotate | not shard-opt --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not shard-opt %t/dynamic.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not shard-opt %t/blocks.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not shard-opt %t/loop.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: shard-opt %t/attention.mlir --shard-auto-annotate | mlir-opt-22 --pass-pipeline='builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),canonicalize,cse)' | FileCheck %t/attention.mlir
// RUN: shard-opt %t/pins.mlir --shard-auto-annotate=mesh=2 | mlir-opt-22 --pass-pipeline='builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),canonicalize,cse)' | FileCheck %t/pins.mlir
// RUN: not shard-opt %t/pins.mlir --shard-auto-annotate=mesh=8 2>&1 | FileCheck %s --check-prefix=PIN
// RUN: shard-opt %t/mlp.mlir --shard-auto-annotate='mesh=data=2,model=4 memory-gb=0.08' --remarks-filter='.*' 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: shard-opt %t/axes.mlir --shard-auto-annotate=mesh=2x2 | FileCheck %t/axes.mlir
// RUN: not shard-opt %t/axes.mlir --shard-auto-annotate=mesh=2x4 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not shard-opt %t/axes.mlir --shard-auto-annotate=mesh=4 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not shard-opt %t/both.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not shard-opt %t/no-dim.mlir --shard-auto-annotate 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not shard-opt %t/odd.mlir --shard-auto-annotate=mesh=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not shard-opt %t/odd.mlir --shard-auto-annotate=machine=h100 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: echo 'module {}' | shard-opt --shard-auto-annotate | FileCheck %s --check-prefix=EMPTY

// MEMORY: error: 'func.func' op does not fit: every sharding takes at least {{[0-9]+}} bytes of a device, which has 50000000
// TWICE: error: 'shard.shard' op is an annotation already, expected a function without
// DYNAMIC: error: 'func.func' op takes 'tensor<?x4xf32>', expected static sizes of numbers
// BLOCKS: error: 'func.func' op has several blocks, expected one
// LOOP: error: 'scf.for' op has a region, expected ops of linalg in one block
// PIN: error: 'func.func' op argument 0: 'shardopt.sharded' is 0, whose size 4 is not divided by 8 devices
// AXES: annotated {{.*}} proved=true
// AXES: shard.grid @grid(shape = 2x4)
// SIZE: error: 'func.func' op argument 0: 'shardopt.sharded' is 1, whose size 4 is not divided by 8 devices
// AXIS: error: 'func.func' op argument 0: 'shardopt.sharded' is array<i64: 1, 1>, expected a dim of 'tensor<4x4xf32>'
// BOTH: error: 'func.func' op argument 0 has 'shardopt.replicated' and 'shardopt.sharded', expected one of them
// DIM: error: 'func.func' op result 0: 'shardopt.sharded' is 2 : i64, expected a dim of 'tensor<4x4xf32>'
// NONE: error: 'mesh' is '0', expected 1 to 3 axes, such as 8, 4x2 or data=4,model=2, of at most 1048576 devices
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
// REMARK: annotated {{.*}} bound=[[COST:[0-9.e+]+]], layers=1, microseconds=[[COST]], proved=true
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

//--- pins.mlir

// The caller shards rows in and columns out, so they are exchanged.
// CHECK: func.func @f(%[[X:.*]]: tensor<2x4xf32> {{.*}}) -> (tensor<4x2xf32>
// CHECK: shard.all_to_all
func.func @f(%x: tensor<4x4xf32> {shardopt.sharded = 0}) -> (tensor<4x4xf32> {shardopt.sharded = 1}) {
  return %x : tensor<4x4xf32>
}

//--- axes.mlir

// Both axes cut the columns of the argument, and one of them each dim of the result.
// CHECK: %[[COLUMNS:.*]] = shard.sharding @grid split_axes = {{\[\[}}], [0, 1]]
// CHECK: shard.shard %arg0 to %[[COLUMNS]]
// CHECK: %[[EACH:.*]] = shard.sharding @grid split_axes = {{\[\[}}1], [0]]
// CHECK: shard.shard {{.*}} to %[[EACH]] annotate_for_users
func.func @f(%x: tensor<4x4xf32> {shardopt.sharded = array<i64: 1, 1>}) -> (tensor<4x4xf32> {shardopt.sharded = array<i64: 1, 0>}) {
  return %x : tensor<4x4xf32>
}

//--- both.mlir

func.func @f(%x: tensor<8x4xf32> {shardopt.sharded = 0, shardopt.replicated}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

//--- no-dim.mlir

func.func @f(%x: tensor<4x4xf32>) -> (tensor<4x4xf32> {shardopt.sharded = 2}) {
  return %x : tensor<4x4xf32>
}

//--- attention.mlir

// Megatron's: queries, caches and values by heads, rows of the output projection by heads, and
// one all-reduce.
// CHECK: func.func @attention(%[[X:.*]]: tensor<64x4096xf32> {{.*}}, %{{.*}}: tensor<4096x4x128xf32>, %{{.*}}: tensor<64x4x1024x128xf32>, %{{.*}}: tensor<64x4x1024x128xf32>, %{{.*}}: tensor<4x128x4096xf32>) -> tensor<64x4096xf32>
// CHECK-NOT: shard.all
// CHECK: shard.all_reduce {{.*}} tensor<64x4096xf32>
// CHECK-NOT: shard.all
#x = affine_map<(b, n, d, h) -> (b, h)>
#wq = affine_map<(b, n, d, h) -> (h, n, d)>
#q = affine_map<(b, n, d, h) -> (b, n, d)>
#sq = affine_map<(b, n, l, d) -> (b, n, d)>
#sk = affine_map<(b, n, l, d) -> (b, n, l, d)>
#s = affine_map<(b, n, l, d) -> (b, n, l)>
#e = affine_map<(b, n, l) -> (b, n, l)>
#m = affine_map<(b, n, l) -> (b, n)>
#o = affine_map<(b, n, d, l) -> (b, n, d)>
#p = affine_map<(b, n, d, l) -> (b, n, l)>
#v = affine_map<(b, n, d, l) -> (b, n, l, d)>
#y = affine_map<(b, h, n, d) -> (b, h)>
#yo = affine_map<(b, h, n, d) -> (b, n, d)>
#wo = affine_map<(b, h, n, d) -> (n, d, h)>
func.func @attention(%x: tensor<64x4096xf32> {shardopt.replicated}, %wq: tensor<4096x32x128xf32>, %k: tensor<64x32x1024x128xf32>, %v: tensor<64x32x1024x128xf32>, %wo: tensor<32x128x4096xf32>) -> tensor<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %eq = tensor.empty() : tensor<64x32x128xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<64x32x128xf32>) -> tensor<64x32x128xf32>
  %es = tensor.empty() : tensor<64x32x1024xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<64x32x1024xf32>) -> tensor<64x32x1024xf32>
  %em = tensor.empty() : tensor<64x32xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<64x32xf32>) -> tensor<64x32xf32>
  %ey = tensor.empty() : tensor<64x4096xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %q = linalg.generic {indexing_maps = [#x, #wq, #q], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %wq : tensor<64x4096xf32>, tensor<4096x32x128xf32>) outs(%zq : tensor<64x32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x32x128xf32>
  %s = linalg.generic {indexing_maps = [#sq, #sk, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<64x32x128xf32>, tensor<64x32x1024x128xf32>) outs(%zs : tensor<64x32x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x32x1024xf32>
  %e = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<64x32x1024xf32>) outs(%es : tensor<64x32x1024xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x32x1024xf32>
  %t = linalg.generic {indexing_maps = [#e, #m], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<64x32x1024xf32>) outs(%zm : tensor<64x32xf32>) {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<64x32xf32>
  %p = linalg.generic {indexing_maps = [#e, #m, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : tensor<64x32x1024xf32>, tensor<64x32xf32>) outs(%es : tensor<64x32x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<64x32x1024xf32>
  %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<64x32x1024xf32>, tensor<64x32x1024x128xf32>) outs(%zq : tensor<64x32x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x32x128xf32>
  %y = linalg.generic {indexing_maps = [#yo, #wo, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%o, %wo : tensor<64x32x128xf32>, tensor<32x128x4096xf32>) outs(%zy : tensor<64x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x4096xf32>
  return %y : tensor<64x4096xf32>
}
