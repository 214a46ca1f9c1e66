// RUN: shard-opt %s -split-input-file -verify-diagnostics

// Pieces of attention over shared positions, and of experts on rows of others.

func.func @partial_attention_input(%x: tensor<?x80xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // (C1)
  // expected-error @+1 {{'input' must have 96 columns, (heads + 2 * kv_heads) * head_dim, found 80}}
  %a, %s, %c0, %c1 = llm.partial_attention %x at(%p) cache(%k, %v) offset(%o) {stride = 2, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @partial_attention_result(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // (C1)
  // expected-error @+1 {{'result' must have 64 columns, heads * head_dim, found 48}}
  %a, %s, %c0, %c1 = llm.partial_attention %x at(%p) cache(%k, %v) offset(%o) {stride = 2, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
  return
}

// -----

func.func @partial_attention_one_cache(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // (C1)
  // expected-error @+1 {{'cache' must have 2 tensors, keys and values, found 1}}
  %a, %s, %c0 = llm.partial_attention %x at(%p) cache(%k) offset(%o) {stride = 2, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @partial_attention_cache(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x4x8xbf16>, %v: tensor<?x?x4x8xbf16>, %o: index) {
  // (C1)
  // expected-error @+1 {{a cache must be [sequences, positions, 2, 8], found 'tensor<?x?x4x8xbf16>'}}
  %a, %s, %c0, %c1 = llm.partial_attention %x at(%p) cache(%k, %v) offset(%o) {stride = 2, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35} : tensor<?x96xbf16>, tensor<?x?x4x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @partial_attention_norms(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index, %q: tensor<8xbf16>) {
  // expected-error @+1 {{'q_norm', 'k_norm' and 'epsilon' come together}}
  %a, %s, %c0, %c1 = llm.partial_attention %x at(%p) cache(%k, %v) q_norm(%q) offset(%o) {stride = 2, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @partial_attention_stride(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // (C5)
  // expected-error @+1 {{'stride' must be positive, found 0}}
  %a, %s, %c0, %c1 = llm.partial_attention %x at(%p) cache(%k, %v) offset(%o) {stride = 0, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @partial_attention_window(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // (C5)
  // expected-error @+1 {{'window' must be positive, found 0}}
  %a, %s, %c0, %c1 = llm.partial_attention %x at(%p) cache(%k, %v) offset(%o) {stride = 2, window = 0, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @partial_attention_norm_size(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %o: index, %q: tensor<6xbf16>) {
  // expected-error @+1 {{'q_norm' must have 8 entries, head_dim, found 6}}
  %r:4 = "llm.partial_attention"(%x, %p, %k, %k, %q, %q, %o) <{operandSegmentSizes = array<i32: 1, 0, 1, 2, 1, 1, 0, 0, 0, 1>, stride = 2 : i64, heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, group = 4 : i64, scale = 0.35 : f64, epsilon = 1.0e-5 : f64}> : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<6xbf16>, tensor<6xbf16>, index) -> (tensor<?x64xbf16>, tensor<?x8xf32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @partial_attention_new_cache(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %o: index) {
  // (C3)
  // expected-error @+1 {{must return its caches with their types, 'tensor<?x?x2x8xbf16>', 'tensor<?x?x2x8xbf16>', found 'tensor<?x?x4x8xbf16>', 'tensor<?x?x4x8xbf16>'}}
  %r:4 = "llm.partial_attention"(%x, %p, %k, %k, %o) <{operandSegmentSizes = array<i32: 1, 0, 1, 2, 0, 0, 0, 0, 0, 1>, stride = 2 : i64, heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, group = 4 : i64, scale = 0.35 : f64}> : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, index) -> (tensor<?x64xbf16>, tensor<?x8xf32>, tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>)
  return
}

// -----

func.func @partial_attention_sums(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %o: index) {
  // (C4)
  // expected-error @+1 {{'sums' must have 8 columns, one a head, found 4}}
  %r:4 = "llm.partial_attention"(%x, %p, %k, %k, %o) <{operandSegmentSizes = array<i32: 1, 0, 1, 2, 0, 0, 0, 0, 0, 1>, stride = 2 : i64, heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, group = 4 : i64, scale = 0.35 : f64}> : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, index) -> (tensor<?x64xbf16>, tensor<?x4xf32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @partial_attention_sinks(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %o: index, %q: tensor<4xbf16>) {
  // (C4)
  // expected-error @+1 {{'sinks' must have 8 entries, one a head, found 4}}
  %r:4 = "llm.partial_attention"(%x, %p, %k, %k, %q, %o) <{operandSegmentSizes = array<i32: 1, 0, 1, 2, 0, 0, 1, 0, 0, 1>, stride = 2 : i64, heads = 8 : i64, kv_heads = 2 : i64, head_dim = 8 : i64, group = 4 : i64, scale = 0.35 : f64}> : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<4xbf16>, index) -> (tensor<?x64xbf16>, tensor<?x8xf32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @partial_attention_latent_no_norm(%x: tensor<?x48xbf16>, %l: tensor<?x12xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x12xbf16>, %o: index) {
  // (C2)
  // expected-error @+1 {{with a latent needs 'kv_norm' and 'kv_norm_epsilon'}}
  %r:3 = "llm.partial_attention"(%x, %l, %p, %k, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 0, 0, 1>, stride = 2 : i64, heads = 4 : i64, rank = 8 : i64, rope_dim = 4 : i64, scale = 0.35 : f64}> : (tensor<?x48xbf16>, tensor<?x12xbf16>, tensor<?xi32>, tensor<?x?x12xbf16>, index) -> (tensor<?x32xbf16>, tensor<?x4xf32>, tensor<?x?x12xbf16>)
  return
}

// -----

func.func @partial_attention_latent_epsilon(%x: tensor<?x48xbf16>, %l: tensor<?x12xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x12xbf16>, %o: index, %n: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_norm_epsilon' must be positive and finite, found -1.000000e+00}}
  %r:3 = "llm.partial_attention"(%x, %l, %p, %k, %n, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 0, 1>, kv_norm_epsilon = -1.0 : f64, stride = 2 : i64, heads = 4 : i64, rank = 8 : i64, rope_dim = 4 : i64, scale = 0.35 : f64}> : (tensor<?x48xbf16>, tensor<?x12xbf16>, tensor<?xi32>, tensor<?x?x12xbf16>, tensor<8xbf16>, index) -> (tensor<?x32xbf16>, tensor<?x4xf32>, tensor<?x?x12xbf16>)
  return
}

// -----

func.func @partial_attention_latent_input(%x: tensor<?x44xbf16>, %l: tensor<?x12xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x12xbf16>, %o: index, %n: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'input' must have 48 columns, heads * (rank + rope_dim), found 44}}
  %r:3 = "llm.partial_attention"(%x, %l, %p, %k, %n, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 0, 1>, kv_norm_epsilon = 1.0e-6 : f64, stride = 2 : i64, heads = 4 : i64, rank = 8 : i64, rope_dim = 4 : i64, scale = 0.35 : f64}> : (tensor<?x44xbf16>, tensor<?x12xbf16>, tensor<?xi32>, tensor<?x?x12xbf16>, tensor<8xbf16>, index) -> (tensor<?x32xbf16>, tensor<?x4xf32>, tensor<?x?x12xbf16>)
  return
}

// -----

func.func @partial_attention_latent_width(%x: tensor<?x48xbf16>, %l: tensor<?x10xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x12xbf16>, %o: index, %n: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'latent' must have 12 columns, rank + rope_dim, found 10}}
  %r:3 = "llm.partial_attention"(%x, %l, %p, %k, %n, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 0, 1>, kv_norm_epsilon = 1.0e-6 : f64, stride = 2 : i64, heads = 4 : i64, rank = 8 : i64, rope_dim = 4 : i64, scale = 0.35 : f64}> : (tensor<?x48xbf16>, tensor<?x10xbf16>, tensor<?xi32>, tensor<?x?x12xbf16>, tensor<8xbf16>, index) -> (tensor<?x32xbf16>, tensor<?x4xf32>, tensor<?x?x12xbf16>)
  return
}

// -----

func.func @partial_attention_latent_norm(%x: tensor<?x48xbf16>, %l: tensor<?x12xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x12xbf16>, %o: index, %n: tensor<12xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_norm' must have 8 entries, rank, found 12}}
  %r:3 = "llm.partial_attention"(%x, %l, %p, %k, %n, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 0, 1>, kv_norm_epsilon = 1.0e-6 : f64, stride = 2 : i64, heads = 4 : i64, rank = 8 : i64, rope_dim = 4 : i64, scale = 0.35 : f64}> : (tensor<?x48xbf16>, tensor<?x12xbf16>, tensor<?xi32>, tensor<?x?x12xbf16>, tensor<12xbf16>, index) -> (tensor<?x32xbf16>, tensor<?x4xf32>, tensor<?x?x12xbf16>)
  return
}

// -----

func.func @partial_attention_latent_cache(%x: tensor<?x48xbf16>, %l: tensor<?x12xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x8xbf16>, %o: index, %n: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{a cache must be [sequences, positions, 12], found 'tensor<?x?x8xbf16>'}}
  %r:3 = "llm.partial_attention"(%x, %l, %p, %k, %n, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 0, 1>, kv_norm_epsilon = 1.0e-6 : f64, stride = 2 : i64, heads = 4 : i64, rank = 8 : i64, rope_dim = 4 : i64, scale = 0.35 : f64}> : (tensor<?x48xbf16>, tensor<?x12xbf16>, tensor<?xi32>, tensor<?x?x8xbf16>, tensor<8xbf16>, index) -> (tensor<?x32xbf16>, tensor<?x4xf32>, tensor<?x?x8xbf16>)
  return
}

// -----

func.func @partial_attention_latent_result(%x: tensor<?x48xbf16>, %l: tensor<?x12xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x12xbf16>, %o: index, %n: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 32 columns, heads * rank, found 24}}
  %r:3 = "llm.partial_attention"(%x, %l, %p, %k, %n, %o) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0, 1, 0, 1>, kv_norm_epsilon = 1.0e-6 : f64, stride = 2 : i64, heads = 4 : i64, rank = 8 : i64, rope_dim = 4 : i64, scale = 0.35 : f64}> : (tensor<?x48xbf16>, tensor<?x12xbf16>, tensor<?xi32>, tensor<?x?x12xbf16>, tensor<8xbf16>, index) -> (tensor<?x24xbf16>, tensor<?x4xf32>, tensor<?x?x12xbf16>)
  return
}

// -----

func.func @attention_merge_parts(%v: tensor<?x64xbf16>, %s: tensor<?x8xf32>) {
  // (C1)
  // expected-error @+1 {{'parts' must be positive and divide the columns of 'sums', 8, found 3}}
  %a = llm.attention_merge %v, %s {parts = 3} : tensor<?x64xbf16>, tensor<?x8xf32> -> tensor<?x32xbf16>
  return
}

// -----

func.func @attention_merge_values(%v: tensor<?x60xbf16>, %s: tensor<?x16xf32>) {
  // (C1)
  // expected-error @+1 {{'parts' must be positive and divide the columns of 'values', 60, found 8}}
  %a = llm.attention_merge %v, %s {parts = 8} : tensor<?x60xbf16>, tensor<?x16xf32> -> tensor<?x32xbf16>
  return
}

// -----

func.func @attention_merge_heads(%v: tensor<?x64xbf16>, %s: tensor<?x6xf32>) {
  // (C2)
  // expected-error @+1 {{'sums' must be positive and divide the columns of a part, 32, found 3}}
  %a = llm.attention_merge %v, %s {parts = 2} : tensor<?x64xbf16>, tensor<?x6xf32> -> tensor<?x32xbf16>
  return
}

// -----

func.func @attention_merge_result(%v: tensor<?x64xbf16>, %s: tensor<?x8xf32>) {
  // (C3)
  // expected-error @+1 {{'result' must have 32 columns, those of a part, found 64}}
  %a = llm.attention_merge %v, %s {parts = 2} : tensor<?x64xbf16>, tensor<?x8xf32> -> tensor<?x64xbf16>
  return
}

// -----

func.func @latent_queries_input(%x: tensor<?x20xbf16>, %p: tensor<?xi32>, %u: tensor<6x24xbf16>) {
  // (C1)
  // expected-error @+1 {{'input' must have 24 columns, heads * (nope_dim + rope_dim), found 20}}
  %q = llm.latent_queries %x, %u at(%p) {heads = 2, nope_dim = 8, rope_dim = 4} : tensor<?x20xbf16>, tensor<6x24xbf16> -> tensor<?x20xbf16>
  return
}

// -----

func.func @latent_queries_result(%x: tensor<?x24xbf16>, %p: tensor<?xi32>, %u: tensor<6x24xbf16>) {
  // (C1)
  // expected-error @+1 {{'result' must have 20 columns, heads * (rank + rope_dim), found 24}}
  %q = llm.latent_queries %x, %u at(%p) {heads = 2, nope_dim = 8, rope_dim = 4} : tensor<?x24xbf16>, tensor<6x24xbf16> -> tensor<?x24xbf16>
  return
}

// -----

func.func @latent_queries_heads(%x: tensor<?x24xbf16>, %p: tensor<?xi32>, %u: tensor<6x24xbf16>) {
  // (C2)
  // expected-error @+1 {{'heads' must be positive and divide the columns of 'kv_up', 24, found 5}}
  %q = llm.latent_queries %x, %u at(%p) {heads = 5, nope_dim = 8, rope_dim = 4} : tensor<?x24xbf16>, tensor<6x24xbf16> -> tensor<?x20xbf16>
  return
}

// -----

func.func @latent_queries_no_values(%x: tensor<?x24xbf16>, %p: tensor<?xi32>, %u: tensor<6x24xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_up' must have more than nope_dim, 12, columns a head, found 12}}
  %q = llm.latent_queries %x, %u at(%p) {heads = 2, nope_dim = 12, rope_dim = 4} : tensor<?x24xbf16>, tensor<6x24xbf16> -> tensor<?x20xbf16>
  return
}

// -----

func.func @latent_queries_size(%x: tensor<?x24xbf16>, %p: tensor<?xi32>, %u: tensor<6x24xbf16>) {
  // (C3)
  // expected-error @+1 {{'rope_dim' must be positive, found 0}}
  %q = llm.latent_queries %x, %u at(%p) {heads = 2, nope_dim = 8, rope_dim = 0} : tensor<?x24xbf16>, tensor<6x24xbf16> -> tensor<?x20xbf16>
  return
}

// -----

func.func @latent_values_input(%x: tensor<?x14xbf16>, %u: tensor<6x24xbf16>) {
  // (C1)
  // expected-error @+1 {{'input' must have 12 columns, heads * rank, found 14}}
  %v = llm.latent_values %x, %u {heads = 2, nope_dim = 8} : tensor<?x14xbf16>, tensor<6x24xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @latent_values_result(%x: tensor<?x12xbf16>, %u: tensor<6x24xbf16>) {
  // (C1)
  // expected-error @+1 {{'result' must have 8 columns, heads * value_dim, found 12}}
  %v = llm.latent_values %x, %u {heads = 2, nope_dim = 8} : tensor<?x12xbf16>, tensor<6x24xbf16> -> tensor<?x12xbf16>
  return
}

// -----

func.func @latent_values_heads(%x: tensor<?x12xbf16>, %u: tensor<6x24xbf16>) {
  // (C2)
  // expected-error @+1 {{'heads' must be positive and divide the columns of 'kv_up', 24, found 5}}
  %v = llm.latent_values %x, %u {heads = 5, nope_dim = 8} : tensor<?x12xbf16>, tensor<6x24xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @latent_values_none(%x: tensor<?x12xbf16>, %u: tensor<6x24xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_up' must have more than nope_dim, 12, columns a head, found 12}}
  %v = llm.latent_values %x, %u {heads = 2, nope_dim = 12} : tensor<?x12xbf16>, tensor<6x24xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @latent_values_size(%x: tensor<?x12xbf16>, %u: tensor<6x24xbf16>) {
  // (C3)
  // expected-error @+1 {{'heads' must be positive, found 0}}
  %v = llm.latent_values %x, %u {heads = 0, nope_dim = 8} : tensor<?x12xbf16>, tensor<6x24xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @write_positions_sequence(%c: tensor<?x?x24xbf16>, %v: tensor<?x?x24xbf16>, %p: tensor<?xi32>, %o: index) {
  // (C2)
  // expected-error @+1 {{'sequence' must be positive, found 0}}
  %w = llm.write_positions %c, %v at(%p) offset(%o) {sequence = 0, stride = 2} : tensor<?x?x24xbf16>
  return
}

// -----

func.func @write_positions_stride(%c: tensor<?x?x24xbf16>, %v: tensor<?x?x24xbf16>, %p: tensor<?xi32>, %o: index) {
  // (C2)
  // expected-error @+1 {{'stride' must be positive, found -1}}
  %w = llm.write_positions %c, %v at(%p) offset(%o) {sequence = 16, stride = -1} : tensor<?x?x24xbf16>
  return
}

// -----

func.func @write_positions_values(%c: tensor<?x?x24xbf16>, %v: tensor<?x?x12xbf16>, %p: tensor<?xi32>, %o: index) {
  // (C1)
  // expected-error @+1 {{'values' must have type 'tensor<?x?x24xbf16>', that of the cache, found 'tensor<?x?x12xbf16>'}}
  %w = "llm.write_positions"(%c, %v, %p, %o) {sequence = 16, stride = 2} : (tensor<?x?x24xbf16>, tensor<?x?x12xbf16>, tensor<?xi32>, index) -> tensor<?x?x24xbf16>
  return
}

// -----

func.func @write_positions_result(%c: tensor<?x?x24xbf16>, %v: tensor<?x?x24xbf16>, %p: tensor<?xi32>, %o: index) {
  // (C1)
  // expected-error @+1 {{'result' must have type 'tensor<?x?x24xbf16>', that of the cache, found 'tensor<?x?x12xbf16>'}}
  %w = "llm.write_positions"(%c, %v, %p, %o) {sequence = 16, stride = 2} : (tensor<?x?x24xbf16>, tensor<?x?x24xbf16>, tensor<?xi32>, index) -> tensor<?x?x12xbf16>
  return
}

// -----

func.func @select_blocks_places(%x: tensor<?x32xbf16>, %p: tensor<3xi32>) {
  // (C1)
  // expected-error @+1 {{'places' must be positive and divide the columns of the result, 16, found 3}}
  %y = llm.select_blocks %x, %p : tensor<?x32xbf16>, tensor<3xi32> -> tensor<?x16xbf16>
  return
}

// -----

func.func @select_blocks_width(%x: tensor<?x32xbf16>, %p: tensor<3xi32>) {
  // (C1)
  // expected-error @+1 {{'a block' must be positive and divide the columns of the input, 32, found 5}}
  %y = llm.select_blocks %x, %p : tensor<?x32xbf16>, tensor<3xi32> -> tensor<?x15xbf16>
  return
}

// -----

func.func @select_blocks_sizes(%x: tensor<?x2x32xbf16>, %p: tensor<3xi32>) {
  // (C2)
  // expected-error @+1 {{'result' must have the sizes of the input but for the last, those of 'tensor<?x2x32xbf16>', found 'tensor<?x4x24xbf16>'}}
  %y = llm.select_blocks %x, %p : tensor<?x2x32xbf16>, tensor<3xi32> -> tensor<?x4x24xbf16>
  return
}

// -----

func.func @local_experts_none(%i: tensor<?x2xi32>, %o: index) {
  // (C1)
  // expected-error @+1 {{'experts' must be positive, found 0}}
  %l = llm.local_experts %i first(%o) {experts = 0} : tensor<?x2xi32>
  return
}

// -----

func.func @partial_attention_cap(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) {
  // (C5)
  // expected-error @+1 {{'soft_cap' must be positive and finite, found 0}}
  %a, %s, %c0, %c1 = llm.partial_attention %x at(%p) cache(%k, %v) offset(%o) {stride = 2, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35, soft_cap = 0.0} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @write_cache_input(%x: tensor<?x24xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'input' must have 32 columns, 2 * kv_heads * head_dim, found 24}}
  %k1, %v1 = llm.write_cache %x at(%p) cache(%k, %v) {sequence = 16, kv_heads = 2, head_dim = 8} : tensor<?x24xbf16>, tensor<?x?x2x8xbf16>
  return
}

// -----

func.func @write_cache_latents(%x: tensor<?x24xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x24xbf16>) {
  // (C2)
  // expected-error @+1 {{with a 'rank' needs 'rope_dim', 'kv_norm' and 'kv_norm_epsilon'}}
  %c1 = llm.write_cache %x at(%p) cache(%c) {sequence = 16, rank = 16} : tensor<?x24xbf16>, tensor<?x?x24xbf16>
  return
}

// -----

func.func @write_cache_sequence(%x: tensor<?x32xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) {
  // (C4)
  // expected-error @+1 {{'sequence' must be positive, found 0}}
  %k1, %v1 = llm.write_cache %x at(%p) cache(%k, %v) {sequence = 0, kv_heads = 2, head_dim = 8} : tensor<?x32xbf16>, tensor<?x?x2x8xbf16>
  return
}

// -----

func.func @deal_rows_columns(%x: tensor<?x32xbf16>, %b: index) {
  // (C1)
  // expected-error @+1 {{'result' must be 'tensor<?x32xbf16>' but for the number of rows, found 'tensor<?x16xbf16>'}}
  %d = "llm.deal_rows"(%x, %b) {sequence = 6, ranks = 4} : (tensor<?x32xbf16>, index) -> tensor<?x16xbf16>
  return
}

// -----

func.func @collect_rows_ranks(%x: tensor<?x32xbf16>, %r: index) {
  // (C2)
  // expected-error @+1 {{'ranks' must be positive, found 0}}
  %d = llm.collect_rows %x rows(%r) {sequence = 6, ranks = 0} : tensor<?x32xbf16>
  return
}

// -----

func.func @exchange_plan_dealt(%i: tensor<?x2xi32>, %b: index) {
  // (C2)
  // expected-error @+1 {{'dealt' must be positive, found 0}}
  %c, %o = llm.exchange_plan %i block(%b) {dealt = 0} : tensor<?x2xi32> -> tensor<4x2x2xi32>
  return
}
