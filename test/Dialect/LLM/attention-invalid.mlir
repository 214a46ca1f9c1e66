// RUN: shard-opt %s -split-input-file -verify-diagnostics

func.func @gqa_without_kv_heads(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.attention' op of kind gqa needs 'kv_heads'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_without_head_dim(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa needs 'head_dim'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_latent(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'latent'}}
  %a:3 = llm.attention gqa "attention" %x, %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_kv_norm(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'kv_norm'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) kv_norm(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_kv_up(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<8x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'kv_up'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) kv_up(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<8x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_kv_norm_epsilon(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'kv_norm_epsilon'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, kv_norm_epsilon = 1.0e-6} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_nope_dim(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'nope_dim'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, nope_dim = 8} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_rope_dim(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'rope_dim'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, rope_dim = 8} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_value_dim(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'value_dim'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, value_dim = 8} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_with_rank(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{of kind gqa has no 'rank'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, rank = 8} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_input(%x: tensor<?x80xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'input' must have 96 columns, (heads + 2 * kv_heads) * head_dim, found 80}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x80xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_one_cache(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'cache' must have 2 tensors, keys and values, found 1}}
  %a:2 = llm.attention gqa "attention" %x at(%p) cache(%k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_cache_heads(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x4x8xbf16>) {
  // (C1)
  // expected-error @+1 {{a cache must be [sequences, positions, 2, 8], found 'tensor<?x?x4x8xbf16>'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x4x8xbf16>, tensor<?x?x4x8xbf16>)
  return
}

// -----

func.func @gqa_result(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'result' must have 64 columns, heads * head_dim, found 32}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @mla_without_latent(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'latent'}}
  %a:2 = llm.attention mla "attention" %x at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_without_kv_norm(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'kv_norm'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_without_kv_up(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'kv_up'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_without_kv_norm_epsilon(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'kv_norm_epsilon'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_without_nope_dim(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'nope_dim'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_without_rope_dim(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'rope_dim'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_without_value_dim(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'value_dim'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_without_rank(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla needs 'rank'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_with_kv_heads(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla has no 'kv_heads'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, kv_heads = 8} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_with_head_dim(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{of kind mla has no 'head_dim'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, head_dim = 8} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_input(%x: tensor<?x40xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{'input' must have 48 columns, heads * (nope_dim + rope_dim), found 40}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x40xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_latent(%x: tensor<?x48xbf16>, %l: tensor<?x16xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{'latent' must have 20 columns, rank + rope_dim, found 16}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x16xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_two_caches(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{'cache' must have 1 tensors, the latents, found 2}}
  %a:3 = llm.attention mla "attention" %x, %l at(%p) cache(%c, %c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_cache(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x16xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{a cache must be [sequences, positions, 20], found 'tensor<?x?x16xbf16>'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x16xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x16xbf16>)
  return
}

// -----

func.func @mla_kv_norm(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<20xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_norm' must have 16 entries, rank, found 20}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<20xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_kv_norm_epsilon(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_norm_epsilon' must be positive and finite, found 0}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 0.0} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_kv_up_rows(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<20x64xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_up' must have 16 rows, rank, found 20}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<20x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_kv_up_columns(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x32xbf16>) {
  // (C2)
  // expected-error @+1 {{'kv_up' must have 64 columns, heads * (nope_dim + value_dim), found 32}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x32xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_result(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 32 columns, heads * value_dim, found 48}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x48xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @gqa_cache_type(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C3)
  // expected-error @+1 {{must return its caches with their types, 'tensor<?x?x2x8xbf16>', 'tensor<?x?x2x8xbf16>', found 'tensor<?x?x2x8xbf16>', 'tensor<?x?x2x8xf32>'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xf32>)
  return
}

// -----

func.func @gqa_cache_not_returned(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C3)
  // expected-error @+1 {{must return its caches with their types}}
  %a:2 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_k_norm_missing(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<8xbf16>) {
  // (C4)
  // expected-error @+1 {{'q_norm', 'k_norm' and 'epsilon' come together}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) q_norm(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = 1.0e-6} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_qk_norm_without_epsilon(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<8xbf16>) {
  // (C4)
  // expected-error @+1 {{'q_norm', 'k_norm' and 'epsilon' come together}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) q_norm(%n) k_norm(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_norm_of_all_heads_without_weights(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C4)
  // expected-error @+1 {{of a 'qk_norm' needs 'q_norm' and 'k_norm'}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = 1.0e-6, qk_norm = #llm.head_norm<all_heads>} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_norm_of_all_heads_weight(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %q: tensor<64xbf16>, %n: tensor<8xbf16>) {
  // (C4)
  // expected-error @+1 {{'k_norm' must have 16 entries, kv_heads * head_dim, found 8}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) q_norm(%q) k_norm(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = 1.0e-6, qk_norm = #llm.head_norm<mean>} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<64xbf16>, tensor<8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_qk_norm_epsilon(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<8xbf16>) {
  // (C4)
  // expected-error @+1 {{'epsilon' must be positive and finite, found -1}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) q_norm(%n) k_norm(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = -1.0} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_q_norm_width(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<64xbf16>) {
  // (C4)
  // expected-error @+1 {{'q_norm' must have 8 entries, head_dim, found 64}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) q_norm(%n) k_norm(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = 1.0e-6} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<64xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_k_norm_width(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<8xbf16>, %m: tensor<64xbf16>) {
  // (C4)
  // expected-error @+1 {{'k_norm' must have 8 entries, head_dim, found 64}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) q_norm(%n) k_norm(%m) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, epsilon = 1.0e-6} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<8xbf16>, tensor<64xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @mla_with_qk_norm(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C4)
  // expected-error @+1 {{of kind mla has no 'q_norm'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) q_norm(%n) k_norm(%n) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @gqa_sinks(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %n: tensor<2xbf16>) {
  // (C5)
  // expected-error @+1 {{'sinks' must have 8 entries, one a head, found 2}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) sinks(%n) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<2xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_sequence(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C6)
  // expected-error @+1 {{'sequence' must be positive, found 0}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, sequence = 0} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_group(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C6)
  // expected-error @+1 {{'group' must be positive, found 0}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, group = 0} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_window(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C6)
  // expected-error @+1 {{'window' must be positive, found 0}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, window = 0} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_heads(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C6)
  // expected-error @+1 {{'heads' must be positive, found 0}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 0, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @mla_rank(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C6)
  // expected-error @+1 {{'rank' must be positive, found -16}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = -16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @gqa_rope(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C7)
  // expected-error @+1 {{'rope' must turn at most head_dim, 8, features, found 16}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, rope = #llm.rope<dim = 16, theta = 1.0e4>} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @mla_rope(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C7)
  // expected-error @+1 {{'rope' must turn rope_dim, 4, features, found 8}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, rope = #llm.rope<dim = 8, theta = 1.0e4>} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @mla_sharding(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // (C8)
  // expected-error @+1 {{sharding dim 1 is illegal for mla, whose latent all heads share}}
  %a:2 = llm.attention mla "attention" dim<1> %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @gqa_sharding_in_prefill(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C8)
  // expected-error @+1 {{sharding dim 1 is illegal in prefill: 'sequence' must be 1, found 16}}
  %a:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, sequence = 16} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_sharding_of_odd_heads(%x: tensor<?x84xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x7xbf16>) {
  // (C8)
  // expected-error @+1 {{sharding dim 1 cuts rotary pairs, so 'head_dim' must be even, found 7}}
  %a:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 7, scale = 0.35} : (tensor<?x84xbf16>, tensor<?xi32>, tensor<?x?x2x7xbf16>, tensor<?x?x2x7xbf16>) -> (tensor<?x56xbf16>, tensor<?x?x2x7xbf16>, tensor<?x?x2x7xbf16>)
  return
}

// -----

func.func @cache_twice(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>) {
  // (C9)
  // expected-error @+1 {{must have a cache for each of keys and values, found one twice: cache #1}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %k) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

// expected-note@+1 {{of this function}}
func.func @tokens_as_positions(%t: tensor<?xi32> {llm.role = "tokens"}, %x: tensor<?x96xbf16>, %k: tensor<3x?x?x2x8xbf16>, %v: tensor<3x?x?x2x8xbf16>) {
  %y:3 = llm.repeat 3 init(%r = %x : tensor<?x96xbf16>) caches(%c = %k : tensor<3x?x?x2x8xbf16>, %d = %v : tensor<3x?x?x2x8xbf16>) invariants(%p = %t : tensor<?xi32>) {
    // (C10)
    // expected-error @+1 {{reads tokens as positions: expected another argument than #0, whose role is 'tokens'}}
    %a:3 = llm.attention gqa "attention" %r at(%p) cache(%c, %d) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
    llm.yield %r, %a#1, %a#2 : tensor<?x96xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
  }
  return
}

// -----

func.func @gqa_sharding_of_partial_rotation(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) {
  // (C8)
  // expected-error @+1 {{sharding dim 1 cuts rotary pairs of whole heads in style half, found #llm.rope<dim = 4, theta = 10000.0>}}
  %a:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, rope = #llm.rope<dim = 4, theta = 1.0e4>} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @gqa_sharding_of_interleaved_pairs(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) {
  // (C8)
  // expected-error @+1 {{sharding dim 1 cuts rotary pairs of whole heads in style half, found}}
  %a:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, rope = #llm.rope<dim = 8, theta = 1.0e4, style = interleaved>} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @soft_cap(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) {
  // (C11)
  // expected-error @+1 {{'soft_cap' must be positive and finite, found 0}}
  %a:3 = llm.attention gqa "attention" %x at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, scale = 0.35, soft_cap = 0.0} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
  return
}

// -----

func.func @indexer_without_norm(%x: tensor<?x48xbf16>, %l: tensor<?x29xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x26xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>, %q: tensor<?x18xbf16>, %k: tensor<6xbf16>, %b: tensor<6xbf16>) {
  // (C13)
  // expected-error @+1 {{with an 'indexer' needs 'index_norm'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) index_queries(%q) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, indexer = #llm.indexer<heads = 3, dim = 6, top_k = 5, epsilon = 1.0e-6>} : (tensor<?x48xbf16>, tensor<?x29xbf16>, tensor<?xi32>, tensor<?x?x26xbf16>, tensor<16xbf16>, tensor<16x64xbf16>, tensor<?x18xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x26xbf16>)
  return
}

// -----

func.func @index_norm_without_indexer(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>, %q: tensor<?x18xbf16>, %k: tensor<6xbf16>, %b: tensor<6xbf16>) {
  // (C13)
  // expected-error @+1 {{without an 'indexer' has no 'index_queries'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) index_queries(%q) index_norm(%k) index_norm_bias(%b) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6} : (tensor<?x48xbf16>, tensor<?x20xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>, tensor<?x18xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}

// -----

func.func @indexer_with_window(%x: tensor<?x48xbf16>, %l: tensor<?x29xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x26xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>, %q: tensor<?x18xbf16>, %k: tensor<6xbf16>, %b: tensor<6xbf16>) {
  // (C13)
  // expected-error @+1 {{with an 'indexer' has no 'window'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) index_queries(%q) index_norm(%k) index_norm_bias(%b) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, indexer = #llm.indexer<heads = 3, dim = 6, top_k = 5, epsilon = 1.0e-6>, window = 4} : (tensor<?x48xbf16>, tensor<?x29xbf16>, tensor<?xi32>, tensor<?x?x26xbf16>, tensor<16xbf16>, tensor<16x64xbf16>, tensor<?x18xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x26xbf16>)
  return
}

// -----

func.func @indexer_queries(%x: tensor<?x48xbf16>, %l: tensor<?x29xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x26xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>, %q: tensor<?x12xbf16>, %k: tensor<6xbf16>, %b: tensor<6xbf16>) {
  // (C13)
  // expected-error @+1 {{'index_queries' must have 18 columns}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) index_queries(%q) index_norm(%k) index_norm_bias(%b) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, indexer = #llm.indexer<heads = 3, dim = 6, top_k = 5, epsilon = 1.0e-6>} : (tensor<?x48xbf16>, tensor<?x29xbf16>, tensor<?xi32>, tensor<?x?x26xbf16>, tensor<16xbf16>, tensor<16x64xbf16>, tensor<?x12xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x26xbf16>)
  return
}

// -----

func.func @indexer_rope(%x: tensor<?x48xbf16>, %l: tensor<?x25xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x22xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>, %q: tensor<?x6xbf16>, %k: tensor<2xbf16>, %b: tensor<2xbf16>) {
  // (C13)
  // expected-error @+1 {{'rope' must turn at most the 2 features of the 'indexer', found 4}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) index_queries(%q) index_norm(%k) index_norm_bias(%b) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, rope = #llm.rope<dim = 4, theta = 1.0e4>, indexer = #llm.indexer<heads = 3, dim = 2, top_k = 5, epsilon = 1.0e-6>} : (tensor<?x48xbf16>, tensor<?x25xbf16>, tensor<?xi32>, tensor<?x?x22xbf16>, tensor<16xbf16>, tensor<16x64xbf16>, tensor<?x6xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x22xbf16>)
  return
}

// -----

func.func @indexer_cache(%x: tensor<?x48xbf16>, %l: tensor<?x29xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>, %q: tensor<?x18xbf16>, %k: tensor<6xbf16>, %b: tensor<6xbf16>) {
  // (C2)
  // expected-error @+1 {{a cache must be}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) index_queries(%q) index_norm(%k) index_norm_bias(%b) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, indexer = #llm.indexer<heads = 3, dim = 6, top_k = 5, epsilon = 1.0e-6>} : (tensor<?x48xbf16>, tensor<?x29xbf16>, tensor<?xi32>, tensor<?x?x20xbf16>, tensor<16xbf16>, tensor<16x64xbf16>, tensor<?x18xbf16>, tensor<6xbf16>, tensor<6xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x20xbf16>)
  return
}
