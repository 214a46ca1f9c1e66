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
