// Params of a repeat count once a layer; a shared table counts once.

// RUN: shard-translate --parameter-count %s | FileCheck %s
// CHECK: {{^}}72{{$}}

func.func @tied(%tokens: tensor<?xi32>) -> tensor<?xi32> {
  %table = llm.param @embed.weight : tensor<5x4xbf16>
  %x = llm.embedding "embed" %tokens, %table : tensor<5x4xbf16> -> tensor<?x4xbf16>
  %y = llm.repeat 3 init(%r = %x : tensor<?x4xbf16>) {
    %w = llm.param @proj.weight : tensor<4x4xbf16>
    %u = llm.linear "proj" %r, %w : tensor<?x4xbf16> -> tensor<?x4xbf16>
    %s = llm.add %r, %u : tensor<?x4xbf16>
    llm.yield %s : tensor<?x4xbf16>
  }
  %norm = llm.param @lm_head.norm : tensor<4xbf16>
  %ids = llm.lm_head "lm_head" %y norm(%norm) weight(%table) {epsilon = 1.0e-5, tied} : tensor<?x4xbf16>, tensor<5x4xbf16> -> tensor<?xi32>
  return %ids : tensor<?xi32>
}
