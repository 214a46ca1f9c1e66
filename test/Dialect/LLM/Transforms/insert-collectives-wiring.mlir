// RUN: shard-opt %s --llm-insert-collectives --split-input-file | FileCheck %s

// Wirings that no model has, and that have a program nonetheless.


// Logits are rows like any others.
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // CHECK-LABEL: @linear_of_logits
  // CHECK: %[[LOGITS:.*]] = shard.all_gather {{.*}} gather_axis = 1 {{.*}} -> tensor<?x102xbf16>
  // CHECK: %[[WHOLE:.*]] = llm.select_columns %[[LOGITS]]
  // CHECK: %[[CUT:.*]] = shard.all_slice
  // CHECK: llm.linear {{.*}} %[[CUT]],{{.*}} : tensor<?x51xbf16> -> tensor<?x16xbf16>
  func.func @linear_of_logits(%x: tensor<?x32xbf16>, %n: tensor<32xbf16>, %w: tensor<32x101xbf16>, %v: tensor<101x16xbf16>) -> tensor<?x16xbf16> {
    %t, %l = llm.lm_head "lm_head" dim<1> %x norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x32xbf16>, tensor<32x101xbf16> -> tensor<?xi32>, tensor<?x101xbf16>
    %y = llm.linear "after" dim<0> %l, %v : tensor<?x101xbf16> -> tensor<?x16xbf16>
    return %y : tensor<?x16xbf16>
  }
}

// -----

// An activation of every layer's own comes as an argument, whole.
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 2, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // CHECK-LABEL: @stacked_activation
  // CHECK-SAME: tensor<2x?x32xbf16> {shardopt.slice = {dims = [{}, {rows = ["ep"]}, {}], name = "arg1", shape = array<i64: 2, -1, 32>}}
  // CHECK: llm.repeat 2 {{.*}}init(%[[R:.*]] = %{{.*}} : tensor<?x32xbf16>) stacked(%[[S:.*]] = %{{.*}} : tensor<2x?x32xbf16>)
  // CHECK: llm.add %[[R]], %[[S]]
  func.func @stacked_activation(%x: tensor<?x32xbf16>, %s: tensor<2x?x32xbf16>) -> tensor<?x32xbf16> {
    %r = llm.repeat 2 init(%a = %x : tensor<?x32xbf16>) stacked(%b = %s : tensor<2x?x32xbf16>) {
      %q = llm.add %a, %b : tensor<?x32xbf16>
      llm.yield %q : tensor<?x32xbf16>
    }
    return %r : tensor<?x32xbf16>
  }
}

// -----

// An activation that all layers read is gathered before the loop, and the
// weight that comes with it is cut with the body's.
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // CHECK-LABEL: @invariant_activation
  // CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<16x32xbf16> {shardopt.slice = {dims = [{axis = "tp", {{.*}}}, {}], name = "arg2", shape = array<i64: 32, 32>}}
  // CHECK: %[[K:.*]] = shard.all_gather
  // CHECK: llm.repeat 2 {{.*}}init(%{{.*}} = %{{.*}} : tensor<?x32xbf16>) invariants(%{{.*}} = %[[K]] : tensor<?x32xbf16>, %{{.*}} = %[[W]] : tensor<16x32xbf16>)
  // CHECK: llm.linear{{.*}} : tensor<?x16xbf16> -> tensor<?x32xbf16>
  func.func @invariant_activation(%x: tensor<?x32xbf16>, %v: tensor<32x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x32xbf16> {
    %k = llm.linear "pre" dim<1> %x, %v : tensor<?x32xbf16> -> tensor<?x32xbf16>
    %y = llm.repeat 2 init(%r = %x : tensor<?x32xbf16>) invariants(%ki = %k : tensor<?x32xbf16>, %wi = %w : tensor<32x32xbf16>) {
      %a = llm.linear "p" dim<0> %ki, %wi : tensor<?x32xbf16> -> tensor<?x32xbf16>
      %b = llm.add %a, %r : tensor<?x32xbf16>
      llm.yield %b : tensor<?x32xbf16>
    }
    return %y : tensor<?x32xbf16>
  }
}

// -----

// Rows of an unknown number of columns are nothing that devices have parts of.
module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // CHECK-LABEL: @dynamic_columns
  // CHECK: tensor.cast %{{.*}} : tensor<?x32xbf16> to tensor<?x?xbf16>
  func.func @dynamic_columns(%x: tensor<?x32xbf16>, %w: tensor<32x32xbf16>) -> tensor<?x?xbf16> {
    %a = llm.linear "a" dim<1> %x, %w : tensor<?x32xbf16> -> tensor<?x32xbf16>
    %b = tensor.cast %a : tensor<?x32xbf16> to tensor<?x?xbf16>
    return %b : tensor<?x?xbf16>
  }
}

// -----

// Slices are written as runs, however many columns they have.
module attributes {llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  // CHECK-LABEL: @enormous
  // CHECK-SAME: tensor<32x4194304xbf16>
  func.func @enormous(%x: tensor<?x32xbf16>, %w: tensor<32x16777215xbf16>) -> tensor<?x16777215xbf16> {
    %a = llm.linear "a" dim<1> %x, %w : tensor<?x32xbf16> -> tensor<?x16777215xbf16>
    return %a : tensor<?x16777215xbf16>
  }
}
