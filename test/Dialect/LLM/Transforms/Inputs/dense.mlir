// Two layers of a dense model, as a repeat.
module attributes {llm.model = "small", llm.workload = #llm.workload<phase = decode, context = 128>} {
  func.func @decode(%tokens: tensor<?xi32>, %positions: tensor<?xi32>, %keys: tensor<2x?x?x2x16xbf16>, %values: tensor<2x?x?x2x16xbf16>) -> (tensor<?xi32>, tensor<2x?x?x2x16xbf16>, tensor<2x?x?x2x16xbf16>) {
    %table = llm.param @embed.weight : tensor<256x64xbf16>
    %x = llm.embedding "embed" %tokens, %table : tensor<256x64xbf16> -> tensor<?x64xbf16>
    %y, %k, %v = llm.repeat 2 init(%r = %x : tensor<?x64xbf16>) caches(%kc = %keys : tensor<2x?x?x2x16xbf16>, %vc = %values : tensor<2x?x?x2x16xbf16>) invariants(%p = %positions : tensor<?xi32>) {
      %w_an = llm.param @attn_norm.weight : tensor<64xbf16>
      %n1 = llm.rms_norm "attn_norm" %r weight(%w_an) {epsilon = 1.0e-5} : tensor<?x64xbf16>
      %w_qkv = llm.param @qkv_proj.weight : tensor<64x192xbf16>
      %q = llm.qkv_proj "qkv_proj" %n1, %w_qkv {heads = 8, kv_heads = 2, head_dim = 16} : tensor<?x64xbf16> -> tensor<?x192xbf16>
      %a, %k1, %v1 = llm.attention gqa "attention" %q at(%p) cache(%kc, %vc) {heads = 8, kv_heads = 2, head_dim = 16, group = 4, scale = 0.25, rope = #llm.rope<dim = 16, theta = 1.0e4>} : tensor<?x192xbf16>, tensor<?x?x2x16xbf16> -> tensor<?x128xbf16>
      %w_o = llm.param @out_proj.weight : tensor<128x64xbf16>
      %o = llm.out_proj "out_proj" %a, %w_o {heads = 8} : tensor<?x128xbf16> -> tensor<?x64xbf16>
      %w_fn = llm.param @ffn_norm.weight : tensor<64xbf16>
      %n2, %s = llm.rms_norm "ffn_norm" %o residual(%r) weight(%w_fn) {epsilon = 1.0e-5} : tensor<?x64xbf16>
      %w_up = llm.param @ffn_up.weight : tensor<64x160xbf16>
      %u = llm.ffn_up "ffn_up" %n2, %w_up {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x64xbf16> -> tensor<?x80xbf16>
      %w_down = llm.param @ffn_down.weight : tensor<80x64xbf16>
      %d = llm.ffn_down "ffn_down" %u, %w_down : tensor<?x80xbf16> -> tensor<?x64xbf16>
      %z = llm.add %s, %d : tensor<?x64xbf16>
      llm.yield %z, %k1, %v1 : tensor<?x64xbf16>, tensor<?x?x2x16xbf16>, tensor<?x?x2x16xbf16>
    }
    %w_n = llm.param @lm_head.norm : tensor<64xbf16>
    %w_h = llm.param @lm_head.weight : tensor<64x256xbf16>
    %t = llm.lm_head "lm_head" %y norm(%w_n) weight(%w_h) {epsilon = 1.0e-5} : tensor<?x64xbf16>, tensor<64x256xbf16> -> tensor<?xi32>
    return %t, %k, %v : tensor<?xi32>, tensor<2x?x?x2x16xbf16>, tensor<2x?x?x2x16xbf16>
  }
}
