// RUN: shard-opt %s -split-input-file -verify-diagnostics --mlir-print-op-on-diagnostic=false --llm-evaluate-strategy=simulator=roofline

// What a program must look like to be planned.

// expected-error @below {{module has no 'llm.embedding', expected a program of the 'llm' dialect}}
module {}

// -----

// expected-error @below {{module has no 'llm.workload', expected #llm.workload<phase = decode|prefill, context = N>}}
module {
  func.func @no_workload(%t: tensor<?xi32>, %w: tensor<32x8xbf16>) -> tensor<?x8xbf16> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    return %x : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @two_programs(%t: tensor<?xi32>, %w: tensor<32x8xbf16>) -> tensor<?x8xbf16> {
    // expected-note @below {{the first one}}
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    // expected-error @below {{is the second of the module, expected one program}}
    %y = llm.embedding "embed2" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    return %x : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @charged_by_nobody(%t: tensor<?xi32>, %w: tensor<32x8xbf16>) -> tensor<?x8xbf16> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    // expected-error @below {{'arith.addf' op makes numbers, and nothing here charges it, expected shardable ops of the 'llm' dialect}}
    %y = arith.addf %x, %x : tensor<?x8xbf16>
    return %y : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @layer_charged_by_nobody(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %p: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
      %m = llm.rms_norm "norm" %r weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
      %l = llm.linear "proj" %m, %p : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
      // expected-error @below {{'arith.mulf' op makes numbers, and nothing here charges it}}
      %q = arith.mulf %l, %l : tensor<?x8xbf16>
      %s = llm.add %r, %q : tensor<?x8xbf16>
      llm.yield %s : tensor<?x8xbf16>
    }
    return %y : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @type_charged_by_nobody(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %p: tensor<8x8xf64>) -> tensor<?x8xbf16> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    %m = llm.rms_norm "norm" %x weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    // expected-error @below {{has numbers of 'f64', which nothing here charges, expected f32, bf16, f16, f8E4M3FN or f4E2M1FN}}
    %l = llm.linear "proj" %m, %p : (tensor<?x8xbf16>, tensor<8x8xf64>) -> tensor<?x8xbf16>
    return %l : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @no_head(%t: tensor<?xi32>, %w: tensor<32x8xbf16>) -> tensor<?x8xbf16> {
    // expected-error @below {{has no 'llm.lm_head' after it, expected one to end the program}}
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    return %x : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @no_layer(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %h: tensor<8x32xbf16>) -> tensor<?xi32> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    // expected-error @below {{follows no layer, expected at least one}}
    %y = llm.lm_head "lm_head" %x norm(%n) weight(%h) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x32xbf16>) -> tensor<?xi32>
    return %y : tensor<?xi32>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @no_first_norm(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %u: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    // expected-error @below {{is outside of a layer, expected a norm, as 'llm.rms_norm', without residual before it to begin one}}
    %y = llm.linear "proj" %x, %u : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    return %y : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @first_op_reads_nothing_of_the_layer(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %u: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) invariants(%v = %u : tensor<8x8xbf16>) {
      // expected-error @below {{is the first of a layer, expected an op that reads the layer's residual, as 'llm.rms_norm', and no other activation}}
      %p = llm.linear "proj" %x, %v : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
      %s = llm.add %r, %p : tensor<?x8xbf16>
      llm.yield %s : tensor<?x8xbf16>
    }
    return %y : tensor<?x8xbf16>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @residual_as_it_was(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %u: tensor<8x8xbf16>, %h: tensor<8x32xbf16>) -> tensor<?xi32> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    %a = llm.rms_norm "norm" %x weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    // expected-error @below {{is the last of a layer that leaves its residual as it was, expected one that leaves what its ops make}}
    %p = llm.linear "proj" %a, %u : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    %y = llm.lm_head "lm_head" %x norm(%n) weight(%h) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x32xbf16>) -> tensor<?xi32>
    return %y : tensor<?xi32>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @foreign_activation(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %u: tensor<8x8xbf16>, %h: tensor<8x32xbf16>, %other: tensor<?x8xbf16>) -> tensor<?xi32> { // expected-note {{made here}}
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    %a = llm.rms_norm "norm" %x weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    // expected-error @below {{reads an activation from elsewhere, expected the layer's residual or what a shardable op of the layer made}}
    %p = llm.linear "proj" %other, %u : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    %s = llm.add %x, %p : tensor<?x8xbf16>
    %y = llm.lm_head "lm_head" %s norm(%n) weight(%h) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x32xbf16>) -> tensor<?xi32>
    return %y : tensor<?xi32>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @behind_the_head(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %u: tensor<8x8xbf16>, %h: tensor<8x32xbf16>) -> tensor<?xi32> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    %a = llm.rms_norm "norm" %x weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    %p = llm.linear "proj" %a, %u : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    %s = llm.add %x, %p : tensor<?x8xbf16>
    // expected-note @below {{the program ends here}}
    %y = llm.lm_head "lm_head" %s norm(%n) weight(%h) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x32xbf16>) -> tensor<?xi32>
    // expected-error @below {{follows 'llm.lm_head', which ends a program}}
    %b = llm.linear "late" %a, %u : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    return %y : tensor<?xi32>
  }
}

// -----

module attributes {llm.workload = #llm.workload<phase = decode, context = 16>} {
  func.func @inside_a_region(%c: i1, %t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %h: tensor<8x32xbf16>) -> tensor<?xi32> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    // expected-note @below {{nested in this op}}
    %a = scf.if %c -> tensor<?x8xbf16> {
      // expected-error @below {{is nested in 'scf.if', expected it in an 'llm.repeat' or next to 'llm.embedding'}}
      %m = llm.rms_norm "norm" %x weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
      scf.yield %m : tensor<?x8xbf16>
    } else {
      scf.yield %x : tensor<?x8xbf16>
    }
    %y = llm.lm_head "lm_head" %a norm(%n) weight(%h) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x32xbf16>) -> tensor<?xi32>
    return %y : tensor<?xi32>
  }
}

// -----

// expected-note @below {{workload is given here}}
module attributes {llm.workload = #llm.workload<phase = prefill, context = 16>} {
  func.func @sequence(%t: tensor<?xi32>, %w: tensor<32x8xbf16>, %n: tensor<8xbf16>, %u: tensor<8x8xbf16>, %h: tensor<8x32xbf16>) -> tensor<?xi32> {
    %x = llm.embedding "embed" %t, %w : (tensor<?xi32>, tensor<32x8xbf16>) -> tensor<?x8xbf16>
    %a = llm.rms_norm "norm" %x weight(%n) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    %p = llm.linear "proj" %a, %u : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    %s = llm.add %x, %p : tensor<?x8xbf16>
    // expected-error @below {{has 'sequence' 1, but a prompt of the module's workload has 16 rows}}
    %y = llm.lm_head "lm_head" %s norm(%n) weight(%h) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>, tensor<8x32xbf16>) -> tensor<?xi32>
    return %y : tensor<?xi32>
  }
}

// -----

// expected-error @below {{the module is lowered to a per-rank program, expected the program that was annotated}}
module attributes {shardopt.strategy = {tp = 2 : i64}} {}
