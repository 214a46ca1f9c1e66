// RUN: shard-opt %s --llm-insert-collectives --split-input-file | FileCheck %s --implicit-check-not="shard.{{all|reduce}}" \
// RUN:   --implicit-check-not=select_columns

// The ends of a program, and its norms.

// CHECK-DAG: #[[BLOCKS_OF_3:runs[0-9]*]] = [{{\[}}array<i64: 0, 3, 1>], [array<i64: 3, 3, 1>], [array<i64: 6, 3, 1>], [array<i64: 9, 1, 1>, array<i64: -1, 2, 1>]]
module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// A device looks up the tokens of its block of the vocabulary: ten rows make four
// blocks of three.
// CHECK-LABEL: @embedding_0(
// CHECK-SAME: tensor<3x8xf32> {shardopt.slice = {dims = [{axis = "tp", runs = #[[BLOCKS_OF_3]]}, {}], name = "arg1", shape = array<i64: 10, 8>}}
// CHECK: %[[RANK:.*]] = shard.process_multi_index on @grid axes = [2] : index
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[RANK]], %[[C3]] : index
// CHECK: %[[EMBED:.*]] = llm.embedding {{.*}} %{{.*}}, %{{.*}} offset(%[[OFFSET]]){{.*}} : tensor<3x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[EMBED]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @embedding_0(%t: tensor<?xi32>, %w: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.embedding "embed" dim<0> %t, %w : tensor<10x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @embedding_1(
// CHECK: %[[EMBED:.*]] = llm.embedding {{.*}} %{{.*}}, %{{.*}} : tensor<10x2xf32> -> tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[EMBED]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @embedding_1(%t: tensor<?xi32>, %w: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.embedding "embed" dim<1> %t, %w : tensor<10x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @embedding_none(
// CHECK: %[[EMBED:.*]] = llm.embedding {{.*}} %{{.*}}, %{{.*}} : tensor<10x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[EMBED]]
func.func @embedding_none(%t: tensor<?xi32>, %w: tensor<10x8xf32>) -> tensor<?x8xf32> {
  %0 = llm.embedding "embed" dim<none> %t, %w : tensor<10x8xf32> -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// A norm of cut features sums up its squares; the residual is added before.
// CHECK-LABEL: @norm_1(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[PART1:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[ADDED:.*]] = llm.add %[[PART]], %[[PART1]] : tensor<?x2xf32>
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %[[ADDED]] : tensor<?x2xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SQUARES]] on @grid grid_axes = [2] {{.*}}cause = "norm"{{.*}} : tensor<?x1xf32> -> tensor<?x1xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[ADDED]], %[[SUM]], %{{.*}}size = 8{{.*}} : tensor<?x2xf32>, tensor<?x1xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[NORMED]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[ADDED]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]], %[[ALL1]]
func.func @norm_1(%x: tensor<?x8xf32>, %r: tensor<?x8xf32>, %n: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0, %1 = llm.rms_norm "norm" dim<1> %x residual(%r) weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// One that subtracts the mean sums up its features, too, in one all-reduce; weight
// and bias are cut alike.
// CHECK-LABEL: @layer_norm_1(
// CHECK-SAME: tensor<2xf32> {shardopt.slice = {{[^}]*}}}], name = "arg1"
// CHECK-SAME: tensor<2xf32> {shardopt.slice = {{[^}]*}}}], name = "arg2"
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[MOMENTS:.*]] = llm.sum_squares %[[PART]] {sums} : tensor<?x2xf32>
// CHECK: %[[SUMS:.*]] = shard.all_reduce %[[MOMENTS]] on @grid grid_axes = [2] {{.*}}bytes = 64 : i64, {{.*}}cause = "norm"{{.*}} : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[PART]], %[[SUMS]], %{{.*}} bias(%{{.*}}) {{.*}}size = 8{{.*}} : tensor<?x2xf32>, tensor<?x2xf32>
// CHECK: shard.all_gather %[[NORMED]] on @grid grid_axes = [2] gather_axis = 1
func.func @layer_norm_1(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.layer_norm "norm" dim<1> %x weight(%w) bias(%b) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// On some rows it is what it was, with whole weights.
// CHECK-LABEL: @layer_norm_0(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[PART1:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORMED:.*]], %[[ADDED:.*]] = llm.layer_norm {{.*}} %[[PART]] residual(%[[PART1]]) weight(%{{.*}}) bias(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: shard.all_gather %[[NORMED]] on @grid grid_axes = [2] gather_axis = 0
// CHECK: shard.all_gather %[[ADDED]] on @grid grid_axes = [2] gather_axis = 0
func.func @layer_norm_0(%x: tensor<?x8xf32>, %r: tensor<?x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0, %1 = llm.layer_norm "norm" dim<0> %x residual(%r) weight(%w) bias(%b) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @layer_norm_none(
// CHECK: %[[NORMED:.*]] = llm.layer_norm {{.*}} %{{.*}} weight(%{{.*}}) bias(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: return %[[NORMED]]
func.func @layer_norm_none(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = llm.layer_norm "norm" dim<none> %x weight(%w) bias(%b) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// A norm of complete rows needs the sum of what it reads, and the residual, which
// is complete, is not added twice.
// CHECK-LABEL: @norm_none_of_a_partial_sum(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[A:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[A]] on @grid grid_axes = [2] {{.*}}cause = "norm"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[RESULT:.*]], %[[SUM1:.*]] = llm.rms_norm {{.*}} %[[SUM]] residual(%{{.*}}) weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: return %[[RESULT]], %[[SUM1]]
func.func @norm_none_of_a_partial_sum(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %r: tensor<?x8xf32>, %n: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %p = llm.linear "a" dim<0> %x, %w : tensor<?x8xf32> -> tensor<?x8xf32>
  %0, %1 = llm.rms_norm "norm" dim<none> %p residual(%r) weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// Logits of cut features: the sums of squares, the partial logits scattered by
// the vocabulary, the best of each block gathered: 8 bytes a row and device.
// Ten columns are four blocks of three; the two of padding never win.
// CHECK-LABEL: @head_0(
// CHECK: %[[RANK:.*]] = shard.process_multi_index on @grid axes = [2] : index
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x2xf32>
// CHECK: %[[SQUARES:.*]] = llm.sum_squares %[[PART]] : tensor<?x2xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[SQUARES]] on @grid grid_axes = [2] {{.*}}cause = "lm_head"{{.*}} : tensor<?x1xf32> -> tensor<?x1xf32>
// CHECK: %[[NORMED:.*]] = llm.scale_norm %[[PART]], %[[SUM]], %{{.*}}size = 8{{.*}} : tensor<?x2xf32>, tensor<?x1xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[NORMED]], %{{.*}} : tensor<?x2xf32> -> tensor<?x10xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[LM_HEAD_LOGITS]] {{.*}}runs = array<i64: 0, 10, 1, 1, 0, -1, 2, 1, 1, 0>{{.*}} : tensor<?x10xf32> -> tensor<?x12xf32>
// CHECK: %[[PART1:.*]] = shard.reduce_scatter %[[SELECTED]] on @grid grid_axes = [2] scatter_axis = 1 {{.*}}cause = "lm_head"{{.*}} : tensor<?x12xf32> -> tensor<?x3xf32>
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[RANK]], %[[C3]] : index
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[PART1]] offset(%[[OFFSET]]) {{.*}}vocabulary = 10{{.*}} : tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "lm_head"{{.*}} : tensor<?x2xi32> -> tensor<?x8xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[ALL]] : tensor<?x8xi32>
// CHECK: return %[[ARGMAX_MERGE]]
func.func @head_0(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x10xf32>) -> tensor<?xi32> {
  %0 = llm.lm_head "lm_head" dim<0> %x norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// CHECK-LABEL: @head_1(
// CHECK-SAME: tensor<8x3xf32> {shardopt.slice = {dims = [{}, {axis = "tp", runs = #[[BLOCKS_OF_3]]}], name = "arg2", shape = array<i64: 8, 10>}}
// CHECK: %[[RANK:.*]] = shard.process_multi_index on @grid axes = [2] : index
// CHECK: %[[LM_HEAD_NORM:.*]] = llm.rms_norm {{.*}} %{{.*}} weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[LM_HEAD_NORM]], %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[RANK]], %[[C3]] : index
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[LM_HEAD_LOGITS]] offset(%[[OFFSET]]) {{.*}}vocabulary = 10{{.*}} : tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "lm_head"{{.*}} : tensor<?x2xi32> -> tensor<?x8xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[ALL]] : tensor<?x8xi32>
// CHECK: return %[[ARGMAX_MERGE]]
func.func @head_1(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x10xf32>) -> tensor<?xi32> {
  %0 = llm.lm_head "lm_head" dim<1> %x norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// CHECK-LABEL: @head_none_of_complete_rows(
// CHECK: %[[LM_HEAD:.*]] = llm.lm_head {{.*}} %{{.*}} norm(%{{.*}}) weight(%{{.*}}){{.*}} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>
// CHECK: return %[[LM_HEAD]]
func.func @head_none_of_complete_rows(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x10xf32>) -> tensor<?xi32> {
  %0 = llm.lm_head "lm_head" dim<none> %x norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// Of a block of rows a device has all logits; the tokens are gathered, and those
// of padding dropped.
// CHECK-LABEL: @head_none_of_blocks(
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_NORM:.*]] = llm.rms_norm {{.*}} %[[NORM]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[LM_HEAD_NORM]], %{{.*}} : tensor<?x8xf32> -> tensor<?x10xf32>
// CHECK: %[[C01:.*]] = arith.constant 0 : index
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[LM_HEAD_LOGITS]] offset(%[[C01]]) {{.*}}vocabulary = 10{{.*}} : tensor<?x10xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "lm_head"{{.*}} : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xi32> to tensor<?x2xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[TRUE]] : tensor<?x2xi32>
// CHECK: return %[[ARGMAX_MERGE]]
func.func @head_none_of_blocks(%x: tensor<?x8xf32>, %a: tensor<8xf32>, %n: tensor<8xf32>, %w: tensor<8x10xf32>) -> tensor<?xi32> {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%a) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %1 = llm.lm_head "lm_head" dim<none> %0 norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>
  return %1 : tensor<?xi32>
}

// Logits that someone asks for are gathered too, without the padding; the cost
// model does not charge for them.
// CHECK-LABEL: @requested_logits(
// CHECK: %[[LM_HEAD_NORM:.*]] = llm.rms_norm {{.*}} %{{.*}} weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[LM_HEAD_NORM]], %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[LM_HEAD_LOGITS]] offset(%{{.*}}) {{.*}}vocabulary = 10{{.*}} : tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}shardopt.collective = {bytes = 256 : i64, cause = "lm_head", charged = true, microseconds = 5.0005{{[0-9]*}} : f64, type = i32}{{.*}} : tensor<?x2xi32> -> tensor<?x8xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[ALL]] : tensor<?x8xi32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[LM_HEAD_LOGITS]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}shardopt.collective = {bytes = 320 : i64, cause = "lm_head", charged = false, microseconds = 5.0006{{[0-9]*}} : f64, type = f32}{{.*}} : tensor<?x3xf32> -> tensor<?x12xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[ALL1]] {{.*}}runs = array<i64: 0, 10, 1, 1, 0>{{.*}} : tensor<?x12xf32> -> tensor<?x10xf32>
// CHECK: return %[[ARGMAX_MERGE]], %[[SELECTED]]
func.func @requested_logits(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x10xf32>) -> (tensor<?xi32>, tensor<?x10xf32>) {
  %0, %1 = llm.lm_head "lm_head" dim<1> %x norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8x10xf32> -> tensor<?xi32>, tensor<?x10xf32>
  return %0, %1 : tensor<?xi32>, tensor<?x10xf32>
}

// One table with two slices is two params; that of the head is named anew.
// CHECK-LABEL: @tied_embeddings(
// CHECK: %[[EMBED:.*]] = llm.param @embed : tensor<10x2xf32>
// CHECK: %[[EMBED1:.*]] = llm.embedding {{.*}} %{{.*}}, %[[EMBED]]{{.*}} : tensor<10x2xf32> -> tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[EMBED1]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}shardopt.collective = {bytes = 256 : i64, cause = "lm_head", charged = true, microseconds = 5.0005{{[0-9]*}} : f64, type = f32}{{.*}} : tensor<?x2xf32> -> tensor<?x8xf32>
// CHECK: %[[LM_HEAD_NORM:.*]] = llm.rms_norm {{.*}} %[[ALL]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[EMBED2:.*]] = llm.param @embed.1 : tensor<3x8xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[LM_HEAD_NORM]], %[[EMBED2]]{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[LM_HEAD_LOGITS]] offset(%{{.*}}) {{.*}}vocabulary = 10{{.*}} : tensor<?x3xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}shardopt.collective = {bytes = 256 : i64, cause = "lm_head", charged = true, microseconds = 5.0005{{[0-9]*}} : f64, type = i32}{{.*}} : tensor<?x2xi32> -> tensor<?x8xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[ALL1]] : tensor<?x8xi32>
// CHECK: return %[[ARGMAX_MERGE]]
func.func @tied_embeddings(%t: tensor<?xi32>, %n: tensor<8xf32>) -> tensor<?xi32> {
  %w = llm.param @embed : tensor<10x8xf32> from "model.embed_tokens.weight"
  %0 = llm.embedding "embed" dim<1> %t, %w : tensor<10x8xf32> -> tensor<?x8xf32>
  %1 = llm.lm_head "lm_head" dim<1> %0 norm(%n) weight(%w) {epsilon = 1.0e-5, tied} : tensor<?x8xf32>, tensor<10x8xf32> -> tensor<?xi32>
  return %1 : tensor<?xi32>
}

// Where both want the same slice there is one param.
// CHECK-LABEL: @tied_embeddings_of_one_slice(
// CHECK: %[[EMBED:.*]] = llm.param @embed : tensor<3x8xf32>
// CHECK: %[[EMBED1:.*]] = llm.embedding {{.*}} %{{.*}}, %[[EMBED]] offset(%{{.*}}){{.*}} : tensor<3x8xf32> -> tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[EMBED1]] on @grid grid_axes = [2] {{.*}}cause = "lm_head"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[LM_HEAD_NORM:.*]] = llm.rms_norm {{.*}} %[[SUM]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[LM_HEAD_NORM]], %[[EMBED]]{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[LM_HEAD_LOGITS]] offset(%{{.*}}) {{.*}}vocabulary = 10{{.*}} : tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "lm_head"{{.*}} : tensor<?x2xi32> -> tensor<?x8xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[ALL]] : tensor<?x8xi32>
// CHECK: return %[[ARGMAX_MERGE]]
func.func @tied_embeddings_of_one_slice(%t: tensor<?xi32>, %n: tensor<8xf32>) -> tensor<?xi32> {
  %w = llm.param @embed : tensor<10x8xf32>
  %0 = llm.embedding "embed" dim<0> %t, %w : tensor<10x8xf32> -> tensor<?x8xf32>
  %1 = llm.lm_head "lm_head" dim<1> %0 norm(%n) weight(%w) {epsilon = 1.0e-5, tied} : tensor<?x8xf32>, tensor<10x8xf32> -> tensor<?xi32>
  return %1 : tensor<?xi32>
}

}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = prefill, context = 16>} {

// In prefill the head reads the last row of each prompt. In a block of rows some
// of them are elsewhere: with zeros for those, the devices add up to all.
// CHECK-LABEL: @last_rows_of_blocks(
// CHECK: %[[RANK:.*]] = shard.process_multi_index on @grid axes = [2] : index
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %[[C0]] : tensor<?x8xf32>
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ROWS]], %[[C16]] : index
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[MORE:.*]] = arith.addi %[[ROWS]], %[[C3]] : index
// CHECK: %[[BLOCK1:.*]] = arith.divui %[[MORE]], %[[C4]] : index
// CHECK: %[[C41:.*]] = arith.constant 4 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[BLOCK1]], %[[C41]] : index
// CHECK: %[[PADDING:.*]] = arith.subi %[[OFFSET]], %[[ROWS]] : index
// CHECK: %[[C01:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%[[PADDING]], 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[OFFSET1:.*]] = arith.muli %[[RANK]], %[[BLOCK1]] : index
// CHECK: %[[LAST_ROWS:.*]] = llm.last_rows %[[NORM]] offset(%[[OFFSET1]]) prompts(%[[BLOCK]]) {{.*}}sequence = 16{{.*}} : tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[LAST_ROWS]] on @grid grid_axes = [2] {{.*}}cause = "lm_head"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[LM_HEAD_NORM:.*]] = llm.rms_norm {{.*}} %[[SUM]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[LM_HEAD_NORM]], %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[C31:.*]] = arith.constant 3 : index
// CHECK: %[[OFFSET2:.*]] = arith.muli %[[RANK]], %[[C31]] : index
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[LM_HEAD_LOGITS]] offset(%[[OFFSET2]]) {{.*}}vocabulary = 12{{.*}} : tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "lm_head"{{.*}} : tensor<?x2xi32> -> tensor<?x8xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[ALL]] : tensor<?x8xi32>
// CHECK: return %[[ARGMAX_MERGE]]
func.func @last_rows_of_blocks(%x: tensor<?x8xf32>, %a: tensor<8xf32>, %n: tensor<8xf32>, %w: tensor<8x12xf32>) -> tensor<?xi32> {
  %0 = llm.rms_norm "norm" dim<0> %x weight(%a) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %1 = llm.lm_head "lm_head" dim<1> %0 norm(%n) weight(%w) {epsilon = 1.0e-5, sequence = 16} : tensor<?x8xf32>, tensor<8x12xf32> -> tensor<?xi32>
  return %1 : tensor<?xi32>
}

// CHECK-LABEL: @last_rows_of_complete_rows(
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?x8xf32>
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ROWS]], %[[C16]] : index
// CHECK: %[[LAST_ROWS:.*]] = llm.last_rows %{{.*}} offset(%{{.*}}) prompts(%[[BLOCK]]) {{.*}}sequence = 16{{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_NORM:.*]] = llm.rms_norm {{.*}} %[[LAST_ROWS]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[LM_HEAD_LOGITS:.*]] = llm.linear {{.*}} %[[LM_HEAD_NORM]], %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[ARGMAX:.*]] = llm.argmax %[[LM_HEAD_LOGITS]] offset(%{{.*}}) {{.*}}vocabulary = 12{{.*}} : tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ARGMAX]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "lm_head"{{.*}} : tensor<?x2xi32> -> tensor<?x8xi32>
// CHECK: %[[ARGMAX_MERGE:.*]] = llm.argmax_merge %[[ALL]] : tensor<?x8xi32>
// CHECK: return %[[ARGMAX_MERGE]]
func.func @last_rows_of_complete_rows(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x12xf32>) -> tensor<?xi32> {
  %1 = llm.lm_head "lm_head" dim<1> %x norm(%n) weight(%w) {epsilon = 1.0e-5, sequence = 16} : tensor<?x8xf32>, tensor<8x12xf32> -> tensor<?xi32>
  return %1 : tensor<?xi32>
}

// Attention on a block of rows needs whole prompts in it: a block is
// ceil(prompts / 4) * 16 rows. Eight prompts, the nominal batch, divide by 4.
// CHECK-LABEL: @blocks_of_whole_prompts(
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %[[C0]] : tensor<?x8xf32>
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[BLOCK:.*]] = arith.divui %[[ROWS]], %[[C16]] : index
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[MORE:.*]] = arith.addi %[[BLOCK]], %[[C3]] : index
// CHECK: %[[BLOCK1:.*]] = arith.divui %[[MORE]], %[[C4]] : index
// CHECK: %[[C161:.*]] = arith.constant 16 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[BLOCK1]], %[[C161]] : index
// CHECK: %[[C41:.*]] = arith.constant 4 : index
// CHECK: %[[OFFSET1:.*]] = arith.muli %[[OFFSET]], %[[C41]] : index
// CHECK: %[[PADDING:.*]] = arith.subi %[[OFFSET1]], %[[ROWS]] : index
// CHECK: %[[C01:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%[[PADDING]], 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %[[NORM]], %{{.*}}head_dim = 4{{.*}}heads = 1{{.*}}kv_heads = 1{{.*}} : tensor<?x8xf32> -> tensor<?x12xf32>
// CHECK: %[[CMINUS1:.*]] = arith.constant -1 : i32
// CHECK: %[[PADDED1:.*]] = tensor.pad %{{.*}} low[0] high[%[[PADDING]]]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?xi32> -> tensor<?xi32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[QKV_PROJ]] at(%[[PART1]]) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 1{{.*}}kv_heads = 1{{.*}} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%[[ROWS]], 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
// CHECK: return %[[TRUE]]
func.func @blocks_of_whole_prompts(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x12xf32>, %p: tensor<?xi32>, %k: tensor<?x?x1x4xf32>, %v: tensor<?x?x1x4xf32>) -> tensor<?x4xf32> {
  %a = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %0 = llm.qkv_proj "qkv_proj" dim<none> %a, %w {heads = 1, kv_heads = 1, head_dim = 4} : tensor<?x8xf32> -> tensor<?x12xf32>
  %1:3 = llm.attention gqa "attention" dim<none> %0 at(%p) cache(%k, %v) {heads = 1, kv_heads = 1, head_dim = 4, group = 1, scale = 0.5, sequence = 16} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
  return %1#0 : tensor<?x4xf32>
}

// From a block to heads (Ulysses): an all-to-all of queries, keys and values.
// CHECK-LABEL: @heads_of_blocks(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %[[NORM]], %{{.*}}head_dim = 4{{.*}}heads = 4{{.*}}kv_heads = 4{{.*}} : tensor<?x8xf32> -> tensor<?x48xf32>
// CHECK: %[[SELECTED:.*]] = llm.select_columns %[[QKV_PROJ]] {{.*}}runs = array<i64: 0, 4, 1, 3, 16, 4, 4, 1, 3, 16, 8, 4, 1, 3, 16, 12, 4, 1, 3, 16>{{.*}} : tensor<?x48xf32> -> tensor<?x48xf32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[SELECTED]] on @grid grid_axes = [2] split_axis = 1 concat_axis = 0 {{.*}}cause = "attention"{{.*}} : tensor<?x48xf32> -> tensor<?x12xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[MOVED]][0, 0] [%{{.*}}, 12] [1, 1] : tensor<?x12xf32> to tensor<?x12xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[TRUE]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 1{{.*}}kv_heads = 1{{.*}} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x4xf32> -> tensor<?x16xf32>
// CHECK: return %[[ALL]]
func.func @heads_of_blocks(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x48xf32>, %p: tensor<?xi32>, %k: tensor<?x?x4x4xf32>, %v: tensor<?x?x4x4xf32>) -> tensor<?x16xf32> {
  %a = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %0 = llm.qkv_proj "qkv_proj" dim<none> %a, %w {heads = 4, kv_heads = 4, head_dim = 4} : tensor<?x8xf32> -> tensor<?x48xf32>
  %1:3 = llm.attention gqa "attention" dim<0> %0 at(%p) cache(%k, %v) {heads = 4, kv_heads = 4, head_dim = 4, group = 1, scale = 0.5, sequence = 16} : tensor<?x48xf32>, tensor<?x?x4x4xf32> -> tensor<?x16xf32>
  return %1#0 : tensor<?x16xf32>
}

}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 6>, llm.workload = #llm.workload<phase = prefill, context = 16>} {

// Six prompts do not divide by four: attention takes complete rows, and a block is
// ceil(rows / 4), whatever prompts it cuts.
// CHECK-LABEL: @blocks_that_cut_prompts(
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[ROWS:.*]] = tensor.dim %{{.*}}, %[[C0]] : tensor<?x8xf32>
// CHECK: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: %[[MORE:.*]] = arith.addi %[[ROWS]], %[[C3]] : index
// CHECK: %[[BLOCK:.*]] = arith.divui %[[MORE]], %[[C4]] : index
// CHECK: %[[C41:.*]] = arith.constant 4 : index
// CHECK: %[[OFFSET:.*]] = arith.muli %[[BLOCK]], %[[C41]] : index
// CHECK: %[[PADDING:.*]] = arith.subi %[[OFFSET]], %[[ROWS]] : index
// CHECK: %[[C01:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%[[PADDING]], 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[QKV_PROJ:.*]] = llm.qkv_proj {{.*}} %[[NORM]], %{{.*}}head_dim = 4{{.*}}heads = 1{{.*}}kv_heads = 1{{.*}} : tensor<?x8xf32> -> tensor<?x12xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[QKV_PROJ]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "attention"{{.*}} : tensor<?x12xf32> -> tensor<?x12xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%[[ROWS]], 12] [1, 1] : tensor<?x12xf32> to tensor<?x12xf32>
// CHECK: %[[RESULT:.*]], %[[ATTENTION_0:.*]], %[[ATTENTION_1:.*]] = llm.attention gqa {{.*}} %[[TRUE]] at(%{{.*}}) cache(%{{.*}}, %{{.*}}) {{.*}}head_dim = 4{{.*}}heads = 1{{.*}}kv_heads = 1{{.*}} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
// CHECK: return %[[RESULT]]
func.func @blocks_that_cut_prompts(%x: tensor<?x8xf32>, %n: tensor<8xf32>, %w: tensor<8x12xf32>, %p: tensor<?xi32>, %k: tensor<?x?x1x4xf32>, %v: tensor<?x?x1x4xf32>) -> tensor<?x4xf32> {
  %a = llm.rms_norm "norm" dim<0> %x weight(%n) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %0 = llm.qkv_proj "qkv_proj" dim<none> %a, %w {heads = 1, kv_heads = 1, head_dim = 4} : tensor<?x8xf32> -> tensor<?x12xf32>
  %1:3 = llm.attention gqa "attention" dim<none> %0 at(%p) cache(%k, %v) {heads = 1, kv_heads = 1, head_dim = 4, group = 1, scale = 0.5, sequence = 16} : tensor<?x12xf32>, tensor<?x?x1x4xf32> -> tensor<?x4xf32>
  return %1#0 : tensor<?x4xf32>
}

}
