// RUN: shard-opt %s -split-input-file -verify-diagnostics

func.func @embedding_width(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.embedding' op 'result' must have 8 columns, the width of the table, found 4}}
  %a = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<96x8xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @embedding_rows(%t: tensor<3xi32>, %w: tensor<96x8xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 3 rows, one a token, found 4}}
  %a = llm.embedding "embed" %t, %w : (tensor<3xi32>, tensor<96x8xbf16>) -> tensor<4x8xbf16>
  return
}

// -----

func.func @embedding_without_name(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // expected-error @+1 {{'llm.embedding' op requires attribute 'name'}}
  %a = "llm.embedding"(%t, %w) : (tensor<?xi32>, tensor<96x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @embedding_of_unknown_width(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // expected-error @+1 {{result #0 must be 2D tensor of floating-point values with a static number of columns, but got 'tensor<?x?xbf16>'}}
  %a = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<96x8xbf16>) -> tensor<?x?xbf16>
  return
}

// -----

func.func @embedding_sharding(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // expected-error @+1 {{invalid properties {name = "embed", sharding = 0 : i64} for op llm.embedding: Invalid attribute `sharding` in property conversion: 0 : i64}}
  %a = "llm.embedding"(%t, %w) <{name = "embed", sharding = 0 : i64}> : (tensor<?xi32>, tensor<96x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @embedding_sharding_among_attributes(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // expected-error @+1 {{'sharding' is not written among the attributes of 'llm.embedding'}}
  %a = llm.embedding "embed" %t, %w {sharding = #llm.dim<0>} : tensor<96x8xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @embedding_written_without_name(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // expected-error @+1 {{expected attribute value}}
  %a = llm.embedding %t, %w : tensor<96x8xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @embedding_types_do_not_follow(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // expected-error @+1 {{the other types do not follow from these and the attributes: expected all of them, (types of operands) -> (types of results)}}
  %a = llm.embedding "embed" %t, %w : tensor<96x8xbf16> -> index
  return
}

// -----

func.func @projection_of_two_results(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // expected-error @+1 {{expected the types of 1 results, found 2}}
  %a = llm.qkv_proj "a" %x, %w {heads = 1, kv_heads = 1, head_dim = 2} : tensor<?x8xbf16> -> tensor<?x6xbf16>, tensor<?x6xbf16>
  return
}

// -----

func.func @dim_of_another_op(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // expected-error @+1 {{expected a sharding dim of 'llm.rms_norm': 0 (tokens), 1 (hidden) or none}}
  %n = llm.rms_norm "n" dim<heads> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  return
}

// -----

func.func @dim_two(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // expected-error @+1 {{expected a sharding dim of 'llm.rms_norm': 0 (tokens), 1 (hidden) or none}}
  %n = llm.rms_norm "n" dim<2> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_residual_type(%x: tensor<?x8xbf16>, %r: tensor<?x8xf32>, %w: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.rms_norm' op 'residual' must have type 'tensor<?x8xbf16>', that of the input, found 'tensor<?x8xf32>'}}
  %n, %s = llm.rms_norm "n" %x residual(%r) weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<?x8xf32>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  return
}

// -----

func.func @rms_norm_result_type(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'result' must have type 'tensor<?x8xbf16>', that of the input, found 'tensor<?x4xbf16>'}}
  %n = llm.rms_norm "n" %x weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @rms_norm_weight(%x: tensor<?x8xbf16>, %w: tensor<4xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 8 entries, the width of the input, found 4}}
  %n = llm.rms_norm "n" %x weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<4xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_without_sum(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // (C3)
  // expected-error @+1 {{must have 2 results with a residual, found 1}}
  %n = llm.rms_norm "n" %x residual(%x) weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_sum_of_nothing(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // (C3)
  // expected-error @+1 {{must have 1 results without a residual, found 2}}
  %n, %s = llm.rms_norm "n" %x weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  return
}

// -----

func.func @rms_norm_first_with_a_sum(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // (C3)
  // expected-error @+1 {{must have 1 results with a residual behind the norm, found 2}}
  %n, %s = llm.rms_norm "n" %x residual(%x) weight(%w) {epsilon = 1.0e-5, norm_first} : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  return
}

// -----

func.func @rms_norm_first_of_nothing(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // (C5)
  // expected-error @+1 {{with 'norm_first' needs a residual to add the norm to}}
  %n = llm.rms_norm "n" %x weight(%w) {epsilon = 1.0e-5, norm_first} : tensor<?x8xbf16>
  return
}

// -----

func.func @rms_norm_epsilon(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // (C4)
  // expected-error @+1 {{'epsilon' must be positive and finite, found 0}}
  %n = llm.rms_norm "n" %x weight(%w) {epsilon = 0.0} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @layer_norm_residual_type(%x: tensor<?x8xbf16>, %r: tensor<?x8xf32>, %w: tensor<8xbf16>, %b: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.layer_norm' op 'residual' must have type 'tensor<?x8xbf16>', that of the input, found 'tensor<?x8xf32>'}}
  %n, %s = llm.layer_norm "n" %x residual(%r) weight(%w) bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<?x8xf32>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  return
}

// -----

func.func @layer_norm_result_type(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %b: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'result' must have type 'tensor<?x8xbf16>', that of the input, found 'tensor<?x4xbf16>'}}
  %n = llm.layer_norm "n" %x weight(%w) bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @layer_norm_weight(%x: tensor<?x8xbf16>, %w: tensor<4xbf16>, %b: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 8 entries, the width of the input, found 4}}
  %n = llm.layer_norm "n" %x weight(%w) bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<4xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @layer_norm_without_sum(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %b: tensor<8xbf16>) {
  // (C3)
  // expected-error @+1 {{must have 2 results with a residual, found 1}}
  %n = llm.layer_norm "n" %x residual(%x) weight(%w) bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @layer_norm_sum_of_nothing(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %b: tensor<8xbf16>) {
  // (C3)
  // expected-error @+1 {{must have 1 results without a residual, found 2}}
  %n, %s = llm.layer_norm "n" %x weight(%w) bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>)
  return
}

// -----

func.func @layer_norm_epsilon(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %b: tensor<8xbf16>) {
  // (C4)
  // expected-error @+1 {{'epsilon' must be positive and finite, found 0}}
  %n = llm.layer_norm "n" %x weight(%w) bias(%b) {epsilon = 0.0} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @layer_norm_bias(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %b: tensor<4xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 8 entries, the width of the input, found 4}}
  %n = llm.layer_norm "n" %x weight(%w) bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<4xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @qkv_proj_rows(%x: tensor<?x64xbf16>, %w: tensor<32x96xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.qkv_proj' op 'weight' must have 64 rows, the width of the input, found 32}}
  %q = llm.qkv_proj "q" %x, %w {heads = 8, kv_heads = 2, head_dim = 8} : (tensor<?x64xbf16>, tensor<32x96xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

func.func @qkv_proj_columns(%x: tensor<?x64xbf16>, %w: tensor<64x80xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 96 columns, (heads + 2 * kv_heads) * head_dim, found 80}}
  %q = llm.qkv_proj "q" %x, %w {heads = 8, kv_heads = 2, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x80xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

func.func @qkv_proj_bias(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>, %b: tensor<64xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 96 entries, (heads + 2 * kv_heads) * head_dim, found 64}}
  %q = llm.qkv_proj "q" %x, %w bias(%b) {heads = 8, kv_heads = 2, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x96xbf16>, tensor<64xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

func.func @qkv_proj_result(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 96 columns, (heads + 2 * kv_heads) * head_dim, found 64}}
  %q = llm.qkv_proj "q" %x, %w {heads = 8, kv_heads = 2, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @qkv_proj_heads(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) {
  // (C3)
  // expected-error @+1 {{'heads' must be positive, found 0}}
  %q = llm.qkv_proj "q" %x, %w {heads = 0, kv_heads = 6, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

func.func @qkv_proj_kv_heads(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) {
  // (C3)
  // expected-error @+1 {{'kv_heads' must be positive, found 0}}
  %q = llm.qkv_proj "q" %x, %w {heads = 12, kv_heads = 0, head_dim = 8} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

func.func @qkv_proj_head_dim(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) {
  // (C3)
  // expected-error @+1 {{'head_dim' must be positive, found -8}}
  %q = llm.qkv_proj "q" %x, %w {heads = 8, kv_heads = 2, head_dim = -8} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

func.func @qkv_proj_absurd_heads(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) {
  // (C2), without an overflow that happens to fit
  // expected-error @+1 {{'weight' must have 9223372036854775807 columns}}
  %q = llm.qkv_proj "q" %x, %w {heads = 9223372036854775807, kv_heads = 9223372036854775807, head_dim = 96} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

func.func @linear_rows(%x: tensor<?x8xbf16>, %w: tensor<6x6xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.linear' op 'weight' must have 8 rows, the width of the input, found 6}}
  %a = llm.linear "a" %x, %w : (tensor<?x8xbf16>, tensor<6x6xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_transposed_columns(%x: tensor<?x8xbf16>, %w: tensor<8x6xbf16>) {
  // (C1)
  // expected-error @+1 {{'weight' must have 8 columns, the width of the input, found 6}}
  %a = llm.linear "a" %x, %w {transposed} : (tensor<?x8xbf16>, tensor<8x6xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_columns(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 6 columns, the width of the result, found 4}}
  %a = llm.linear "a" %x, %w : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_bias(%x: tensor<?x8xbf16>, %w: tensor<8x6xbf16>, %b: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 6 entries, the width of the result, found 8}}
  %a = llm.linear "a" %x, %w bias(%b) : (tensor<?x8xbf16>, tensor<8x6xbf16>, tensor<8xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_norm_width(%x: tensor<?x8xbf16>, %w: tensor<8x6xbf16>, %n: tensor<6xbf16>) {
  // (C3)
  // expected-error @+1 {{'norm' must have 8 entries, the width of the input, found 6}}
  %a = llm.linear "a" %x, %w norm(%n) {epsilon = 1.0e-6} : (tensor<?x8xbf16>, tensor<8x6xbf16>, tensor<6xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_norm_without_epsilon(%x: tensor<?x8xbf16>, %w: tensor<8x6xbf16>, %n: tensor<8xbf16>) {
  // (C3)
  // expected-error @+1 {{'norm' and 'epsilon' come together, found only 'norm'}}
  %a = llm.linear "a" %x, %w norm(%n) : (tensor<?x8xbf16>, tensor<8x6xbf16>, tensor<8xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_epsilon_without_norm(%x: tensor<?x8xbf16>, %w: tensor<8x6xbf16>) {
  // (C3)
  // expected-error @+1 {{'norm' and 'epsilon' come together, found only 'epsilon'}}
  %a = llm.linear "a" %x, %w {epsilon = 1.0e-6} : (tensor<?x8xbf16>, tensor<8x6xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_epsilon(%x: tensor<?x8xbf16>, %w: tensor<8x6xbf16>, %n: tensor<8xbf16>) {
  // (C3)
  // expected-error @+1 {{'epsilon' must be positive and finite, found -1}}
  %a = llm.linear "a" %x, %w norm(%n) {epsilon = -1.0} : (tensor<?x8xbf16>, tensor<8x6xbf16>, tensor<8xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @linear_heads(%x: tensor<?x8xbf16>, %w: tensor<8x6xbf16>) {
  // (C4)
  // expected-error @+1 {{'heads' must be positive and divide the width of the result, 6, found 4}}
  %a = llm.linear "a" %x, %w {heads = 4} : (tensor<?x8xbf16>, tensor<8x6xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @out_proj_rows(%x: tensor<?x64xbf16>, %w: tensor<32x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.out_proj' op 'weight' must have 64 rows, the width of the input, found 32}}
  %a = llm.out_proj "a" %x, %w {heads = 8} : (tensor<?x64xbf16>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @out_proj_columns(%x: tensor<?x64xbf16>, %w: tensor<64x8xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 16 columns, the width of the result, found 8}}
  %a = llm.out_proj "a" %x, %w {heads = 8} : (tensor<?x64xbf16>, tensor<64x8xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @out_proj_bias(%x: tensor<?x64xbf16>, %w: tensor<64x8xbf16>, %b: tensor<4xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 8 entries, the width of the result, found 4}}
  %a = llm.out_proj "a" %x, %w bias(%b) {heads = 8} : (tensor<?x64xbf16>, tensor<64x8xbf16>, tensor<4xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @out_proj_heads(%x: tensor<?x64xbf16>, %w: tensor<64x8xbf16>) {
  // (C3)
  // expected-error @+1 {{'heads' must be positive and divide the width of the input, 64, found 0}}
  %a = llm.out_proj "a" %x, %w {heads = 0} : (tensor<?x64xbf16>, tensor<64x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @ffn_up_row_gate(%x: tensor<?x8xbf16>, %w: tensor<8x16xbf16>, %g: tensor<16xbf16>) {
  // (C4)
  // expected-error @+1 {{'row_gate' must have 8 entries, the width of the input, found 16}}
  %u = llm.ffn_up "up" %x, %w row_gate(%g) : (tensor<?x8xbf16>, tensor<8x16xbf16>, tensor<16xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @grouped_row_gate(%x: tensor<?x8xbf16>, %w: tensor<4x8x16xbf16>, %n: tensor<1x1x4xi32>, %g: tensor<8xbf16>) {
  // (C4)
  // expected-error @+1 {{has 'counts', so that it has no 'row_gate'}}
  %u = llm.ffn_up "up" %x, %w counts(%n) row_gate(%g) : (tensor<?x8xbf16>, tensor<4x8x16xbf16>, tensor<1x1x4xi32>, tensor<8xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_rows(%x: tensor<?x8xbf16>, %w: tensor<4x16xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.ffn_up' op 'weight' must have 8 rows, the width of the input, found 4}}
  %u = llm.ffn_up "up" %x, %w : (tensor<?x8xbf16>, tensor<4x16xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_columns(%x: tensor<?x8xbf16>, %w: tensor<8x16xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 8 columns, the width of the result, found 16}}
  %u = llm.ffn_up "up" %x, %w {activation = #llm.activation<kind = relu>} : (tensor<?x8xbf16>, tensor<8x16xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @ffn_up_gated_columns(%x: tensor<?x8xbf16>, %w: tensor<8x16xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 32 columns, twice the width of the result, gate and up, found 16}}
  %u = llm.ffn_up "up" %x, %w {activation = #llm.activation<kind = silu, gated = true>} : (tensor<?x8xbf16>, tensor<8x16xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_bias(%x: tensor<?x8xbf16>, %w: tensor<8x32xbf16>, %b: tensor<16xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 32 columns, twice the width of the result, gate and up, found 16}}
  %u = llm.ffn_up "up" %x, %w bias(%b) {activation = #llm.activation<kind = silu, gated = true>} : (tensor<?x8xbf16>, tensor<8x32xbf16>, tensor<16xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_without_counts(%x: tensor<?x8xbf16>, %w: tensor<4x8x16xbf16>) {
  // (C3)
  // expected-error @+1 {{'weight' must have rank 2 without 'counts', found 3}}
  %u = llm.ffn_up "up" %x, %w : (tensor<?x8xbf16>, tensor<4x8x16xbf16>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_counts_of_nothing(%x: tensor<?x8xbf16>, %w: tensor<8x16xbf16>, %c: tensor<1x1x4xi32>) {
  // (C3)
  // expected-error @+1 {{'weight' must have rank 3 with 'counts', found 2}}
  %u = llm.ffn_up "up" %x, %w counts(%c) : (tensor<?x8xbf16>, tensor<8x16xbf16>, tensor<1x1x4xi32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_experts(%x: tensor<?x8xbf16>, %w: tensor<4x8x16xbf16>, %c: tensor<1x1x8xi32>) {
  // (C3)
  // expected-error @+1 {{'counts' must have 4 experts, those of the weight, found 8}}
  %u = llm.ffn_up "up" %x, %w counts(%c) : (tensor<?x8xbf16>, tensor<4x8x16xbf16>, tensor<1x1x8xi32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_bias_rank(%x: tensor<?x8xbf16>, %w: tensor<4x8x16xbf16>, %b: tensor<16xbf16>, %c: tensor<1x1x4xi32>) {
  // (C3)
  // expected-error @+1 {{'bias' must have rank 2, one less than the weight, found 1}}
  %u = llm.ffn_up "up" %x, %w bias(%b) counts(%c) : (tensor<?x8xbf16>, tensor<4x8x16xbf16>, tensor<16xbf16>, tensor<1x1x4xi32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_up_bias_experts(%x: tensor<?x8xbf16>, %w: tensor<4x8x16xbf16>, %b: tensor<2x16xbf16>, %c: tensor<1x1x4xi32>) {
  // (C3)
  // expected-error @+1 {{'bias' must have 4 rows, one an expert, found 2}}
  %u = llm.ffn_up "up" %x, %w bias(%b) counts(%c) : (tensor<?x8xbf16>, tensor<4x8x16xbf16>, tensor<2x16xbf16>, tensor<1x1x4xi32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @ffn_down_rows(%x: tensor<?x16xbf16>, %w: tensor<8x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.ffn_down' op 'weight' must have 16 rows, the width of the input, found 8}}
  %d = llm.ffn_down "down" %x, %w : (tensor<?x16xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @ffn_down_columns(%x: tensor<?x16xbf16>, %w: tensor<16x8xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 4 columns, the width of the result, found 8}}
  %d = llm.ffn_down "down" %x, %w : (tensor<?x16xbf16>, tensor<16x8xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @ffn_down_bias(%x: tensor<?x16xbf16>, %w: tensor<16x8xbf16>, %b: tensor<16xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 8 columns, the width of the result, found 16}}
  %d = llm.ffn_down "down" %x, %w bias(%b) : (tensor<?x16xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @ffn_down_experts(%x: tensor<?x16xbf16>, %w: tensor<4x16x8xbf16>, %c: tensor<1x1x8xi32>) {
  // (C3)
  // expected-error @+1 {{'counts' must have 4 experts, those of the weight, found 8}}
  %d = llm.ffn_down "down" %x, %w counts(%c) : (tensor<?x16xbf16>, tensor<4x16x8xbf16>, tensor<1x1x8xi32>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @lm_head_norm_bias(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %b: tensor<4xbf16>, %w: tensor<8x101xbf16>) {
  // (C1)
  // expected-error @+1 {{'norm_bias' must have 8 entries, the width of the input, found 4}}
  %a = llm.lm_head "a" %x norm(%n) weight(%w) norm_bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>, tensor<4xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @lm_head_norm(%x: tensor<?x8xbf16>, %n: tensor<4xbf16>, %w: tensor<8x101xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.lm_head' op 'norm' must have 8 entries, the width of the input, found 4}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<4xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @lm_head_epsilon(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // (C1)
  // expected-error @+1 {{'epsilon' must be positive and finite, found 0}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 0.0} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @lm_head_rows(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<101x8xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 8 rows, the width of the input, found 101}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<101x8xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @lm_head_tied_columns(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 8 columns, the width of the input, found 101}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5, tied} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @lm_head_logits(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // (C3)
  // expected-error @+1 {{'logits' must have 101 columns, the vocabulary of the weight, found 100}}
  %t, %l = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> (tensor<?xi32>, tensor<?x100xbf16>)
  return
}

// -----

func.func @lm_head_sequence(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // (C4)
  // expected-error @+1 {{'sequence' must be positive, found 0}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5, sequence = 0} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @lm_head_scale(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // (C5)
  // expected-error @+1 {{'logit_scale' must be positive and finite, found 0}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5, logit_scale = 0.0} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @lm_head_cap(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // (C5)
  // expected-error @+1 {{'soft_cap' must be positive and finite, found -1}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5, soft_cap = -1.0} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>) -> tensor<?xi32>
  return
}

// -----

func.func @embedding_scale(%t: tensor<?xi32>, %w: tensor<96x8xbf16>) {
  // (C3)
  // expected-error @+1 {{'scale' must be positive and finite, found 0}}
  %a = llm.embedding "embed" %t, %w {scale = 0.0} : (tensor<?xi32>, tensor<96x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @lm_head_bias(%x: tensor<?x8xbf16>, %n: tensor<8xbf16>, %b: tensor<8xbf16>, %w: tensor<8x101xbf16>) {
  // (C6)
  // expected-error @+1 {{'llm.lm_head' op 'bias' must have 101 entries, the vocabulary of the weight, found 8}}
  %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) bias(%b) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x101xbf16>, tensor<8xbf16>) -> tensor<?xi32>
  return
}
