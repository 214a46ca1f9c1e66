// Every layout that a value can be left in, read in every layout that an op can
// want: all dims of the smallest program with a layer, where tp divides neither
// the rows nor the features.
//
// RUN: %python %S/strategies.py all %s --shard-opt=shard-opt --tp=3 --ep=2 --pp=1 --batch=5 --pin=lm_head=2 > %t.jsonl
// RUN: shard-run --verify %s --strategies=%t.jsonl | FileCheck %s
// RUN: %python %S/strategies.py all %s --shard-opt=shard-opt --tp=2 --ep=1 --pp=1 --batch=1 --pin=lm_head=1 > %t.jsonl
// RUN: shard-run --verify %s --strategies=%t.jsonl --optimize-collectives | FileCheck %s
//
// CHECK: verified {{[0-9]+}} strategies, 0 failed

module attributes {llm.workload = #llm.workload<phase = decode, context = 8>} {
  func.func @layer(%tokens: tensor<?xi32> {llm.role = "tokens"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x11xf32> {llm.role = "logits"}) {
    %e = llm.param @e : tensor<11x10xf32>
    %x = llm.embedding "embed" %tokens, %e : tensor<11x10xf32> -> tensor<?x10xf32>
    %a = llm.param @a : tensor<10xf32>
    %n = llm.rms_norm "first" %x weight(%a) {epsilon = 1.0e-5} : tensor<?x10xf32>
    %u = llm.param @u : tensor<10x10xf32>
    %y = llm.linear "inner" %n, %u : tensor<?x10xf32> -> tensor<?x10xf32>
    %b = llm.param @b : tensor<10xf32>
    %m, %s = llm.rms_norm "second" %y residual(%x) weight(%b) {epsilon = 1.0e-5} : tensor<?x10xf32>
    %v = llm.param @v : tensor<10x10xf32>
    %c = llm.param @c : tensor<10xf32>
    %z = llm.linear "outer" %m, %v bias(%c) : tensor<?x10xf32> -> tensor<?x10xf32>
    %r = llm.add %s, %z : tensor<?x10xf32>
    %d = llm.param @d : tensor<10xf32>
    %h = llm.param @h : tensor<10x11xf32>
    %t, %logits = llm.lm_head "lm_head" %r norm(%d) weight(%h) {epsilon = 1.0e-5} : tensor<?x10xf32>, tensor<10x11xf32> -> tensor<?xi32>, tensor<?x11xf32>
    return %t, %logits : tensor<?xi32>, tensor<?x11xf32>
  }
}
