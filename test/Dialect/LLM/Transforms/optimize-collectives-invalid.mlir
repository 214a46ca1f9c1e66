// RUN: shard-opt %s -verify-diagnostics -split-input-file --llm-optimize-collectives
// RUN: not shard-opt %s --llm-optimize-collectives=machine=h100 2>&1 -split-input-file | FileCheck %s --check-prefix=MACHINE

// expected-error @below {{module has no 'shardopt.strategy': expected a partitioned module; run --llm-insert-collectives first}}
module {
}

// -----

// MACHINE: unknown machine 'h100'
// MACHINE-SAME: h100_sxm
module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
}

// -----

module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @kind(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    // expected-error @below {{'counted_as' of 'shardopt.collective' must be 'all_reduce', 'all_gather', 'reduce_scatter', 'all_to_all' or 'send', found "gather"}}
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {bytes = 256 : i64, cause = "ffn_down", charged = true, counted_as = "gather", microseconds = 5.0 : f64, type = bf16}} : tensor<?x8xf32> -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
}

// -----

module attributes {shardopt.strategy = {tp = 4 : i64, ep = 1 : i64, pp = 1 : i64, batch = 8 : i64}} {
  shard.grid @grid(shape = 1x1x4)
  func.func @layers(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    // expected-error @below {{'count' of 'layers' of 'shardopt.collective' must be a 64-bit integer from 1 to 1048576, found none}}
    %0 = shard.all_reduce %x on @grid grid_axes = [2] {shardopt.collective = {bytes = 256 : i64, cause = "ffn_down", charged = true, layers = [{bytes = 256 : i64, cause = "ffn_down", charged = true, microseconds = 5.0 : f64}], microseconds = 5.0 : f64, type = bf16}} : tensor<?x8xf32> -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
}
