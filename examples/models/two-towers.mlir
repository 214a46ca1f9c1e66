// Two towers of attention and a feed-forward block, each with a residual of its
// own, of which the sum goes on.
module attributes {llm.model = "two-towers", llm.workload = #llm.workload<phase = decode, context = 24>} {
  func.func @decode(%arg0: tensor<?xi32> {llm.role = "tokens"}, %arg1: tensor<?xi32> {llm.role = "positions"}, %arg2: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg3: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg4: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg5: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x97xbf16> {llm.role = "logits"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) {
    %embed.weight = llm.param @embed.weight : tensor<97x36xbf16>
    %embed = llm.embedding "embed" %arg0, %embed.weight : tensor<97x36xbf16> -> tensor<?x36xbf16>
    %layers:5 = llm.repeat 3 layers<0-2> init(%residual = %embed : tensor<?x36xbf16>) caches(%k0 = %arg2 : tensor<3x?x?x2x8xbf16>, %v0 = %arg3 : tensor<3x?x?x2x8xbf16>, %k1 = %arg4 : tensor<3x?x?x2x8xbf16>, %v1 = %arg5 : tensor<3x?x?x2x8xbf16>) invariants(%positions = %arg1 : tensor<?xi32>) {
      %left.attn_norm.weight = llm.param @left.attn_norm.weight : tensor<36xbf16>
      %left.attn_norm = llm.rms_norm "left.attn_norm" %residual weight(%left.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %left.qkv_proj.weight = llm.param @left.qkv_proj.weight : tensor<36x80xbf16>
      %left.qkv_proj = llm.qkv_proj "left.qkv_proj" %left.attn_norm, %left.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %left.attention, %new_k0, %new_v0 = llm.attention gqa "left.attention" %left.qkv_proj at(%positions) cache(%k0, %v0) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %left.out_proj.weight = llm.param @left.out_proj.weight : tensor<48x36xbf16>
      %left.out_proj = llm.out_proj "left.out_proj" %left.attention, %left.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %left.ffn_norm.weight = llm.param @left.ffn_norm.weight : tensor<36xbf16>
      %left.ffn_norm, %left.residual = llm.rms_norm "left.ffn_norm" %left.out_proj residual(%residual) weight(%left.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %left.ffn_up.weight = llm.param @left.ffn_up.weight : tensor<36x100xbf16>
      %left.ffn_up = llm.ffn_up "left.ffn_up" %left.ffn_norm, %left.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %left.ffn_down.weight = llm.param @left.ffn_down.weight : tensor<50x36xbf16>
      %left.ffn_down = llm.ffn_down "left.ffn_down" %left.ffn_up, %left.ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %right.attn_norm.weight = llm.param @right.attn_norm.weight : tensor<36xbf16>
      %right.attn_norm = llm.rms_norm "right.attn_norm" %residual weight(%right.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %right.qkv_proj.weight = llm.param @right.qkv_proj.weight : tensor<36x80xbf16>
      %right.qkv_proj = llm.qkv_proj "right.qkv_proj" %right.attn_norm, %right.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %right.attention, %new_k1, %new_v1 = llm.attention gqa "right.attention" %right.qkv_proj at(%positions) cache(%k1, %v1) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %right.out_proj.weight = llm.param @right.out_proj.weight : tensor<48x36xbf16>
      %right.out_proj = llm.out_proj "right.out_proj" %right.attention, %right.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %right.ffn_norm.weight = llm.param @right.ffn_norm.weight : tensor<36xbf16>
      %right.ffn_norm, %right.residual = llm.rms_norm "right.ffn_norm" %right.out_proj residual(%residual) weight(%right.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %right.ffn_up.weight = llm.param @right.ffn_up.weight : tensor<36x40xbf16>
      %right.ffn_up = llm.ffn_up "right.ffn_up" %right.ffn_norm, %right.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x20xbf16>
      %right.ffn_down.weight = llm.param @right.ffn_down.weight : tensor<20x36xbf16>
      %right.ffn_down = llm.ffn_down "right.ffn_down" %right.ffn_up, %right.ffn_down.weight : tensor<?x20xbf16> -> tensor<?x36xbf16>
      %left.sum = llm.add %left.residual, %left.ffn_down : tensor<?x36xbf16>
      %right.sum = llm.add %right.residual, %right.ffn_down : tensor<?x36xbf16>
      %out = llm.add %left.sum, %right.sum : tensor<?x36xbf16>
      llm.yield %out, %new_k0, %new_v0, %new_k1, %new_v1 : tensor<?x36xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
    }
    %lm_head.norm = llm.param @lm_head.norm : tensor<36xbf16>
    %lm_head.weight = llm.param @lm_head.weight : tensor<36x97xbf16>
    %lm_head, %logits = llm.lm_head "lm_head" %layers#0 norm(%lm_head.norm) weight(%lm_head.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>, tensor<36x97xbf16> -> tensor<?xi32>, tensor<?x97xbf16>
    return %lm_head, %logits, %layers#1, %layers#2, %layers#3, %layers#4 : tensor<?xi32>, tensor<?x97xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>
  }
}
