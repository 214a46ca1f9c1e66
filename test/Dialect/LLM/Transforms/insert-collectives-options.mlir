// Options are read before anything is changed.

// RUN: not shard-opt %s --llm-insert-collectives=machine=h100_sxn 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: unknown machine 'h100_sxn'

// RUN: not shard-opt %s --llm-insert-collectives=comm-model=rings 2>&1 | FileCheck %s --check-prefix=COMM
// COMM: error: unknown comm-model 'rings'; known: ring,

// RUN: not shard-opt %s --llm-insert-collectives=imbalance=even 2>&1 | FileCheck %s --check-prefix=IMBALANCE
// IMBALANCE: error: unknown imbalance 'even'; known: model, none

// The module names a machine where no option does.
// RUN: shard-opt %s --llm-insert-collectives | FileCheck %s --check-prefix=B200
// RUN: shard-opt %s --llm-insert-collectives=machine=h100_sxm | FileCheck %s --check-prefix=H100
// RUN: shard-opt %s --llm-insert-collectives="machine=h100_sxm comm-model=ring" | FileCheck %s --check-prefix=RING
// B200: shard.all_reduce {{.*}}microseconds = 5.091
// H100: shard.all_reduce {{.*}}microseconds = 5.182
// RING: shard.all_reduce {{.*}}microseconds = 7.982

module attributes {llm.machine = "b200_sxm", llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 64>} {
func.func @all_reduce(%x: tensor<?x8xbf16>, %w: tensor<8x512xbf16>) -> tensor<?x512xbf16> {
  %0 = llm.linear "a" dim<0> %x, %w : tensor<?x8xbf16> -> tensor<?x512xbf16>
  return %0 : tensor<?x512xbf16>
}
}
