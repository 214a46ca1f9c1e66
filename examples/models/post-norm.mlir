// Norms behind the sums: a layer begins with the projection of what the one before
// left, and ends with a norm, as the first transformers had it.
module attributes {llm.model = "post-norm", llm.workload = #llm.workload<phase = decode, context = 24>} {
  func.func @decode(%arg0: tensor<?xi32> {llm.role = "tokens"}, %arg1: tensor<?xi32> {llm.role = "positions"}, %arg2: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg3: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x97xbf16> {llm.role = "logits"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) {
    %embed.weight = llm.param @embed.weight : tensor<97x36xbf16>
    %embed = llm.embedding "embed" %arg0, %embed.weight : tensor<97x36xbf16> -> tensor<?x36xbf16>
    %layers:3 = llm.repeat 3 layers<0-2> init(%residual = %embed : tensor<?x36xbf16>) caches(%k0 = %arg2 : tensor<3x?x?x2x8xbf16>, %v0 = %arg3 : tensor<3x?x?x2x8xbf16>) invariants(%positions = %arg1 : tensor<?xi32>) {
      %qkv_proj.weight = llm.param @qkv_proj.weight : tensor<36x80xbf16>
      %qkv_proj = llm.qkv_proj "qkv_proj" %residual, %qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %attention, %new_k0, %new_v0 = llm.attention gqa "attention" %qkv_proj at(%positions) cache(%k0, %v0) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %out_proj.weight = llm.param @out_proj.weight : tensor<48x36xbf16>
      %out_proj = llm.out_proj "out_proj" %attention, %out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %attn_norm.weight = llm.param @attn_norm.weight : tensor<36xbf16>
      %attn_norm, %attn_sum = llm.rms_norm "attn_norm" %out_proj residual(%residual) weight(%attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %ffn_up.weight = llm.param @ffn_up.weight : tensor<36x100xbf16>
      %ffn_up = llm.ffn_up "ffn_up" %attn_norm, %ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %ffn_down.weight = llm.param @ffn_down.weight : tensor<50x36xbf16>
      %ffn_down = llm.ffn_down "ffn_down" %ffn_up, %ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %ffn_norm.weight = llm.param @ffn_norm.weight : tensor<36xbf16>
      %ffn_norm, %ffn_sum = llm.rms_norm "ffn_norm" %ffn_down residual(%attn_norm) weight(%ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      llm.yield %ffn_norm, %new_k0, %new_v0 : tensor<?x36xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
    }
    %lm_head.norm = llm.param @lm_head.norm : tensor<36xbf16>
    %lm_head.weight = llm.param @lm_head.weight : tensor<36x97xbf16>
    %lm_head, %logits = llm.lm_head "lm_head" %layers#0 norm(%lm_head.norm) weight(%lm_head.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>, tensor<36x97xbf16> -> tensor<?xi32>, tensor<?x97xbf16>
    return %lm_head, %logits, %layers#1, %layers#2 : tensor<?xi32>, tensor<?x97xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>
  }
}
