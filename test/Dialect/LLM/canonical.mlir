// RUN: shard-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: shard-opt %s --canonicalize | FileCheck %s --check-prefix=DCE

// A weight that two ops read is written twice and held once.
// CSE-LABEL: @equal_params
// CSE:         %[[W:.*]] = llm.param @w
// CSE-NOT:     llm.param @w
// CSE:         llm.linear "a" %{{.*}}, %[[W]]
// CSE:         llm.linear "b" %{{.*}}, %[[W]]
func.func @equal_params(%x: tensor<?x8xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>) {
  %v = llm.param @w : tensor<8x8xbf16>
  %w = llm.param @w : tensor<8x8xbf16>
  %a = llm.linear "a" %x, %v : tensor<?x8xbf16> -> tensor<?x8xbf16>
  %b = llm.linear "b" %x, %w : tensor<?x8xbf16> -> tensor<?x8xbf16>
  return %a, %b : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// CSE-LABEL: @other_params
// CSE:         llm.param @v
// CSE:         llm.param @w
func.func @other_params() -> (tensor<8xbf16>, tensor<8xbf16>) {
  %v = llm.param @v : tensor<8xbf16>
  %w = llm.param @w : tensor<8xbf16>
  return %v, %w : tensor<8xbf16>, tensor<8xbf16>
}

// DCE-LABEL: @unused_ops
// DCE-NEXT:    return
func.func @unused_ops(%x: tensor<?x8xbf16>, %p: tensor<?xi32>) {
  %w = llm.param @w : tensor<8x8xbf16>
  %a = llm.linear "a" %x, %w : tensor<?x8xbf16> -> tensor<?x8xbf16>
  %b = llm.add %x, %a : tensor<?x8xbf16>
  %s = llm.sum_squares %b : tensor<?x8xbf16>
  return
}

// A repeat has the effects of its body, which has none.
// DCE-LABEL: @unused_repeat
// DCE-NEXT:    return
func.func @unused_repeat(%x: tensor<?x8xbf16>) {
  %y = llm.repeat 3 init(%r = %x : tensor<?x8xbf16>) {
    %s = llm.add %r, %r : tensor<?x8xbf16>
    llm.yield %s : tensor<?x8xbf16>
  }
  return
}
