// RUN: shard-opt %s --llm-insert-collectives --mlir-print-local-scope --split-input-file | FileCheck %s --implicit-check-not="{{shard.all|shard.reduce|all_to_all_v}}" \
// RUN:   --implicit-check-not=select_columns --implicit-check-not=llm.dispatch --implicit-check-not=llm.combine

// Routing over two devices: logits first, their collective, and the choice after
// it. Six experts.

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// CHECK-LABEL: @router_0(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK: %[[ROUTER_LOGITS:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} : tensor<?x4xf32> -> tensor<?x6xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[ROUTER_LOGITS]] on @grid grid_axes = [2] {{.*}}cause = "router"{{.*}} : tensor<?x6xf32> -> tensor<?x6xf32>
// CHECK: %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.top_k %[[SUM]] {{.*}}experts = 6{{.*}} : tensor<?x6xf32>
// CHECK: return %[[INDICES]], %[[WEIGHTS]]
func.func @router_0(%x: tensor<?x8xf32>, %w: tensor<8x6xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %0:3 = llm.router "router" dim<0> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x8xf32>, tensor<8x6xf32>
  return %0#1, %0#2 : tensor<?x2xi32>, tensor<?x2xf32>
}

// CHECK-LABEL: @router_1(
// CHECK: %[[ROUTER_LOGITS:.*]] = llm.linear {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x3xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[ROUTER_LOGITS]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "router"{{.*}} : tensor<?x3xf32> -> tensor<?x6xf32>
// CHECK: %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.top_k %[[ALL]] {{.*}}experts = 6{{.*}} : tensor<?x6xf32>
// CHECK: return %[[INDICES]], %[[WEIGHTS]]
func.func @router_1(%x: tensor<?x8xf32>, %w: tensor<8x6xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %0:3 = llm.router "router" dim<1> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x8xf32>, tensor<8x6xf32>
  return %0#1, %0#2 : tensor<?x2xi32>, tensor<?x2xf32>
}

// CHECK-LABEL: @router_none(
// CHECK: %{{.*}}, %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.router {{.*}} %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8x6xf32>
// CHECK: return %[[INDICES]], %[[WEIGHTS]]
func.func @router_none(%x: tensor<?x8xf32>, %w: tensor<8x6xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %0:3 = llm.router "router" dim<none> %x, %w {scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x8xf32>, tensor<8x6xf32>
  return %0#1, %0#2 : tensor<?x2xi32>, tensor<?x2xf32>
}

// Choices made for a block of rows are gathered for who needs all of them, which
// the cost model does not charge for.
// CHECK-LABEL: @router_none_of_blocks(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %{{.*}}, %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.router {{.*}} %[[NORM]], %{{.*}} : tensor<?x8xf32>, tensor<8x6xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[INDICES]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}shardopt.collective = {bytes = 64 : i64, cause = "router", charged = false, microseconds = 5.0000{{[0-9]*}} : f64, type = i32}{{.*}} : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xi32> to tensor<?x2xi32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[WEIGHTS]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}shardopt.collective = {bytes = 64 : i64, cause = "router", charged = false, microseconds = 5.0000{{[0-9]*}} : f64, type = f32}{{.*}} : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[TRUE1:.*]] = tensor.extract_slice %[[ALL1]][0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xf32> to tensor<?x2xf32>
// CHECK: return %[[TRUE]], %[[TRUE1]]
func.func @router_none_of_blocks(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %n = llm.rms_norm "norm" dim<0> %x weight(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %0:3 = llm.router "router" dim<none> %n, %w {scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x8xf32>, tensor<8x6xf32>
  return %0#1, %0#2 : tensor<?x2xi32>, tensor<?x2xf32>
}

// The bias of partial logits is added once; the correction joins in at the choice.
// CHECK-LABEL: @biases_of_router_0(
// CHECK-SAME: tensor<6xf32> {shardopt.slice = {dims = [{axis = "tp", runs = [{{\[}}array<i64: 0, 6, 1>], [array<i64: -1, 6, 1>]]}], name = "arg2", shape = array<i64: 6>}}
// CHECK-SAME: tensor<6xf32> {shardopt.slice = {dims = [{}], name = "arg3", shape = array<i64: 6>}}
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK: %[[ROUTER_LOGITS:.*]] = llm.linear {{.*}} %[[PART]], %{{.*}} bias(%{{.*}}){{.*}} : tensor<?x4xf32> -> tensor<?x6xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[ROUTER_LOGITS]] on @grid grid_axes = [2] {{.*}}cause = "router"{{.*}} : tensor<?x6xf32> -> tensor<?x6xf32>
// CHECK: %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.top_k %[[SUM]] correction(%{{.*}}) {{.*}}experts = 6{{.*}} : tensor<?x6xf32>, tensor<6xf32>
// CHECK: return %[[INDICES]], %[[WEIGHTS]]
func.func @biases_of_router_0(%x: tensor<?x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>) {
  %0:3 = llm.router "router" dim<0> %x, %w bias(%b) correction(%c) {scoring = #llm.scoring<sigmoid>, top_k = 2, normalize = true} : tensor<?x8xf32>, tensor<8x6xf32>
  return %0#1, %0#2 : tensor<?x2xi32>, tensor<?x2xf32>
}

}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 1, ep = 2, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// Over ep alone: rows travel to the group of their expert and back, each group
// has half of the experts, and counts go ahead of the rows.
// CHECK-LABEL: @experts_of_two_groups(
// CHECK-SAME: tensor<3x8x4xf32> {shardopt.slice = {dims = [{axis = "ep", runs = [{{\[}}array<i64: 0, 3, 1>], [array<i64: 3, 3, 1>]]}, {}, {}], name = "arg3", shape = array<i64: 6, 8, 4>}}
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%[[C1]]) : tensor<?x2xi32> -> tensor<2x1x3xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<2x1x3xi32> -> tensor<2x1x3xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %{{.*}}, %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<2x1x3xi32>, tensor<2x1x3xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<2x1x3xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x8xf32>, tensor<2x1x3xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[RESULT]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x8xf32>, tensor<1x2x3xi32> -> tensor<?x4xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x4xf32>, tensor<1x2x3xi32> -> tensor<?x8xf32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[FFN_DOWN]], %[[MOVED]] : tensor<?x8xf32>, tensor<2x1x3xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<2x1x3xi32>, tensor<2x1x3xi32>) -> tensor<?x8xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: return %[[UNPERMUTE]]
func.func @experts_of_two_groups(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<none> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<none> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<none> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 4, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// Six experts in four groups of two, the last of which has none.
// CHECK-LABEL: @experts_that_groups_do_not_divide(
// CHECK-SAME: tensor<2x8x2xf32> {shardopt.slice = {dims = [{axis = "ep", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 2, 2, 1>], [array<i64: 4, 2, 1>], [array<i64: -1, 2, 1>]]}, {}, {axis = "tp", runs = [{{\[}}array<i64: 0, 2, 1>], [array<i64: 2, 2, 1>]]}]
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x2x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %{{.*}}, %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x2x2xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[RESULT]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x8xf32>, tensor<2x4x2xi32> -> tensor<?x2xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x2xf32>, tensor<2x4x2xi32> -> tensor<?x8xf32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[FFN_DOWN]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[UNPERMUTE]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @experts_that_groups_do_not_divide(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<1> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<0> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<none> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// A device sends the copies of its block of rows, for which there is one home; rows
// of padding have expert -1, and the weights of padding are zero. The devices of
// a tp group agree on the largest block.
// CHECK-LABEL: @dispatch_0_combine_0(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[CMINUS1:.*]] = arith.constant -1 : i32
// CHECK: %[[PADDED1:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: tensor.yield %[[CMINUS1]] : i32
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %[[PART1]] block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x1x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %[[PART]], %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x1x2xi32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[BLOCK_SIZE]] on @grid grid_axes = [2] reduction = {{ *}}max {{.*}}cause = "dispatch"{{.*}} : tensor<1xi32> -> tensor<1xi32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[SUM]]){{.*}} : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[RESULT]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[PADDED2:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART2:.*]] = shard.all_slice %[[PADDED2]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %[[PART2]]{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @dispatch_0_combine_0(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<0> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %y = llm.combine "combine" dim<0> %d, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// A device sends its features of all rows, in a block for each home rank.
// CHECK-LABEL: @dispatch_1_combine_1(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x2x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %[[PART]], %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x4xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x4xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x4xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x2x2xi32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x4xf32>, tensor<4x2x2xi32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[RESULT]], %[[MOVED]] : tensor<?x4xf32>, tensor<4x2x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x4xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x4xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %{{.*}} : tensor<?x4xf32>, tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @dispatch_1_combine_1(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<1> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %y = llm.combine "combine" dim<1> %d, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Every device sends whole rows.
// CHECK-LABEL: @dispatch_none_combine_none(
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x2x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %{{.*}}, %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x2x2xi32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[RESULT]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: return %[[UNPERMUTE]]
func.func @dispatch_none_combine_none(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %y = llm.combine "combine" dim<none> %d, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Products between them find the blocks of all homes by a gather, the counts of
// those homes with it, and scatter their partial sums back to the blocks. Blocks
// of the experts' rows are equal: nothing is padded or sliced.
// CHECK-LABEL: @blocks_at_home(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %[[PART1]] block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}shardopt.collective = {bytes = 32 : i64, cause = "dispatch", charged = false, microseconds = 5.0000{{[0-9]*}} : f64, type = i32}{{.*}} : tensor<4x1x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %[[PART]], %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x1x2xi32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[BLOCK_SIZE]] on @grid grid_axes = [2] reduction = {{ *}}max {{.*}}shardopt.collective = {bytes = 4 : i64, cause = "dispatch", charged = false, microseconds = 5.0000{{[0-9]*}} : f64, type = i32}{{.*}} : tensor<1xi32> -> tensor<1xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[SUM]]){{.*}} : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[RESULT]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}shardopt.collective = {bytes = 247 : i64, cause = "ffn_up", charged = true, microseconds = 5.0003{{[0-9]*}} : f64, type = f32}{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[HOMES]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}shardopt.collective = {bytes = 64 : i64, cause = "ffn_up", charged = false, microseconds = 5.0000{{[0-9]*}} : f64, type = i32}{{.*}} : tensor<1x4x2xi32> -> tensor<2x4x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[ALL]], %{{.*}} counts(%[[ALL1]]){{.*}} : tensor<?x8xf32>, tensor<2x4x2xi32> -> tensor<?x2xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[ALL1]]){{.*}} : tensor<?x2xf32>, tensor<2x4x2xi32> -> tensor<?x8xf32>
// CHECK: %[[PART2:.*]] = shard.reduce_scatter %[[FFN_DOWN]] on @grid grid_axes = [2] scatter_axis = 0 {{.*}}shardopt.collective = {bytes = 247 : i64, cause = "combine", charged = true, microseconds = 5.0003{{[0-9]*}} : f64, type = f32}{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[PART2]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[PADDED2:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART3:.*]] = shard.all_slice %[[PADDED2]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %[[PART3]]{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[ALL2:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}shardopt.collective = {bytes = 64 : i64, cause = "return", charged = true, microseconds = 5.0000{{[0-9]*}} : f64, type = f32}{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL2]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @blocks_at_home(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<0> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<1> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<0> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<0> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Copies that were sent as complete rows and return from a block have a plan of
// their own for the way back.
// CHECK-LABEL: @from_complete_rows_to_blocks(
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x2x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %{{.*}}, %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x2x2xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[RESULT]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x8xf32>, tensor<2x4x2xi32> -> tensor<?x4xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x4xf32>, tensor<2x4x2xi32> -> tensor<?x8xf32>
// CHECK: %[[PART:.*]] = shard.all_slice %[[FFN_DOWN]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[COUNTS1:.*]], %[[ORIGINS1:.*]] = llm.exchange_plan %[[PART1]] block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[MOVED1:.*]] = shard.all_to_all %[[COUNTS1]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "combine"{{.*}} : tensor<4x1x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[PART]], %[[MOVED1]] : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED1]]) recv(%[[COUNTS1]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART2:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS1]], %[[PART2]]{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @from_complete_rows_to_blocks(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<none> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<none> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<0> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Combine is linear, so partial sums pass through it and are reduced after it.
// CHECK-LABEL: @partial_sums_return(
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x2x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %{{.*}}, %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x2x2xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[RESULT]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x8xf32>, tensor<2x4x2xi32> -> tensor<?x2xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x2xf32>, tensor<2x4x2xi32> -> tensor<?x8xf32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[FFN_DOWN]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[UNPERMUTE]] on @grid grid_axes = [2] {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: return %[[SUM]]
func.func @partial_sums_return(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<1> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<0> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<none> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Features that dispatch left cut are what ffn_up contracts, and those that ffn_down
// produces return cut.
// CHECK-LABEL: @experts_up_0_down_1(
// CHECK: %[[PART:.*]] = shard.all_slice %{{.*}} on @grid grid_axes = [2] slice_axis = 1 : tensor<?x8xf32> -> tensor<?x4xf32>
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x2x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %[[PART]], %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x4xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x4xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x4xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x2x2xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x4xf32>, tensor<4x2x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[RESULT]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x4xf32>, tensor<2x4x2xi32> -> tensor<?x4xf32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[FFN_UP]] on @grid grid_axes = [2] {{.*}}cause = "ffn_down"{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK: %[[ACTIVATED:.*]] = llm.activation %[[SUM]] {{.*}}activation = #llm.activation<kind = gelu>{{.*}} : tensor<?x4xf32> -> tensor<?x4xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[ACTIVATED]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x4xf32>, tensor<2x4x2xi32> -> tensor<?x4xf32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[FFN_DOWN]], %[[MOVED]] : tensor<?x4xf32>, tensor<4x2x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x4xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x4xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %{{.*}} : tensor<?x4xf32>, tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "return"{{.*}} : tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: return %[[ALL]]
func.func @experts_up_0_down_1(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<1> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<0> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<1> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<1> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Blocks of rows pass through where nothing else is asked for.
// CHECK-LABEL: @none_of_blocks(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %[[PART1]] block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x1x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %[[NORM]], %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x1x2xi32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[BLOCK_SIZE]] on @grid grid_axes = [2] reduction = {{ *}}max {{.*}}cause = "dispatch"{{.*}} : tensor<1xi32> -> tensor<1xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[SUM]]){{.*}} : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[RESULT]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x8xf32>, tensor<1x4x2xi32> -> tensor<?x4xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x4xf32>, tensor<1x4x2xi32> -> tensor<?x8xf32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[FFN_DOWN]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[PADDED2:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART2:.*]] = shard.all_slice %[[PADDED2]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %[[PART2]]{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @none_of_blocks(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %n = llm.rms_norm "norm" dim<0> %x weight(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %n, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<none> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<none> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<none> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Features that are cut are completed before they return.
// CHECK-LABEL: @combine_none_of_features(
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %{{.*}} block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x2x2xi32> -> tensor<4x2x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %{{.*}}, %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x2x2xi32>
// CHECK: %[[RESULT:.*]], %[[HOMES:.*]] = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[BLOCK_SIZE]]){{.*}} : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[FFN_UP:.*]] = llm.ffn_up {{.*}} %[[RESULT]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x8xf32>, tensor<2x4x2xi32> -> tensor<?x4xf32>
// CHECK: %[[FFN_DOWN:.*]] = llm.ffn_down {{.*}} %[[FFN_UP]], %{{.*}} counts(%[[HOMES]]){{.*}} : tensor<?x4xf32>, tensor<2x4x2xi32> -> tensor<?x4xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[FFN_DOWN]] on @grid grid_axes = [2] gather_axis = 1 {{.*}}cause = "combine"{{.*}} : tensor<?x4xf32> -> tensor<?x8xf32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[ALL]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x2x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: return %[[UNPERMUTE]]
func.func @combine_none_of_features(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>, %u: tensor<6x8x4xf32>, %v: tensor<6x4x8xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<none> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %h = llm.ffn_up "ffn_up" dim<none> %d, %u counts(%c) {activation = #llm.activation<kind = gelu>} : tensor<?x8xf32>, tensor<1x1x6xi32> -> tensor<?x4xf32>
  %e = llm.ffn_down "ffn_down" dim<1> %h, %v counts(%c) : tensor<?x4xf32>, tensor<1x1x6xi32> -> tensor<?x8xf32>
  %y = llm.combine "combine" dim<none> %e, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

// Choices of a block are gathered, and sliced again with -1 for padding.
// CHECK-LABEL: @routing_of_blocks(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[NORM:.*]] = llm.rms_norm {{.*}} %[[PART]] weight(%{{.*}}){{.*}} : tensor<?x8xf32>
// CHECK: %{{.*}}, %[[INDICES:.*]], %[[WEIGHTS:.*]] = llm.router {{.*}} %[[NORM]], %{{.*}} : tensor<?x8xf32>, tensor<8x6xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[INDICES]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "router"{{.*}} : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xi32> to tensor<?x2xi32>
// CHECK: %[[ALL1:.*]] = shard.all_gather %[[WEIGHTS]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "router"{{.*}} : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[TRUE1:.*]] = tensor.extract_slice %[[ALL1]][0, 0] [%{{.*}}, 2] [1, 1] : tensor<?x2xf32> to tensor<?x2xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %[[TRUE]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %[[PART1]] block(%{{.*}}) : tensor<?x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[MOVED:.*]] = shard.all_to_all %[[COUNTS]] on @grid grid_axes = [1] split_axis = 0 concat_axis = 0 {{.*}}cause = "dispatch"{{.*}} : tensor<4x1x2xi32> -> tensor<4x1x2xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %[[NORM]], %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[EXCHANGED:.*]] = llm.all_to_all_v %[[PERMUTE]] send(%[[COUNTS]]) recv(%[[MOVED]]) on @grid grid_axes = [1] {{.*}}cause = "dispatch"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[MOVED]] : tensor<4x1x2xi32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[BLOCK_SIZE]] on @grid grid_axes = [2] reduction = {{ *}}max {{.*}}cause = "dispatch"{{.*}} : tensor<1xi32> -> tensor<1xi32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.pack_homes %[[EXCHANGED]], %[[MOVED]] block(%[[SUM]]){{.*}} : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[RESULT]], %[[MOVED]] : tensor<?x8xf32>, tensor<4x1x2xi32>
// CHECK: %[[EXCHANGED1:.*]] = llm.all_to_all_v %[[UNPACK_HOMES]] send(%[[MOVED]]) recv(%[[COUNTS]]) on @grid grid_axes = [1] {{.*}}cause = "combine"{{.*}} : (tensor<?x8xf32>, tensor<4x1x2xi32>, tensor<4x1x2xi32>) -> tensor<?x8xf32>
// CHECK: %[[PADDED2:.*]] = tensor.pad %[[TRUE1]] low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART2:.*]] = shard.all_slice %[[PADDED2]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[EXCHANGED1]], %[[ORIGINS]], %[[PART2]]{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[ALL2:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE2:.*]] = tensor.extract_slice %[[ALL2]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE2]]
func.func @routing_of_blocks(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %w: tensor<8x6xf32>) -> tensor<?x8xf32> {
  %n = llm.rms_norm "norm" dim<0> %x weight(%g) {epsilon = 1.0e-5} : tensor<?x8xf32>
  %0:3 = llm.router "router" dim<none> %n, %w {scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x8xf32>, tensor<8x6xf32>
  %d, %c, %o = llm.dispatch "dispatch" dim<0> %0#0, %0#1 {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %y = llm.combine "combine" dim<0> %d, %c, %o, %0#2 : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

}

// -----

module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {

// With one group nothing travels, but rows are ordered by home all the same.
// CHECK-LABEL: @one_group(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART:.*]] = shard.all_slice %[[PADDED]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[PADDED1:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART1:.*]] = shard.all_slice %[[PADDED1]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xi32> -> tensor<?x2xi32>
// CHECK: %[[COUNTS:.*]], %[[ORIGINS:.*]] = llm.exchange_plan %[[PART1]] block(%{{.*}}) : tensor<?x2xi32> -> tensor<1x1x6xi32>
// CHECK: %[[PERMUTE:.*]] = llm.permute %[[PART]], %[[ORIGINS]] {{.*}}top_k = 2{{.*}} : tensor<?x8xf32>
// CHECK: %[[BLOCK_SIZE:.*]] = llm.block_size %[[COUNTS]] : tensor<1x1x6xi32>
// CHECK: %[[SUM:.*]] = shard.all_reduce %[[BLOCK_SIZE]] on @grid grid_axes = [2] reduction = {{ *}}max {{.*}}cause = "dispatch"{{.*}} : tensor<1xi32> -> tensor<1xi32>
// CHECK: %[[RESULT:.*]], %{{.*}} = llm.pack_homes %[[PERMUTE]], %[[COUNTS]] block(%[[SUM]]){{.*}} : tensor<?x8xf32>, tensor<1x1x6xi32>
// CHECK: %[[UNPACK_HOMES:.*]] = llm.unpack_homes %[[RESULT]], %[[COUNTS]] : tensor<?x8xf32>, tensor<1x1x6xi32>
// CHECK: %[[PADDED2:.*]] = tensor.pad %{{.*}} low[0, 0] high[%{{.*}}, 0]
// CHECK: %[[PART2:.*]] = shard.all_slice %[[PADDED2]] on @grid grid_axes = [2] slice_axis = 0 : tensor<?x2xf32> -> tensor<?x2xf32>
// CHECK: %[[UNPERMUTE:.*]] = llm.unpermute %[[UNPACK_HOMES]], %[[ORIGINS]], %[[PART2]]{{.*}} : tensor<?x8xf32>, tensor<?x2xf32>
// CHECK: %[[ALL:.*]] = shard.all_gather %[[UNPERMUTE]] on @grid grid_axes = [2] gather_axis = 0 {{.*}}cause = "return"{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
// CHECK: %[[TRUE:.*]] = tensor.extract_slice %[[ALL]][0, 0] [%{{.*}}, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
// CHECK: return %[[TRUE]]
func.func @one_group(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %s: tensor<?x2xf32>) -> tensor<?x8xf32> {
  %d, %c, %o = llm.dispatch "dispatch" dim<0> %x, %i {experts = 6} : tensor<?x8xf32>, tensor<?x2xi32>
  %y = llm.combine "combine" dim<0> %d, %c, %o, %s : tensor<?x8xf32>, tensor<1x1x6xi32>, tensor<?x2xf32>
  return %y : tensor<?x8xf32>
}

}
