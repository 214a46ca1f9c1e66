// RUN: shard-opt %s -split-input-file -verify-diagnostics -allow-unregistered-dialect

func.func @param_dynamic() {
  // (C1)
  // expected-error @+1 {{'llm.param' op result #0 must be statically shaped tensor of any type values, but got 'tensor<?x8xbf16>'}}
  %w = llm.param @w : tensor<?x8xbf16>
  return
}

// -----

func.func @param_without_parts() {
  // (C2)
  // expected-error @+1 {{'parts' of 'source' must be a list of at least one part, found []}}
  %w = llm.param @w {source = {parts = []}} : tensor<8xbf16>
  return
}

// -----

func.func @param_part_is_text() {
  // (C2)
  // expected-error @+1 {{part 0 of 'source' must be a dictionary, found "model.w"}}
  %w = llm.param @w {source = {parts = ["model.w"]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_without_pattern() {
  // (C2)
  // expected-error @+1 {{'pattern' of part 1 of 'source' must be the name of a tensor, found none}}
  %w = llm.param @w {source = {axis = 0 : i64, parts = [{pattern = "a"}, {size = 4 : i64}]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_bad_size() {
  // (C2)
  // expected-error @+1 {{'size' of part 0 of 'source' must be a 64-bit integer from 1 to 16777216, found 0 : i64}}
  %w = llm.param @w {source = {parts = [{pattern = "a", size = 0 : i64}]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_bad_flag() {
  // (C2)
  // expected-error @+1 {{'transposed' of part 0 of 'source' must be a unit attribute, found true}}
  %w = llm.param @w {source = {parts = [{pattern = "a", transposed = true}]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_scales_without_name() {
  // (C2)
  // expected-error @+1 {{'scales' of part 0 of 'source' must be the name of a tensor, found ""}}
  %w = llm.param @w {source = {parts = [{pattern = "a", scales = ""}]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_bad_block() {
  // (C2)
  // expected-error @+1 {{'block' of part 0 of 'source' must be two positive 64-bit integers, found array<i64: 128>}}
  %w = llm.param @w {source = {parts = [{pattern = "a", block = array<i64: 128>}]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_axis_beyond_rank() {
  // (C2)
  // expected-error @+1 {{'axis' of 'source' must be a 64-bit integer from 0 to 0, found 1 : i64}}
  %w = llm.param @w {source = {axis = 1 : i64, parts = [{pattern = "a"}]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_parts_without_axis() {
  // (C2)
  // expected-error @+1 {{'axis' of 'source' must be a 64-bit integer from 0 to 0, found none}}
  %w = llm.param @w {source = {parts = [{pattern = "a"}, {pattern = "b"}]}} : tensor<8xbf16>
  return
}

// -----

func.func @param_layers_outside() {
  // (C3)
  // expected-error @+1 {{has 'layers', but is not inside an 'llm.repeat'}}
  %w = llm.param @w {layers = array<i64: 0>} : tensor<8xbf16>
  return
}

// -----

func.func @param_layers_missing(%x: tensor<?x8xbf16>) {
  // expected-note @+1 {{repeat is here}}
  %y = llm.repeat 3 init(%x) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    // (C3)
    // expected-error @+1 {{'layers' must have one entry an iteration, 3, found 2}}
    %w = llm.param @w {layers = array<i64: 0, 1>} : tensor<8xbf16>
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_never(%x: tensor<?x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.repeat' op 'count' must be positive, found 0}}
  %y = llm.repeat 0 init(%x) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_stack_too_short(%x: tensor<?x8xbf16>, %w: tensor<2x8x8xbf16>) {
  // (C2)
  // expected-error @+1 {{stacked operand 0 must have leading size 'count', 3, found 'tensor<2x8x8xbf16>'}}
  %y = llm.repeat 3 init(%x) stacked(%w) : (tensor<?x8xbf16>, tensor<2x8x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>, %v: tensor<8x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_stack_dynamic(%x: tensor<?x8xbf16>, %w: tensor<?x8x8xbf16>) {
  // (C2)
  // expected-error @+1 {{stacked operand 0 must have leading size 'count', 3, found 'tensor<?x8x8xbf16>'}}
  %y = llm.repeat 3 init(%x) stacked(%w) : (tensor<?x8xbf16>, tensor<?x8x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>, %v: tensor<8x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_argument_not_sliced(%x: tensor<?x8xbf16>, %w: tensor<3x8x8xbf16>) {
  // (C3)
  // expected-error @+1 {{body must take the residual, the slices and the invariants, 'tensor<?x8xbf16>', 'tensor<8x8xbf16>', found 'tensor<?x8xbf16>', 'tensor<3x8x8xbf16>'}}
  %y = llm.repeat 3 init(%x) stacked(%w) : (tensor<?x8xbf16>, tensor<3x8x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>, %v: tensor<3x8x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_argument_missing(%x: tensor<?x8xbf16>, %p: tensor<?xi32>) {
  // (C3)
  // expected-error @+1 {{body must take the residual, the slices and the invariants, 'tensor<?x8xbf16>', 'tensor<?xi32>', found 'tensor<?x8xbf16>'}}
  %y = llm.repeat 3 init(%x) invariants(%p) : (tensor<?x8xbf16>, tensor<?xi32>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_result_of_no_stack(%x: tensor<?x8xbf16>) {
  // (C4)
  // expected-error @+1 {{must have at most as many stacked results as stacked operands, 0, found 1}}
  %y, %z = llm.repeat 3 init(%x) : (tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<3x8xbf16>) {
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_result_of_other_type(%x: tensor<?x8xbf16>) {
  // (C4)
  // expected-error @+1 {{results must be the residual and the first stacked operands, 'tensor<?x8xbf16>', found 'tensor<?x8xf32>'}}
  %y = llm.repeat 3 init(%x) : (tensor<?x8xbf16>) -> tensor<?x8xf32> {
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_yields_no_cache(%x: tensor<?x8xbf16>, %k: tensor<3x?x?x2x4xbf16>) {
  // expected-note @+1 {{repeat is here}}
  %y, %k1 = llm.repeat 3 init(%x) stacked(%k) : (tensor<?x8xbf16>, tensor<3x?x?x2x4xbf16>) -> (tensor<?x8xbf16>, tensor<3x?x?x2x4xbf16>) {
  ^bb0(%r: tensor<?x8xbf16>, %kc: tensor<?x?x2x4xbf16>):
    // (C4)
    // expected-error @+1 {{must give the residual and a slice of each stacked result, 'tensor<?x8xbf16>', 'tensor<?x?x2x4xbf16>', found 'tensor<?x8xbf16>'}}
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_without_yield(%x: tensor<?x8xbf16>) {
  // (C4)
  // expected-error @+1 {{body must end in an 'llm.yield'}}
  %y = llm.repeat 3 init(%x) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    // expected-note @+1 {{body ends here}}
    "test.end"(%r) : (tensor<?x8xbf16>) -> ()
  }
  return
}

// -----

func.func @repeat_window_missing(%x: tensor<?x8xbf16>) {
  // (C5)
  // expected-error @+1 {{'windows' must have 3 entries, one a layer, found 2}}
  %y = llm.repeat 3 init(%x) attributes {windows = array<i64: 128, 0>} : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_window_negative(%x: tensor<?x8xbf16>) {
  // (C5)
  // expected-error @+1 {{'windows' must not be negative, found -1 for layer 1}}
  %y = llm.repeat 2 init(%x) attributes {windows = array<i64: 128, -1>} : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_name_twice(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  %y = llm.repeat 2 init(%x) : (tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  ^bb0(%r: tensor<?x8xbf16>):
    // expected-note @+1 {{first used here}}
    %n = llm.rms_norm %r weight(%w) {name = "norm", epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    // (C6)
    // expected-error @+1 {{name 'norm' must be unique within a repeat}}
    %m = llm.rms_norm %n weight(%w) {name = "norm", epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %m : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_and_attention_have_windows(%x: tensor<?x8xbf16>, %q: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<2x?x?x2x8xbf16>) {
  // expected-note @+1 {{windows given here}}
  %y, %k1, %v1 = llm.repeat 2 init(%x) stacked(%k, %k) invariants(%q, %p) attributes {windows = array<i64: 128, 0>}
      : (tensor<?x8xbf16>, tensor<2x?x?x2x8xbf16>, tensor<2x?x?x2x8xbf16>, tensor<?x96xbf16>, tensor<?xi32>) -> (tensor<?x8xbf16>, tensor<2x?x?x2x8xbf16>, tensor<2x?x?x2x8xbf16>) {
  ^bb0(%r: tensor<?x8xbf16>, %kc: tensor<?x?x2x8xbf16>, %vc: tensor<?x?x2x8xbf16>, %qkv: tensor<?x96xbf16>, %pos: tensor<?xi32>):
    // (C7)
    // expected-error @+1 {{must have no 'window' where the repeat has 'windows', found 128 : i64}}
    %a, %kn, %vn = llm.attention gqa %qkv at(%pos) cache(%kc, %vc) {name = "attention", heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35, window = 128}
      : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
    llm.yield %r, %kn, %vn : tensor<?x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
  }
  return
}

// -----

func.func @yield_outside(%x: tensor<?x8xbf16>) {
  // expected-error @+1 {{'llm.yield' op expects parent op 'llm.repeat'}}
  llm.yield %x : tensor<?x8xbf16>
}

// -----

func.func @add_of_two_types(%a: tensor<?x8xbf16>, %b: tensor<?x8xf32>) {
  // expected-error @+1 {{failed to verify that all of {lhs, rhs, result} have same type}}
  %c = "llm.add"(%a, %b) : (tensor<?x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xbf16>
  return
}
