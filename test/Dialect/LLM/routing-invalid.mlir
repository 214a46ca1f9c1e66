// RUN: shard-opt %s -split-input-file -verify-diagnostics

func.func @router_rows(%x: tensor<?x32xbf16>, %w: tensor<16x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'llm.router' op 'weight' must have 32 rows, the width of the input, found 16}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<16x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @router_tokens(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C1)
  // expected-error @+1 {{'tokens' must have type 'tensor<?x32xbf16>', that of the input, found 'tensor<?x32xf32>'}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xf32>, tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @router_bias(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>, %b: tensor<4xbf16>) {
  // (C2)
  // expected-error @+1 {{'bias' must have 8 entries, one an expert, found 4}}
  %0:3 = llm.router "r" %x, %w bias(%b) {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>, tensor<4xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @router_correction(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>, %b: tensor<4xbf16>) {
  // (C2)
  // expected-error @+1 {{'correction' must have 8 entries, one an expert, found 4}}
  %0:3 = llm.router "r" %x, %w correction(%b) {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>, tensor<4xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @router_top_k(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C3)
  // expected-error @+1 {{'top_k' must be between 1 and the number of experts, 8, found 9}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 9} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x9xi32>, tensor<?x9xf32>)
  return
}

// -----

func.func @router_indices(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C3)
  // expected-error @+1 {{'indices' must have 2 columns, top_k, found 3}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x3xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @router_weights(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C3)
  // expected-error @+1 {{'weights' must have 2 columns, top_k, found 3}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x3xf32>)
  return
}

// -----

func.func @router_groups(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C4)
  // expected-error @+1 {{'groups' must be positive and divide the number of experts, 8, found 3}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2, groups = 3} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @router_top_groups(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C4)
  // expected-error @+1 {{'top_groups' must be between 1 and 'groups', 4, found 5}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2, groups = 4, top_groups = 5} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @router_too_few_eligible(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C4)
  // expected-error @+1 {{'top_groups' must leave at least 'top_k', 3, experts, found 2}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 3, groups = 4, top_groups = 1} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x3xi32>, tensor<?x3xf32>)
  return
}

// -----

func.func @router_scale(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) {
  // (C5)
  // expected-error @+1 {{'scale' must be finite, found INF}}
  %0:3 = llm.router "r" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2, scale = 0x7FF0000000000000 : f64} : (tensor<?x32xbf16>, tensor<32x8xbf16>) -> (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @dispatch_width(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>) {
  // (C1)
  // expected-error @+1 {{'llm.dispatch' op 'rows' must have 32 columns, like the tokens, found 16}}
  %0:3 = llm.dispatch "d" %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x16xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
  return
}

// -----

func.func @dispatch_element(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>) {
  // (C1)
  // expected-error @+1 {{'rows' must have elements of type 'bf16', like the tokens, found 'f32'}}
  %0:3 = llm.dispatch "d" %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xf32>, tensor<1x1x8xi32>, tensor<?xi32>)
  return
}

// -----

func.func @dispatch_counts(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>) {
  // (C2)
  // expected-error @+1 {{'counts' must be [1, 1, 8], found 'tensor<1x2x8xi32>'}}
  %0:3 = llm.dispatch "d" %t, %i {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x2x8xi32>, tensor<?xi32>)
  return
}

// -----

func.func @dispatch_experts(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>) {
  // (C3)
  // expected-error @+1 {{'experts' must be at least the number of choices, 2, found 1}}
  %0:3 = llm.dispatch "d" %t, %i {experts = 1} : (tensor<?x32xbf16>, tensor<?x2xi32>) -> (tensor<?x32xbf16>, tensor<1x1x1xi32>, tensor<?xi32>)
  return
}

// -----

func.func @dispatch_weights(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x3xf32>) {
  // (C4)
  // expected-error @+1 {{'llm.dispatch' op 'weights' must have 2 columns, one a choice, found 3}}
  %0:3 = llm.dispatch "d" %t, %i weights(%w) {experts = 8} : (tensor<?x32xbf16>, tensor<?x2xi32>, tensor<?x3xf32>) -> (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>)
  return
}

// -----

func.func @combine_width(%y: tensor<?x32xbf16>, %c: tensor<1x1x8xi32>, %o: tensor<?xi32>, %w: tensor<?x2xf32>) {
  // (C1)
  // expected-error @+1 {{'llm.combine' op 'result' must have 32 columns, like the rows, found 16}}
  %x = llm.combine "c" %y, %c, %o, %w : (tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x16xbf16>
  return
}

// -----

func.func @combine_counts(%y: tensor<?x32xbf16>, %c: tensor<2x1x8xi32>, %o: tensor<?xi32>, %w: tensor<?x2xf32>) {
  // (C2)
  // expected-error @+1 {{'counts' must be [1, 1, 8], found 'tensor<2x1x8xi32>'}}
  %x = llm.combine "c" %y, %c, %o, %w : (tensor<?x32xbf16>, tensor<2x1x8xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x32xbf16>
  return
}
