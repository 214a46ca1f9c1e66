// The same two layers one after the other, each with dims of its own.
module attributes {llm.workload = #llm.workload<phase = decode, context = 128>} {
  func.func @decode(%tokens: tensor<?xi32>, %positions: tensor<?xi32>, %k0: tensor<?x?x2x16xbf16>, %v0: tensor<?x?x2x16xbf16>, %k1: tensor<?x?x2x16xbf16>, %v1: tensor<?x?x2x16xbf16>) -> tensor<?xi32> {
    %table = llm.param @embed.weight : tensor<256x64xbf16>
    %x0 = llm.embedding "embed" %tokens, %table : tensor<256x64xbf16> -> tensor<?x64xbf16>
    %w_an = llm.param @attn_norm.weight : tensor<64xbf16>
    %w_qkv = llm.param @qkv_proj.weight : tensor<64x192xbf16>
    %w_o = llm.param @out_proj.weight : tensor<128x64xbf16>
    %w_fn = llm.param @ffn_norm.weight : tensor<64xbf16>
    %w_up = llm.param @ffn_up.weight : tensor<64x160xbf16>
    %w_down = llm.param @ffn_down.weight : tensor<80x64xbf16>

    %an0 = llm.rms_norm "attn_norm" %x0 weight(%w_an) {epsilon = 1.0e-5} : tensor<?x64xbf16>
    %q0 = llm.qkv_proj "qkv_proj" %an0, %w_qkv {heads = 8, kv_heads = 2, head_dim = 16} : tensor<?x64xbf16> -> tensor<?x192xbf16>
    %a0, %kn0, %vn0 = llm.attention gqa "attention" %q0 at(%positions) cache(%k0, %v0) {heads = 8, kv_heads = 2, head_dim = 16, group = 4, scale = 0.25, rope = #llm.rope<dim = 16, theta = 1.0e4>} : tensor<?x192xbf16>, tensor<?x?x2x16xbf16> -> tensor<?x128xbf16>
    %o0 = llm.out_proj "out_proj" %a0, %w_o {heads = 8} : tensor<?x128xbf16> -> tensor<?x64xbf16>
    %fn0, %s0 = llm.rms_norm "ffn_norm" %o0 residual(%x0) weight(%w_fn) {epsilon = 1.0e-5} : tensor<?x64xbf16>
    %u0 = llm.ffn_up "ffn_up" %fn0, %w_up {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x64xbf16> -> tensor<?x80xbf16>
    %d0 = llm.ffn_down "ffn_down" %u0, %w_down : tensor<?x80xbf16> -> tensor<?x64xbf16>
    %x1 = llm.add %s0, %d0 : tensor<?x64xbf16>

    %an1 = llm.rms_norm "last.attn_norm" %x1 weight(%w_an) {epsilon = 1.0e-5} : tensor<?x64xbf16>
    %q1 = llm.qkv_proj "last.qkv_proj" %an1, %w_qkv {heads = 8, kv_heads = 2, head_dim = 16} : tensor<?x64xbf16> -> tensor<?x192xbf16>
    %a1, %kn1, %vn1 = llm.attention gqa "last.attention" %q1 at(%positions) cache(%k1, %v1) {heads = 8, kv_heads = 2, head_dim = 16, group = 4, scale = 0.25, rope = #llm.rope<dim = 16, theta = 1.0e4>} : tensor<?x192xbf16>, tensor<?x?x2x16xbf16> -> tensor<?x128xbf16>
    %o1 = llm.out_proj "last.out_proj" %a1, %w_o {heads = 8} : tensor<?x128xbf16> -> tensor<?x64xbf16>
    %fn1, %s1 = llm.rms_norm "last.ffn_norm" %o1 residual(%x1) weight(%w_fn) {epsilon = 1.0e-5} : tensor<?x64xbf16>
    %u1 = llm.ffn_up "last.ffn_up" %fn1, %w_up {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x64xbf16> -> tensor<?x80xbf16>
    %d1 = llm.ffn_down "last.ffn_down" %u1, %w_down : tensor<?x80xbf16> -> tensor<?x64xbf16>
    %x2 = llm.add %d1, %s1 : tensor<?x64xbf16>

    %w_n = llm.param @lm_head.norm : tensor<64xbf16>
    %w_h = llm.param @lm_head.weight : tensor<64x256xbf16>
    %t = llm.lm_head "lm_head" %x2 norm(%w_n) weight(%w_h) {epsilon = 1.0e-5} : tensor<?x64xbf16>, tensor<64x256xbf16> -> tensor<?xi32>
    return %t : tensor<?xi32>
  }
}
