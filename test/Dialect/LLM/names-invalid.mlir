// RUN: shard-opt %s -split-input-file -verify-diagnostics

func.func @outside_repeats(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  // expected-note @+1 {{first used here}}
  %n = llm.rms_norm "norm" %x weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  // expected-error @+1 {{name 'norm' must be unique among the ops of a program that are not in different repeats}}
  %m = llm.rms_norm "norm" %n weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @inside_and_outside(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    // expected-note @+1 {{first used here}}
    %n = llm.rms_norm "norm" %r weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  // expected-error @+1 {{name 'norm' must be unique}}
  %n = llm.rms_norm "norm" %y weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
  return
}

// -----

func.func @other_op(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %v: tensor<8x8xbf16>) {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    // expected-note @+1 {{the other op is here}}
    %n = llm.rms_norm "a" %r weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  %z = llm.repeat 2 init(%r = %y : tensor<?x8xbf16>) {
    // expected-error @+1 {{named 'a' must be like the op of that name in another repeat, but it is an 'llm.linear' and not an 'llm.rms_norm'}}
    %n = llm.linear "a" %r, %v : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @other_types(%x: tensor<?x8xbf16>, %w: tensor<8x4xbf16>, %v: tensor<8x8xbf16>) {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    // expected-note @+1 {{the other op is here}}
    %n = llm.linear "a" %r, %w : (tensor<?x8xbf16>, tensor<8x4xbf16>) -> tensor<?x4xbf16>
    llm.yield %r : tensor<?x8xbf16>
  }
  %z = llm.repeat 2 init(%r = %y : tensor<?x8xbf16>) {
    // expected-error @+1 {{but its operands have other types}}
    %n = llm.linear "a" %r, %v : (tensor<?x8xbf16>, tensor<8x8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @other_attribute(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    // expected-note @+1 {{the other op is here}}
    %n = llm.rms_norm "a" %r weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  %z = llm.repeat 2 init(%r = %y : tensor<?x8xbf16>) {
    // expected-error @+1 {{but its 'epsilon' is another}}
    %n = llm.rms_norm "a" %r weight(%w) {epsilon = 1.0e-6} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  return
}

// -----

func.func @other_sharding(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    // expected-note @+1 {{the other op is here}}
    %n = llm.rms_norm "a" dim<0> %r weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  %z = llm.repeat 2 init(%r = %y : tensor<?x8xbf16>) {
    // expected-error @+1 {{named 'a' must share the sharding of the op of that name in another repeat: wanted #llm.dim<0>, found none given}}
    %n = llm.rms_norm "a" %r weight(%w) {epsilon = 1.0e-5} : (tensor<?x8xbf16>, tensor<8xbf16>) -> tensor<?x8xbf16>
    llm.yield %n : tensor<?x8xbf16>
  }
  return
}

// -----

// What comes first need not hold a name.
func.func @after_a_repeat_without_names(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) {
    llm.yield %r : tensor<?x8xbf16>
  }
  // expected-note @+1 {{first used here}}
  %n = llm.rms_norm "norm" %y weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  // expected-error @+1 {{name 'norm' must be unique among the ops of a program that are not in different repeats}}
  %m = llm.rms_norm "norm" %n weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  return
}

// -----

// Names at any depth are of one program.
func.func @inside_of_other_ops(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %c: i1) {
  scf.if %c {
    // expected-note @+1 {{first used here}}
    %n = llm.rms_norm "norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  }
  // expected-error @+1 {{name 'norm' must be unique among the ops of a program that are not in different repeats}}
  %m = llm.rms_norm "norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  return
}

// -----

func.func @in_another_block(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>) {
  cf.br ^next
^next:
  // expected-note @+1 {{first used here}}
  %n = llm.rms_norm "norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  cf.br ^last
^last:
  // expected-error @+1 {{name 'norm' must be unique among the ops of a program that are not in different repeats}}
  %m = llm.rms_norm "norm" %n weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
  return
}
