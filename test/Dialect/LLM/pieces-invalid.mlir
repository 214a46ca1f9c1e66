// RUN: shard-opt %s -split-input-file -verify-diagnostics

func.func @select_columns_numbers(%x: tensor<?x4xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.select_columns' op 'runs' must hold five numbers a run, found 4 numbers}}
  %y = llm.select_columns %x {runs = array<i64: 0, 2, 1, 1>} : (tensor<?x4xbf16>) -> tensor<?x2xbf16>
  return
}

// -----

func.func @select_columns_size(%x: tensor<?x4xbf16>) {
  // (C1)
  // expected-error @+1 {{run 1 must have a positive size and count, found 0 and 1}}
  %y = llm.select_columns %x {runs = array<i64: 0, 2, 1, 1, 0, 0, 0, 1, 1, 0>} : (tensor<?x4xbf16>) -> tensor<?x2xbf16>
  return
}

// -----

func.func @select_columns_count(%x: tensor<?x4xbf16>) {
  // (C1)
  // expected-error @+1 {{run 0 must have a positive size and count, found 2 and -1}}
  %y = llm.select_columns %x {runs = array<i64: 0, 2, 1, -1, 0>} : (tensor<?x4xbf16>) -> tensor<?x2xbf16>
  return
}

// -----

func.func @select_columns_width(%x: tensor<?x4xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 4 columns, those that the runs write, found 3}}
  %y = llm.select_columns %x {runs = array<i64: 0, 2, 1, 2, 2>} : (tensor<?x4xbf16>) -> tensor<?x3xbf16>
  return
}

// -----

func.func @select_columns_beyond(%x: tensor<?x4xbf16>) {
  // (C3)
  // expected-error @+1 {{run 0 must stay inside the input's 4 columns, or start at -1, found [0, 2, 1, 2, 3]}}
  %y = llm.select_columns %x {runs = array<i64: 0, 2, 1, 2, 3>} : (tensor<?x4xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @select_columns_before(%x: tensor<?x4xbf16>) {
  // (C3)
  // expected-error @+1 {{run 0 must stay inside the input's 4 columns, or start at -1, found [0, 2, -1, 1, 0]}}
  %y = llm.select_columns %x {runs = array<i64: 0, 2, -1, 1, 0>} : (tensor<?x4xbf16>) -> tensor<?x2xbf16>
  return
}

// -----

func.func @select_columns_overflow(%x: tensor<?x4xbf16>) {
  // (C3)
  // expected-error @+1 {{run 0 must stay inside the input's 4 columns}}
  %y = llm.select_columns %x {runs = array<i64: 0, 3, 4611686018427387904, 2, 9223372036854775807>} : (tensor<?x4xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @select_columns_element(%x: tensor<?x4xbf16>) {
  // (C4)
  // expected-error @+1 {{'result' must have elements of type 'bf16', like the input, found 'f32'}}
  %y = llm.select_columns %x {runs = array<i64: 0, 4, 1, 1, 0>} : (tensor<?x4xbf16>) -> tensor<?x4xf32>
  return
}

// -----

func.func @activation_width(%x: tensor<?x160xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.activation' op 'input' must have 80 columns, the width of the result, found 160}}
  %y = llm.activation %x {activation = #llm.activation<kind = relu>} : (tensor<?x160xbf16>) -> tensor<?x80xbf16>
  return
}

// -----

func.func @activation_gated_width(%x: tensor<?x160xbf16>) {
  // (C1)
  // expected-error @+1 {{'input' must have 320 columns, twice the width of the result, gate and up, found 160}}
  %y = llm.activation %x {activation = #llm.activation<kind = silu, gated = true>} : (tensor<?x160xbf16>) -> tensor<?x160xbf16>
  return
}

// -----

func.func @activation_blocks(%x: tensor<?x160xbf16>) {
  // (C2)
  // expected-error @+1 {{'blocks' must be positive and divide the width of the result, 80, found 3}}
  %y = llm.activation %x {activation = #llm.activation<kind = silu, gated = true>, blocks = 3} : (tensor<?x160xbf16>) -> tensor<?x80xbf16>
  return
}

// -----

func.func @sum_squares_columns(%x: tensor<?x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.sum_squares' op 'result' must have 2 columns, one a group, found 1}}
  %s = llm.sum_squares %x {groups = 2} : (tensor<?x8xbf16>) -> tensor<?x1xf32>
  return
}

// -----

func.func @sum_squares_groups(%x: tensor<?x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'groups' must be positive and divide the width of the input, 8, found 3}}
  %s = llm.sum_squares %x {groups = 3} : (tensor<?x8xbf16>) -> tensor<?x3xf32>
  return
}

// -----

func.func @sum_squares_sums(%x: tensor<?x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.sum_squares' op 'result' must have 4 columns, two a group, found 2}}
  %s = llm.sum_squares %x {groups = 2, sums} : (tensor<?x8xbf16>) -> tensor<?x2xf32>
  return
}

// -----

func.func @scale_norm_bias(%x: tensor<?x8xbf16>, %s: tensor<?x4xf32>, %w: tensor<4xbf16>, %b: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.scale_norm' op 'bias' must have 4 entries, the width of a group, found 8}}
  %n = llm.scale_norm %x, %s, %w bias(%b) {epsilon = 1.0e-5, size = 16} : (tensor<?x8xbf16>, tensor<?x4xf32>, tensor<4xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @scale_norm_without_sums(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32>, %w: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.scale_norm' op 'squares' must have a sum for every square, with a bias, found 1 columns}}
  %n = llm.scale_norm %x, %s, %w bias(%w) {epsilon = 1.0e-5, size = 16} : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @scale_norm_weight(%x: tensor<?x8xbf16>, %s: tensor<?x2xf32>, %w: tensor<6xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.scale_norm' op 'weight' must have 4 entries, the width of a group, found 6}}
  %n = llm.scale_norm %x, %s, %w {epsilon = 1.0e-5, size = 16} : (tensor<?x8xbf16>, tensor<?x2xf32>, tensor<6xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @scale_norm_of_an_odd_sum(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32>, %w: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.scale_norm' op 'squares' must have a sum for every square, with 'sums', found 1 columns}}
  %n = llm.scale_norm %x, %s, %w {epsilon = 1.0e-5, size = 16, sums} : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @scale_rows_of_two(%x: tensor<?x8xbf16>, %w: tensor<?x2xf32>) {
  // (C1)
  // expected-error @+1 {{'llm.scale_rows' op 'weights' must have 1 columns, a factor a row, found 2}}
  %n = llm.scale_rows %x, %w : (tensor<?x8xbf16>, tensor<?x2xf32>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @scale_norm_squares(%x: tensor<?x8xbf16>, %s: tensor<?x3xf32>, %w: tensor<8xbf16>) {
  // (C1)
  // expected-error @+1 {{'squares' must be positive and divide the width of the input, 8, found 3}}
  %n = llm.scale_norm %x, %s, %w {epsilon = 1.0e-5, size = 16} : (tensor<?x8xbf16>, tensor<?x3xf32>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @scale_norm_size(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32>, %w: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'size' must be positive, found 0}}
  %n = llm.scale_norm %x, %s, %w {epsilon = 1.0e-5, size = 0} : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @scale_norm_epsilon(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32>, %w: tensor<8xbf16>) {
  // (C2)
  // expected-error @+1 {{'epsilon' must be positive and finite, found 0}}
  %n = llm.scale_norm %x, %s, %w {epsilon = 0.0, size = 16} : (tensor<?x8xbf16>, tensor<?x1xf32>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @attention_scores_input(%x: tensor<?x32xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %o: index) {
  // (C1)
  // expected-error @+1 {{'llm.attention_scores' op 'input' must have 40 columns, (heads + kv_heads) * head_dim, found 32}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35} : (tensor<?x32xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>, index) -> (tensor<?x8x?xf32>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_scores_head_dim(%x: tensor<?x30xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x3xbf16>, %o: index) {
  // (C1)
  // expected-error @+1 {{'head_dim' must be even, found 3}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 3, group = 4, scale = 0.35} : (tensor<?x30xbf16>, tensor<?xi32>, tensor<?x?x2x3xbf16>, index) -> (tensor<?x8x?xf32>, tensor<?x?x2x3xbf16>)
  return
}

// -----

func.func @attention_scores_cache(%x: tensor<?x40xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x1x8xbf16>, %o: index) {
  // (C2)
  // expected-error @+1 {{a cache must be [sequences, positions, 2, 4], found 'tensor<?x?x1x8xbf16>'}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35} : (tensor<?x40xbf16>, tensor<?xi32>, tensor<?x?x1x8xbf16>, index) -> (tensor<?x8x?xf32>, tensor<?x?x1x8xbf16>)
  return
}

// -----

func.func @attention_scores_new_cache(%x: tensor<?x40xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %o: index) {
  // (C2)
  // expected-error @+1 {{'new_cache' must have type 'tensor<?x?x2x4xbf16>', that of the cache, found 'tensor<?x?x2x4xf32>'}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35} : (tensor<?x40xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>, index) -> (tensor<?x8x?xf32>, tensor<?x?x2x4xf32>)
  return
}

// -----

func.func @attention_scores_heads(%x: tensor<?x40xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %o: index) {
  // (C3)
  // expected-error @+1 {{'scores' must have 8 planes, one a query head, found 4}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35} : (tensor<?x40xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>, index) -> (tensor<?x4x?xf32>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_scores_group(%x: tensor<?x40xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %o: index) {
  // (C4)
  // expected-error @+1 {{'group' must be positive, found 0}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 0, scale = 0.35} : (tensor<?x40xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>, index) -> (tensor<?x8x?xf32>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_scores_window(%x: tensor<?x40xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %o: index) {
  // (C4)
  // expected-error @+1 {{'window' must be positive, found 0}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35, window = 0} : (tensor<?x40xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>, index) -> (tensor<?x8x?xf32>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_values_of_another_window(%x: tensor<?x40xbf16>, %y: tensor<?x8xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %o: index) {
  // (C6)
  // expected-note @+1 {{scores from here}}
  %s:2 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35, window = 4} : (tensor<?x40xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>, index) -> (tensor<?x8x?xf32>, tensor<?x?x2x4xbf16>)
  // expected-error @+1 {{must have the 'window' and 'chunked' of what made the scores}}
  %a:2 = llm.attention_values %s#0, %y at(%p) cache(%k) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, window = 8} : (tensor<?x8x?xf32>, tensor<?x8xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_values_input(%s: tensor<?x8x?xf32>, %x: tensor<?x16xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.attention_values' op 'input' must have 8 columns, kv_heads * head_dim, found 16}}
  %a:2 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 2, head_dim = 4, group = 4} : (tensor<?x8x?xf32>, tensor<?x16xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_values_result(%s: tensor<?x8x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>) {
  // (C1)
  // expected-error @+1 {{'result' must have 32 columns, heads * head_dim, found 8}}
  %a:2 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 2, head_dim = 4, group = 4} : (tensor<?x8x?xf32>, tensor<?x8xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>) -> (tensor<?x8xbf16>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_values_cache(%s: tensor<?x8x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x8xbf16>) {
  // (C2)
  // expected-error @+1 {{a cache must be [sequences, positions, 2, 4], found 'tensor<?x?x8xbf16>'}}
  %a:2 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 2, head_dim = 4, group = 4} : (tensor<?x8x?xf32>, tensor<?x8xbf16>, tensor<?xi32>, tensor<?x?x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x8xbf16>)
  return
}

// -----

func.func @attention_values_sinks(%s: tensor<?x8x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>, %n: tensor<2xbf16>) {
  // (C3)
  // expected-error @+1 {{'sinks' must have 8 entries, one a head, found 2}}
  %a:2 = llm.attention_values %s, %x at(%p) cache(%v) sinks(%n) {heads = 8, kv_heads = 2, head_dim = 4, group = 4} : (tensor<?x8x?xf32>, tensor<?x8xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>, tensor<2xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_values_window(%s: tensor<?x8x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>) {
  // (C4)
  // expected-error @+1 {{'window' must be positive, found 0}}
  %a:2 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, window = 0} : (tensor<?x8x?xf32>, tensor<?x8xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_values_kv_heads(%s: tensor<?x8x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>) {
  // (C4)
  // expected-error @+1 {{'kv_heads' must be positive, found 0}}
  %a:2 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 0, head_dim = 4, group = 4} : (tensor<?x8x?xf32>, tensor<?x8xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @attention_values_scores(%s: tensor<?x4x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>) {
  // (C5)
  // expected-error @+1 {{'scores' must have 8 planes, one a query head, found 4}}
  %a:2 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 2, head_dim = 4, group = 4} : (tensor<?x4x?xf32>, tensor<?x8xbf16>, tensor<?xi32>, tensor<?x?x2x4xbf16>) -> (tensor<?x32xbf16>, tensor<?x?x2x4xbf16>)
  return
}

// -----

func.func @top_k_experts(%l: tensor<?x8xf32>) {
  // (C1)
  // expected-error @+1 {{'llm.top_k' op 'experts' must be between 1 and the width of the logits, 8, found 9}}
  %0:2 = llm.top_k %l {experts = 9, scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @top_k_correction(%l: tensor<?x8xf32>, %c: tensor<8xf32>) {
  // (C2)
  // expected-error @+1 {{'correction' must have 6 entries, one an expert, found 8}}
  %0:2 = llm.top_k %l correction(%c) {experts = 6, scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x8xf32>, tensor<8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @top_k_choices(%l: tensor<?x8xf32>) {
  // (C3)
  // expected-error @+1 {{'top_k' must be between 1 and the number of experts, 6, found 7}}
  %0:2 = llm.top_k %l {experts = 6, scoring = #llm.scoring<softmax>, top_k = 7} : (tensor<?x8xf32>) -> (tensor<?x7xi32>, tensor<?x7xf32>)
  return
}

// -----

func.func @top_k_indices(%l: tensor<?x8xf32>) {
  // (C3)
  // expected-error @+1 {{'indices' must have 2 columns, top_k, found 3}}
  %0:2 = llm.top_k %l {experts = 6, scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x8xf32>) -> (tensor<?x3xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @top_k_groups(%l: tensor<?x8xf32>) {
  // (C4)
  // expected-error @+1 {{'groups' must be positive and divide the number of experts, 6, found 4}}
  %0:2 = llm.top_k %l {experts = 6, scoring = #llm.scoring<softmax>, top_k = 2, groups = 4} : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @top_k_top_groups(%l: tensor<?x8xf32>) {
  // (C4)
  // expected-error @+1 {{'top_groups' must leave at least 'top_k', 4, experts, found 2}}
  %0:2 = llm.top_k %l {experts = 6, scoring = #llm.scoring<softmax>, top_k = 4, groups = 3} : (tensor<?x8xf32>) -> (tensor<?x4xi32>, tensor<?x4xf32>)
  return
}

// -----

func.func @exchange_plan_counts(%i: tensor<?x2xi32>, %b: index) {
  // (C1)
  // expected-error @+1 {{'llm.exchange_plan' op 'counts' must have positive sizes, found 'tensor<4x0x2xi32>'}}
  %c, %o = llm.exchange_plan %i block(%b) : (tensor<?x2xi32>, index) -> (tensor<4x0x2xi32>, tensor<?xi32>)
  return
}

// -----

func.func @permute_width(%t: tensor<?x32xbf16>, %o: tensor<?xi32>) {
  // (C1)
  // expected-error @+1 {{'llm.permute' op 'result' must have 32 columns, like the tokens, found 16}}
  %r = llm.permute %t, %o {top_k = 2} : (tensor<?x32xbf16>, tensor<?xi32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @permute_top_k(%t: tensor<?x32xbf16>, %o: tensor<?xi32>) {
  // (C2)
  // expected-error @+1 {{'top_k' must be positive, found 0}}
  %r = llm.permute %t, %o {top_k = 0} : (tensor<?x32xbf16>, tensor<?xi32>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @permute_weights(%t: tensor<?x32xbf16>, %o: tensor<?xi32>, %w: tensor<?x3xf32>) {
  // (C3)
  // expected-error @+1 {{'llm.permute' op 'weights' must have 2 columns, top_k, found 3}}
  %r = llm.permute %t, %o weights(%w) {top_k = 2} : (tensor<?x32xbf16>, tensor<?xi32>, tensor<?x3xf32>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @unpermute_element(%y: tensor<?x32xbf16>, %o: tensor<?xi32>, %w: tensor<?x2xf32>) {
  // (C1)
  // expected-error @+1 {{'llm.unpermute' op 'result' must have elements of type 'bf16', like the rows, found 'f32'}}
  %x = llm.unpermute %y, %o, %w : (tensor<?x32xbf16>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xf32>
  return
}

// -----

shard.grid @grid(shape = 1x4x2)
func.func @all_to_all_v_send(%r: tensor<?x32xbf16>, %s: tensor<2x2x2xi32>) {
  // (C1)
  // expected-error @+1 {{'llm.all_to_all_v' op 'send' must have 4 devices in front, the size of the group, found 2}}
  %e = llm.all_to_all_v %r send(%s) recv(%s) on @grid grid_axes = [1] : (tensor<?x32xbf16>, tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<?x32xbf16>
  return
}

// -----

shard.grid @grid(shape = 1x4x2)
func.func @all_to_all_v_recv(%r: tensor<?x32xbf16>, %s: tensor<4x2x2xi32>, %c: tensor<2x2x2xi32>) {
  // (C1)
  // expected-error @+1 {{'recv' must have 4 devices in front, as 'send' has, found 2}}
  %e = llm.all_to_all_v %r send(%s) recv(%c) on @grid grid_axes = [1] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<2x2x2xi32>) -> tensor<?x32xbf16>
  return
}

// -----

shard.grid @grid(shape = 1x4x2)
func.func @all_to_all_v_result(%r: tensor<?x32xbf16>, %s: tensor<4x2x2xi32>) {
  // (C2)
  // expected-error @+1 {{'result' must have 32 columns, like the input, found 16}}
  %e = llm.all_to_all_v %r send(%s) recv(%s) on @grid grid_axes = [1] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @all_to_all_v_grid(%r: tensor<?x32xbf16>, %s: tensor<4x2x2xi32>) {
  // (C3)
  // expected-error @+1 {{needs a 'shard.grid' named 'grid'}}
  %e = llm.all_to_all_v %r send(%s) recv(%s) on @grid grid_axes = [1] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{grid is here}}
shard.grid @grid(shape = 1x4x2)
func.func @all_to_all_v_axes(%r: tensor<?x32xbf16>, %s: tensor<4x2x2xi32>) {
  // (C3)
  // expected-error @+1 {{'grid_axes' must be different axes of a grid of 3, found 3}}
  %e = llm.all_to_all_v %r send(%s) recv(%s) on @grid grid_axes = [1, 3] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x32xbf16>
  return
}

// -----

// expected-note @+1 {{grid is here}}
shard.grid @grid(shape = 1x4x2)
func.func @all_to_all_v_axis_twice(%r: tensor<?x32xbf16>, %s: tensor<4x2x2xi32>) {
  // (C3)
  // expected-error @+1 {{'grid_axes' must be different axes of a grid of 3, found 1}}
  %e = llm.all_to_all_v %r send(%s) recv(%s) on @grid grid_axes = [1, 1] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @block_size(%c: tensor<4x2x2xi32>) {
  // (C1)
  // expected-error @+1 {{'llm.block_size' op 'result' must have 1 entry, the size of a block, found 2}}
  %b = llm.block_size %c : (tensor<4x2x2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @pack_homes_width(%r: tensor<?x32xbf16>, %c: tensor<4x2x8xi32>, %b: tensor<1xi32>) {
  // (C1)
  // expected-error @+1 {{'llm.pack_homes' op 'result' must have 32 columns, like the rows, found 16}}
  %p, %h = llm.pack_homes %r, %c block(%b) : (tensor<?x32xbf16>, tensor<4x2x8xi32>, tensor<1xi32>) -> (tensor<?x16xbf16>, tensor<2x4x8xi32>)
  return
}

// -----

func.func @pack_homes_homes(%r: tensor<?x32xbf16>, %c: tensor<4x2x8xi32>, %b: tensor<1xi32>) {
  // (C2)
  // expected-error @+1 {{'homes' must be [2, 4, 8], the counts by home, found 'tensor<4x2x8xi32>'}}
  %p, %h = llm.pack_homes %r, %c block(%b) : (tensor<?x32xbf16>, tensor<4x2x8xi32>, tensor<1xi32>) -> (tensor<?x32xbf16>, tensor<4x2x8xi32>)
  return
}

// -----

func.func @pack_homes_block(%r: tensor<?x32xbf16>, %c: tensor<4x2x8xi32>, %b: tensor<2xi32>) {
  // (C3)
  // expected-error @+1 {{'block' must have 1 entry, the size of a block, found 2}}
  %p, %h = llm.pack_homes %r, %c block(%b) : (tensor<?x32xbf16>, tensor<4x2x8xi32>, tensor<2xi32>) -> (tensor<?x32xbf16>, tensor<2x4x8xi32>)
  return
}

// -----

func.func @unpack_homes(%r: tensor<?x32xbf16>, %c: tensor<4x2x8xi32>) {
  // (C1)
  // expected-error @+1 {{'llm.unpack_homes' op 'result' must have 32 columns, like the rows, found 16}}
  %p = llm.unpack_homes %r, %c : (tensor<?x32xbf16>, tensor<4x2x8xi32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @last_rows_width(%x: tensor<?x32xbf16>, %o: index) {
  // (C1)
  // expected-error @+1 {{'llm.last_rows' op 'result' must have 32 columns, like the input, found 16}}
  %l = llm.last_rows %x offset(%o) prompts(%o) {sequence = 16} : (tensor<?x32xbf16>, index, index) -> tensor<?x16xbf16>
  return
}

// -----

func.func @last_rows_sequence(%x: tensor<?x32xbf16>, %o: index) {
  // (C2)
  // expected-error @+1 {{'sequence' must be positive, found 0}}
  %l = llm.last_rows %x offset(%o) prompts(%o) {sequence = 0} : (tensor<?x32xbf16>, index, index) -> tensor<?x32xbf16>
  return
}

// -----

func.func @argmax_columns(%l: tensor<?x51xf32>, %o: index) {
  // (C1)
  // expected-error @+1 {{'llm.argmax' op 'result' must have 2 columns, a value and an index, found 1}}
  %a = llm.argmax %l offset(%o) {vocabulary = 101} : (tensor<?x51xf32>, index) -> tensor<?x1xi32>
  return
}

// -----

func.func @argmax_vocabulary(%l: tensor<?x51xf32>, %o: index) {
  // (C2)
  // expected-error @+1 {{'vocabulary' must be positive, found 0}}
  %a = llm.argmax %l offset(%o) {vocabulary = 0} : (tensor<?x51xf32>, index) -> tensor<?x2xi32>
  return
}

// -----

func.func @argmax_merge(%c: tensor<?x3xi32>) {
  // (C1)
  // expected-error @+1 {{'llm.argmax_merge' op 'candidates' must have pairs of columns, a value and an index, found 3}}
  %t = llm.argmax_merge %c : (tensor<?x3xi32>) -> tensor<?xi32>
  return
}

// -----

func.func @attention_values_cap(%s: tensor<?x8x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>) {
  // (C4)
  // expected-error @+1 {{'soft_cap' must be positive and finite, found 0}}
  %0:2 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, soft_cap = 0.0} : tensor<?x8x?xf32>, tensor<?x8xbf16> -> tensor<?x32xbf16>
  return
}
