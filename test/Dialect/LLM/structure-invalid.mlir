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
  %w = llm.param @w : tensor<8xbf16> from dict {parts = []}
  return
}

// -----

func.func @param_part_is_text() {
  // (C2)
  // expected-error @+1 {{part 0 of 'source' must be a dictionary, found "model.w"}}
  %w = llm.param @w : tensor<8xbf16> from dict {parts = ["model.w"]}
  return
}

// -----

func.func @param_without_pattern() {
  // (C2)
  // expected-error @+1 {{'pattern' of part 1 of 'source' must be the name of a tensor, found none}}
  %w = llm.param @w : tensor<8xbf16> from dict {axis = 0 : i64, parts = [{pattern = "a"}, {size = 4 : i64}]}
  return
}

// -----

func.func @param_bad_size() {
  // (C2)
  // expected-error @+1 {{expected a size from 1 to 16777216, found 0}}
  %w = llm.param @w : tensor<8xbf16> from 0 of "a"
  return
}

// -----

func.func @param_bad_flag() {
  // (C2)
  // expected-error @+1 {{'transposed' of part 0 of 'source' must be a unit attribute, found true}}
  %w = llm.param @w : tensor<8xbf16> from dict {parts = [{pattern = "a", transposed = true}]}
  return
}

// -----

func.func @param_scales_without_name() {
  // (C2)
  // expected-error @+1 {{expected the name of a tensor of scales}}
  %w = llm.param @w : tensor<8xbf16> from "a" scales ""
  return
}

// -----

func.func @param_bad_block() {
  // (C2)
  // expected-error @+1 {{'block' of part 0 of 'source' must be two positive 64-bit integers, found array<i64: 128>}}
  %w = llm.param @w : tensor<8xbf16> from dict {parts = [{pattern = "a", block = array<i64: 128>}]}
  return
}

// -----

func.func @param_axis_beyond_rank() {
  // (C2)
  // expected-error @+1 {{'axis' of 'source' must be a 64-bit integer from 0 to 0, found 1 : i64}}
  %w = llm.param @w : tensor<8xbf16> from dim 1 ["a"]
  return
}

// -----

func.func @param_parts_without_axis() {
  // (C2)
  // expected-error @+1 {{'axis' of 'source' must be a 64-bit integer from 0 to 0, found none}}
  %w = llm.param @w : tensor<8xbf16> from dict {parts = [{pattern = "a"}, {pattern = "b"}]}
  return
}

// -----

func.func @param_source_without_pattern() {
  // expected-error @+1 {{expected string}}
  %w = llm.param @w : tensor<8xbf16> from transposed
  return
}

// -----

func.func @param_factor() {
  // (C2)
  // expected-error @+1 {{'factor' of part 0 of 'source' must be a positive number, found 0.000000e+00 : f64}}
  %w = llm.param @w : tensor<8xbf16> from "a" times 0.0
  return
}

// -----

func.func @param_shift() {
  // (C2)
  // expected-error @+1 {{'shift' of part 0 of 'source' must be a finite number that is not negative, found -1.000000e+00 : f64}}
  %w = llm.param @w : tensor<8xbf16> from "a" plus -1.0
  return
}

// -----

func.func @param_block_of_three_sizes() {
  // expected-error @+1 {{expected two sizes of a block, found 3}}
  %w = llm.param @w : tensor<8xbf16> from "a" block 2x3x4
  return
}

// -----

func.func @repeat_layer_missing(%x: tensor<?x8xbf16>) {
  // (C8)
  // expected-error @+1 {{'layers' must have 3 entries, one an iteration, found 2}}
  %y = llm.repeat 3 layers<0-1> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_layer_too_many(%x: tensor<?x8xbf16>) {
  // expected-error @+1 {{expected at most 3 layers, one an iteration}}
  %y = llm.repeat 3 layers<0-9000000000000> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_layers_backwards(%x: tensor<?x8xbf16>) {
  // expected-error @+1 {{expected the number of a layer, or a range of them, first-last}}
  %y = llm.repeat 3 layers<2-0> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_layer_negative(%x: tensor<?x8xbf16>) {
  // (C8)
  // expected-error @+1 {{'layers' must not be negative, found -1 for iteration 1}}
  %y = "llm.repeat"(%x) <{count = 2 : i64, layers = array<i64: 0, -1>, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }) : (tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @repeat_windows_of_too_many_layers(%x: tensor<?x8xbf16>) {
  // expected-error @+1 {{expected a list for at most 1048576 iterations, found 9000000000000}}
  %y = llm.repeat 9000000000000 windows<1, ...> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_layers_twice(%x: tensor<?x8xbf16>) {
  // expected-error @+1 {{'layers' is not written among the attributes of 'llm.repeat'}}
  %y = llm.repeat 1 layers<0> init(%r = %x : tensor<?x8xbf16>) attributes {layers = array<i64: 1>} {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_of_a_scalar(%x: tensor<?x8xbf16>, %s: tensor<f32>) {
  // expected-error @+1 {{expected a tensor with a leading size, one entry a layer}}
  %y = llm.repeat 1 init(%r = %x : tensor<?x8xbf16>) stacked(%w = %s : tensor<f32>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_never(%x: tensor<?x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.repeat' op 'count' must be positive, found 0}}
  %y = llm.repeat 0 init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_stack_too_short(%x: tensor<?x8xbf16>, %w: tensor<2x8x8xbf16>) {
  // (C2)
  // expected-error @+1 {{stacked operand 0 must have leading size 'count', 3, found 'tensor<2x8x8xbf16>'}}
  %y = llm.repeat 3 init(%r = %x : tensor<?x8xbf16>) stacked(%v = %w : tensor<2x8x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_stack_dynamic(%x: tensor<?x8xbf16>, %w: tensor<?x8x8xbf16>) {
  // (C2)
  // expected-error @+1 {{stacked operand 0 must have leading size 'count', 3, found 'tensor<?x8x8xbf16>'}}
  %y = llm.repeat 3 init(%r = %x : tensor<?x8xbf16>) stacked(%v = %w : tensor<?x8x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_argument_not_sliced(%x: tensor<?x8xbf16>, %w: tensor<3x8x8xbf16>) {
  // (C3)
  // expected-error @+1 {{body must take the residual, the slices and the invariants, 'tensor<?x8xbf16>', 'tensor<8x8xbf16>', found 'tensor<?x8xbf16>', 'tensor<3x8x8xbf16>'}}
  %y = "llm.repeat"(%x, %w) <{count = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%r: tensor<?x8xbf16>, %v: tensor<3x8x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }) : (tensor<?x8xbf16>, tensor<3x8x8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @repeat_argument_missing(%x: tensor<?x8xbf16>, %p: tensor<?xi32>) {
  // (C3)
  // expected-error @+1 {{body must take the residual, the slices and the invariants, 'tensor<?x8xbf16>', 'tensor<?xi32>', found 'tensor<?x8xbf16>'}}
  %y = "llm.repeat"(%x, %p) <{count = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }) : (tensor<?x8xbf16>, tensor<?xi32>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @repeat_result_of_no_stack(%x: tensor<?x8xbf16>) {
  // (C4)
  // expected-error @+1 {{must have at most as many stacked results as stacked operands, 0, found 1}}
  %y, %z = "llm.repeat"(%x) <{count = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }) : (tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<3x8xbf16>)
  return
}

// -----

func.func @repeat_result_of_other_type(%x: tensor<?x8xbf16>) {
  // (C4)
  // expected-error @+1 {{results must be the residual and the first stacked operands, 'tensor<?x8xbf16>', found 'tensor<?x8xf32>'}}
  %y = "llm.repeat"(%x) <{count = 3 : i64, operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%r: tensor<?x8xbf16>):
    llm.yield %r : tensor<?x8xbf16>
  }) : (tensor<?x8xbf16>) -> tensor<?x8xf32>
  return
}

// -----

func.func @repeat_yields_no_cache(%x: tensor<?x8xbf16>, %k: tensor<3x?x?x2x4xbf16>) {
  // expected-note @+1 {{repeat is here}}
  %y, %k1 = llm.repeat 3 init(%r = %x : tensor<?x8xbf16>) caches(%kc = %k : tensor<3x?x?x2x4xbf16>) {
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
  %y = llm.repeat 3 init(%r = %x : tensor<?x8xbf16>) {
    // expected-note @+1 {{body ends here}}
    "test.end"(%r) : (tensor<?x8xbf16>) -> ()
  }
  return
}

// -----

func.func @repeat_window_missing(%x: tensor<?x8xbf16>) {
  // (C5)
  // expected-error @+1 {{'windows' must have 3 entries, one a layer, found 2}}
  %y = llm.repeat 3 windows<128, 0> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_window_negative(%x: tensor<?x8xbf16>) {
  // (C5)
  // expected-error @+1 {{'windows' must not be negative, found -1 for layer 1}}
  %y = llm.repeat 2 windows<128, -1> init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_name_twice(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    // expected-note @+1 {{first used here}}
    %n = llm.rms_norm "norm" %r weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    // (C6)
    // expected-error @+1 {{name 'norm' must be unique within a repeat}}
    %m = llm.rms_norm "norm" %n weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %m : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @repeat_and_attention_have_windows(%x: tensor<?x8xbf16>, %q: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<2x?x?x2x8xbf16>) {
  // expected-note @+1 {{windows given here}}
  %y, %k1, %v1 = llm.repeat 2 windows<128, 0> init(%r = %x : tensor<?x8xbf16>) caches(%kc = %k : tensor<2x?x?x2x8xbf16>, %vc = %k : tensor<2x?x?x2x8xbf16>) invariants(%qkv = %q : tensor<?x96xbf16>, %pos = %p : tensor<?xi32>) {
    // (C7)
    // expected-error @+1 {{must have no 'window' where the repeat has 'windows', found 128 : i64}}
    %a, %kn, %vn = llm.attention gqa "attention" %qkv at(%pos) cache(%kc, %vc) {heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35, window = 128} : (tensor<?x96xbf16>, tensor<?xi32>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>) -> (tensor<?x64xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>)
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
