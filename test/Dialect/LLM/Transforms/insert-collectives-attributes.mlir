// RUN: shard-opt %s --llm-insert-collectives=imbalance=none --mlir-print-local-scope --split-input-file | FileCheck %s --implicit-check-not="#llm.{{strategy|workload}}"
// RUN: shard-opt %s --llm-insert-collectives=imbalance=none --split-input-file | shard-opt --split-input-file --mlir-print-local-scope | FileCheck %s --implicit-check-not="#llm.{{strategy|workload}}"

// What is left of a program's attributes, and what collectives say. Times are in
// microseconds on h100_sxm; bytes are those of a micro-batch: 64 rows here.

// CHECK:      module attributes {shardopt.strategy = {batch = 64 : i64, ep = 1 : i64, pp = 1 : i64, tp = 2 : i64}, shardopt.workload = {context = 16384 : i64, phase = "decode"}} {
// CHECK-NEXT:   shard.grid @grid(shape = 1x1x2)
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 64>, llm.workload = #llm.workload<phase = decode, context = 16384>} {

// 64 rows of 512 bf16 are 64 KiB. An all-reduce of them over two devices of a node
// is a one-shot: 2 + 3 + 65536 / 360e9 = 5.182; an all-gather sends half as much.
// CHECK-LABEL: @all_reduce_of_64_kib(
// CHECK: shard.all_reduce {{.*}} {shardopt.collective = {bytes = 65536 : i64, cause = "return", charged = true, microseconds = 5.182{{[0-9]*}} : f64, type = bf16}}
func.func @all_reduce_of_64_kib(%x: tensor<?x8xbf16>, %w: tensor<8x512xbf16>) -> tensor<?x512xbf16> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xbf16> -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// CHECK-LABEL: @all_gather_of_64_kib(
// CHECK: shard.all_gather {{.*}} {shardopt.collective = {bytes = 65536 : i64, cause = "return", charged = true, microseconds = 5.091{{[0-9]*}} : f64, type = bf16}}
func.func @all_gather_of_64_kib(%x: tensor<?x8xbf16>, %w: tensor<8x512xbf16>) -> tensor<?x512xbf16> {
  %0 = llm.linear "a" dim<1> %x, %w : tensor<?x8xbf16> -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}

// Padding travels but is not charged: 64 rows of 511 features are 65 408 bytes.
// CHECK-LABEL: @uneven_features(
// CHECK: shard.all_gather {{.*}} {shardopt.collective = {bytes = 65408 : i64, {{.*}}} : tensor<?x256xbf16> -> tensor<?x512xbf16>
func.func @uneven_features(%x: tensor<?x8xbf16>, %w: tensor<8x511xbf16>) -> tensor<?x511xbf16> {
  %0 = llm.linear "a" dim<1> %x, %w : tensor<?x8xbf16> -> tensor<?x511xbf16>
  return %0 : tensor<?x511xbf16>
}

// For an all-to-all the bytes are what one device holds.
// CHECK-LABEL: @all_to_all_of_32_kib(
// CHECK: shard.all_to_all {{.*}} {shardopt.collective = {bytes = 32768 : i64, cause = "norm", charged = true, {{.*}}type = bf16}}
func.func @all_to_all_of_32_kib(%x: tensor<?x8xbf16>, %w: tensor<8x512xbf16>, %n: tensor<512xbf16>) -> tensor<?x512xbf16> {
  %0 = llm.linear "a" dim<1> %x, %w : tensor<?x8xbf16> -> tensor<?x512xbf16>
  %1 = llm.rms_norm "norm" dim<0> %0 weight(%n) {epsilon = 1.0e-5} : tensor<?x512xbf16>
  return %1 : tensor<?x512xbf16>
}

// Ops that make the result of a named op say which, how it lies and in what
// order, as do those that it was opened into. A projection whose activation
// follows its reduction makes none.
// CHECK-LABEL: @values(
// CHECK: llm.scale_norm {{.*}}shardopt.value = {columns = [{{\[}}array<i64: 0, 4, 1>], [array<i64: 4, 4, 1>]], layout = "H", op = "norm", order = "blocks", rows = "tokens"}
// CHECK: llm.ffn_up "ffn_up" dim<0> %{{.*}}, %{{.*}} :
func.func @values(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
  %0 = llm.rms_norm "norm" dim<1> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  %1 = llm.ffn_up "ffn_up" dim<0> %0, %w {activation = #llm.activation<kind = gelu>} : tensor<?x8xbf16> -> tensor<?x8xbf16>
  return %1 : tensor<?x8xbf16>
}

// Arguments and results that are rows say which axes cut them; roles stay.
// CHECK-LABEL: @roles(
// CHECK-SAME: %{{.*}}: tensor<?xi32> {llm.role = "tokens", shardopt.slice = {dims = [{rows = ["ep"]}], name = "arg0", shape = array<i64: -1>}},
// CHECK-SAME: -> (tensor<?x8xbf16> {shardopt.slice = {dims = [{rows = ["ep"]}, {}], name = "result0", shape = array<i64: -1, 8>}})
func.func @roles(%t: tensor<?xi32> {llm.role = "tokens"}, %w: tensor<10x8xbf16>) -> tensor<?x8xbf16> {
  %0 = llm.embedding "embed" dim<none> %t, %w : tensor<10x8xbf16> -> tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

}

// -----

// Four groups of two devices: an
// exchange of 16 rows of 2 copies of 1024 bf16 in a group, 64 KiB, runs over
// devices two apart.
// CHECK:      module attributes {shardopt.strategy = {batch = 64 : i64, ep = 4 : i64, pp = 1 : i64, tp = 2 : i64}} {
// CHECK-NEXT:   shard.grid @grid(shape = 1x4x2)
// CHECK: llm.all_to_all_v {{.*}}shardopt.collective = {bytes = 65536 : i64, cause = "dispatch", charged = true, microseconds = 5.1365{{[0-9]*}} : f64, type = bf16}
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 4, pp = 1, batch = 64>} {
func.func @exchange_of_64_kib(%x: tensor<?x1024xbf16>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>) -> tensor<?x1024xbf16> {
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : tensor<?x1024xbf16>, tensor<?x2xi32>
  %y = llm.combine "combine" dim<none> %d, %c, %o, %s : tensor<?x1024xbf16>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x1024xbf16>
}
}

// -----

// Stages are on the grid and cut nothing; with four of them a micro-batch is a
// quarter of the batch.
// CHECK: shard.grid @grid(shape = 4x1x2)
// CHECK: shard.all_reduce {{.*}}bytes = 16384 : i64
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 4, batch = 64>} {
func.func @stages(%x: tensor<?x8xbf16>, %w: tensor<8x512xbf16>) -> tensor<?x512xbf16> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xbf16> -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
}

// -----

// A name that is taken is not taken again.
// CHECK: shard.grid @[[GRID:grid_.*]](shape = 1x1x2)
// CHECK: shard.all_reduce %{{.*}} on @[[GRID]]
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 64>} {
func.func private @grid()
func.func @taken(%x: tensor<?x8xbf16>, %w: tensor<8x512xbf16>) -> tensor<?x512xbf16> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xbf16> -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
}
