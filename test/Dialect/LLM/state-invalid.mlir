// RUN: shard-opt %s -split-input-file -verify-diagnostics

func.func @no_heads(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C1)
  // expected-error @+1 {{'heads' must be positive, found 0}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 0, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @no_prompt(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C1)
  // expected-error @+1 {{'sequence' must be positive, found 0}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6, sequence = 0} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @uneven_heads(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C1)
  // expected-error @+1 {{'heads' must be positive and divide value_heads, 4, found 3}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 3, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @input_width(%x: tensor<?x71xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C2)
  // expected-error @+1 {{'input' must have 72 columns, 2 * heads * key_dim + 2 * value_heads * (value_dim + 1), found 71}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x71xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @result_width(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 24 columns, value_heads * value_dim, found 23}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x23xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @one_tap(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x0x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<1x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C3)
  // expected-error @+1 {{'conv_state' must keep at least one row of each sequence, found 0}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x0x40xbf16>, tensor<?x4x4x6xf32>, tensor<1x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x0x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @conv_state_width(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x41xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C3)
  // expected-error @+1 {{'conv_state' must be [sequences, 3, 40], found 'tensor<?x3x41xbf16>'}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x41xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x41xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @state_shape(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x6x4xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C3)
  // expected-error @+1 {{'state' must be [sequences, 4, 4, 6], found 'tensor<?x4x6x4xf32>'}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x6x4xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x6x4xf32>)
  return
}

// -----

func.func @state_of_other_type(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C3)
  // expected-error @+1 {{'new_state' must have type 'tensor<?x4x4x6xf32>', that of the cache, found 'tensor<?x4x4x6xbf16>'}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xbf16>)
  return
}

// -----

func.func @taps(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<3x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C4)
  // expected-error @+1 {{'conv' must have 4 rows, one more than 'conv_state' keeps, found 3}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<3x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @channels(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x39xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C4)
  // expected-error @+1 {{'conv' must have 40 columns, 2 * heads * key_dim + value_heads * value_dim, found 39}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x39xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @decay(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<2xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C5)
  // expected-error @+1 {{'decay' must have 4 entries, one a value head, found 2}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<2xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @step_bias(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<2xbf16>, %n: tensor<6xbf16>) {
  // (C5)
  // expected-error @+1 {{'step_bias' must have 4 entries, one a value head, found 2}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<2xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @norm(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<4xbf16>) {
  // (C5)
  // expected-error @+1 {{'norm' must have 6 entries, value_dim, found 4}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @epsilon(%x: tensor<?x72xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C6)
  // expected-error @+1 {{'epsilon' must be positive and finite, found 0}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 0.0} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

// expected-note@+1 {{of this function}}
func.func @tokens(%x: tensor<?x72xbf16>, %p: tensor<?xi32> {llm.role = "tokens"}, %c: tensor<?x3x40xbf16>, %s: tensor<?x4x4x6xf32>, %w: tensor<4x40xbf16>, %d: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<6xbf16>) {
  // (C7)
  // expected-error @+1 {{reads tokens as positions: expected another argument than #1, whose role is 'tokens'}}
  %y:3 = llm.gated_delta_net "net" %x at(%p) conv_state(%c) state(%s) conv(%w) decay(%d) step_bias(%b) norm(%n) {heads = 2, value_heads = 4, key_dim = 4, value_dim = 6, epsilon = 1.0e-6} : (tensor<?x72xbf16>, tensor<?xi32>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>, tensor<4x40xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<6xbf16>) -> (tensor<?x24xbf16>, tensor<?x3x40xbf16>, tensor<?x4x4x6xf32>)
  return
}

// -----

func.func @gated_mla(%x: tensor<?x48xbf16>, %l: tensor<?x20xbf16>, %p: tensor<?xi32>, %c: tensor<?x?x20xbf16>, %n: tensor<16xbf16>, %w: tensor<16x64xbf16>) {
  // expected-error @+1 {{of kind mla has no 'gated'}}
  %a:2 = llm.attention mla "attention" %x, %l at(%p) cache(%c) kv_norm(%n) kv_up(%w) {heads = 4, nope_dim = 8, rope_dim = 4, value_dim = 8, rank = 16, scale = 0.29, kv_norm_epsilon = 1.0e-6, gated} : tensor<?x48xbf16>, tensor<?x?x20xbf16> -> tensor<?x32xbf16>
  return
}

// -----

func.func @gated_pairs(%x: tensor<?x160xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) {
  // expected-error @+1 {{sharding dim 1 is illegal if gates are interleaved with queries}}
  %a:3 = llm.attention gqa "attention" dim<1> %x at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35, gated} : tensor<?x160xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
  return
}

// -----

func.func @no_gates(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) {
  // expected-error @+1 {{'weight' must have 160 columns, (2 * heads + 2 * kv_heads) * head_dim, found 96}}
  %q = llm.qkv_proj "qkv_proj" %x, %w {heads = 8, kv_heads = 2, head_dim = 8, gated} : (tensor<?x64xbf16>, tensor<64x96xbf16>) -> tensor<?x96xbf16>
  return
}

// -----

// expected-error @+2 {{'groups' of 'source' must be a divisor of every part's size}}
func.func @groups() {
  %w = llm.param @w : tensor<8x12xbf16> from dim 1 groups 5 [4 of "q", 8 of "k"]
  return
}
