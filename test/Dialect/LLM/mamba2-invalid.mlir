// RUN: shard-opt %s -split-input-file -verify-diagnostics

func.func @no_heads(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C1)
  // expected-error @+1 {{'heads' must be positive, found 0}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 0, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @no_prompt(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C1)
  // expected-error @+1 {{'sequence' must be positive, found 0}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5, sequence = 0} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @uneven_groups(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C1)
  // expected-error @+1 {{'groups' must be positive and divide heads, 4, found 3}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 3, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @input_width(%x: tensor<?x61xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C2)
  // expected-error @+1 {{'input' must have 60 columns, (2 * head_dim + 1) * heads + 2 * groups * state_dim, found 61}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x61xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @result_width(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 20 columns, heads * head_dim, found 19}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x19xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @one_tap(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x0x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<1x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C3)
  // expected-error @+1 {{'conv_state' must keep at least one row of each sequence, found 0}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x0x36xbf16>, tensor<?x4x5x4xf32>, tensor<1x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x0x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @conv_state_width(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x37xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C3)
  // expected-error @+1 {{'conv_state' must be [sequences, 3, 36], found 'tensor<?x3x37xbf16>'}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x37xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x37xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @state_shape(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x4x5xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C3)
  // expected-error @+1 {{'state' must be [sequences, 4, 5, 4], found 'tensor<?x4x4x5xf32>'}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x4x5xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x4x5xf32>)
  return
}

// -----

func.func @state_of_other_type(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C3)
  // expected-error @+1 {{'new_state' must have type 'tensor<?x4x5x4xf32>', that of the cache, found 'tensor<?x4x5x4xbf16>'}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xbf16>)
  return
}

// -----

func.func @taps(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<3x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C4)
  // expected-error @+1 {{'conv' must have 4 rows, one more than 'conv_state' keeps, found 3}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<3x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @channels(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x35xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C4)
  // expected-error @+1 {{'conv' must have 36 columns, heads * head_dim + 2 * groups * state_dim, found 35}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x35xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @conv_bias(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<35xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C4)
  // expected-error @+1 {{'conv_bias' must have 36 entries, heads * head_dim + 2 * groups * state_dim, found 35}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<35xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @decay(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<2xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C5)
  // expected-error @+1 {{'decay' must have 4 entries, one a head, found 2}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<2xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @skip(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<2xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C5)
  // expected-error @+1 {{'skip' must have 4 entries, one a head, found 2}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<2xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @step_bias(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<2xbf16>, %n: tensor<20xbf16>) {
  // (C5)
  // expected-error @+1 {{'step_bias' must have 4 entries, one a head, found 2}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<2xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @norm(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<5xbf16>) {
  // (C5)
  // expected-error @+1 {{'norm' must have 20 entries, heads * head_dim, found 5}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<5xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @no_epsilon(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C6)
  // expected-error @+1 {{must have 'epsilon' with a norm, and none without}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @epsilon(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C6)
  // expected-error @+1 {{'epsilon' must be positive and finite, found 0}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 0.0} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @steps(%x: tensor<?x60xbf16>, %p: tensor<?xi32>, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C7)
  // expected-error @+1 {{'step_min' must be at least 0 and less than 'step_max', found 5.000000e-01 and 5.000000e-01}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5, step_min = 0.5, step_max = 0.5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

// expected-note@+1 {{of this function}}
func.func @tokens(%x: tensor<?x60xbf16>, %p: tensor<?xi32> {llm.role = "tokens"}, %c: tensor<?x3x36xbf16>, %s: tensor<?x4x5x4xf32>, %w: tensor<4x36xbf16>, %e: tensor<36xbf16>, %d: tensor<4xbf16>, %k: tensor<4xbf16>, %b: tensor<4xbf16>, %n: tensor<20xbf16>) {
  // (C8)
  // expected-error @+1 {{reads tokens as positions: expected another argument than #1, whose role is 'tokens'}}
  %y:3 = llm.mamba2 "space" %x at(%p) conv_state(%c) state(%s) conv(%w) conv_bias(%e) decay(%d) skip(%k) step_bias(%b) norm(%n) {heads = 4, head_dim = 5, groups = 2, state_dim = 4, epsilon = 1.0e-5} : (tensor<?x60xbf16>, tensor<?xi32>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>, tensor<4x36xbf16>, tensor<36xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<20xbf16>) -> (tensor<?x20xbf16>, tensor<?x3x36xbf16>, tensor<?x4x5x4xf32>)
  return
}

// -----

func.func @rows(%x: tensor<?x16xbf16>, %w: tensor<15x60xbf16>, %b: tensor<60xbf16>) {
  // (C1)
  // expected-error @+1 {{'weight' must have 16 rows, the width of the input, found 15}}
  %y = llm.mamba2_proj "in_proj" %x, %w bias(%b) {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : (tensor<?x16xbf16>, tensor<15x60xbf16>, tensor<60xbf16>) -> tensor<?x60xbf16>
  return
}

// -----

func.func @columns(%x: tensor<?x16xbf16>, %w: tensor<16x59xbf16>, %b: tensor<60xbf16>) {
  // (C2)
  // expected-error @+1 {{'weight' must have 60 columns, (2 * head_dim + 1) * heads + 2 * groups * state_dim, found 59}}
  %y = llm.mamba2_proj "in_proj" %x, %w bias(%b) {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : (tensor<?x16xbf16>, tensor<16x59xbf16>, tensor<60xbf16>) -> tensor<?x60xbf16>
  return
}

// -----

func.func @bias(%x: tensor<?x16xbf16>, %w: tensor<16x60xbf16>, %b: tensor<59xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 60 entries, (2 * head_dim + 1) * heads + 2 * groups * state_dim, found 59}}
  %y = llm.mamba2_proj "in_proj" %x, %w bias(%b) {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : (tensor<?x16xbf16>, tensor<16x60xbf16>, tensor<59xbf16>) -> tensor<?x60xbf16>
  return
}

// -----

func.func @result(%x: tensor<?x16xbf16>, %w: tensor<16x60xbf16>, %b: tensor<60xbf16>) {
  // (C2)
  // expected-error @+1 {{'result' must have 60 columns, (2 * head_dim + 1) * heads + 2 * groups * state_dim, found 59}}
  %y = llm.mamba2_proj "in_proj" %x, %w bias(%b) {heads = 4, head_dim = 5, groups = 2, state_dim = 4} : (tensor<?x16xbf16>, tensor<16x60xbf16>, tensor<60xbf16>) -> tensor<?x59xbf16>
  return
}

// -----

func.func @no_state(%x: tensor<?x16xbf16>, %w: tensor<16x60xbf16>, %b: tensor<60xbf16>) {
  // (C3)
  // expected-error @+1 {{'state_dim' must be positive, found 0}}
  %y = llm.mamba2_proj "in_proj" %x, %w bias(%b) {heads = 4, head_dim = 5, groups = 2, state_dim = 0} : (tensor<?x16xbf16>, tensor<16x60xbf16>, tensor<60xbf16>) -> tensor<?x60xbf16>
  return
}
