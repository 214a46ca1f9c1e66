// RUN: shard-opt %s -split-input-file -verify-diagnostics --llm-drop-sharding | FileCheck %s

// CHECK: module attributes {llm.machine = "h100_sxm"} {
module attributes {llm.machine = "h100_sxm", llm.service = #llm.service<engine = "vllm", concurrency = 64, decode_workers = 1, decode = <tp = 8, ep = 1, pp = 1, batch = 64>>, llm.strategy = #llm.strategy<tp = 8, batch = 64>} {
  // CHECK-LABEL: @annotated
  // CHECK-NOT: sharding
  func.func @annotated(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %u: tensor<64x80xbf16>) -> tensor<?x80xbf16> {
    %n = llm.rms_norm "n" dim<none> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
    %y = llm.linear "u" dim<1> %n, %u : tensor<?x64xbf16> -> tensor<?x80xbf16>
    return %y : tensor<?x80xbf16>
  }
}

// -----

// Nothing to do.
// CHECK-LABEL: @bare
func.func @bare(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
  // CHECK: llm.rms_norm "n" %{{.*}} weight(%{{.*}}) {epsilon = 1.0e-5}
  %n = llm.rms_norm "n" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
  return %n : tensor<?x64xbf16>
}

// -----

// expected-error @below {{the module is lowered: its ops have the sizes of one device, which no strategy can be dropped from}}
module attributes {shardopt.strategy = {tp = 2 : i64}} {}
