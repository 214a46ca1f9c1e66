// Six towers beside each other: more values are needed at a time than a trellis holds.
module attributes {llm.model = "six-towers", llm.workload = #llm.workload<phase = decode, context = 24>} {
  func.func @decode(%arg0: tensor<?xi32> {llm.role = "tokens"}, %arg1: tensor<?xi32> {llm.role = "positions"}, %arg2: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg3: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg4: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg5: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg6: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg7: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg8: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg9: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg10: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg11: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg12: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg13: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x97xbf16> {llm.role = "logits"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) {
    %embed.weight = llm.param @embed.weight : tensor<97x36xbf16>
    %embed = llm.embedding "embed" %arg0, %embed.weight : tensor<97x36xbf16> -> tensor<?x36xbf16>
    %layers:13 = llm.repeat 3 layers<0-2> init(%residual = %embed : tensor<?x36xbf16>) caches(%k0 = %arg2 : tensor<3x?x?x2x8xbf16>, %v0 = %arg3 : tensor<3x?x?x2x8xbf16>, %k1 = %arg4 : tensor<3x?x?x2x8xbf16>, %v1 = %arg5 : tensor<3x?x?x2x8xbf16>, %k2 = %arg6 : tensor<3x?x?x2x8xbf16>, %v2 = %arg7 : tensor<3x?x?x2x8xbf16>, %k3 = %arg8 : tensor<3x?x?x2x8xbf16>, %v3 = %arg9 : tensor<3x?x?x2x8xbf16>, %k4 = %arg10 : tensor<3x?x?x2x8xbf16>, %v4 = %arg11 : tensor<3x?x?x2x8xbf16>, %k5 = %arg12 : tensor<3x?x?x2x8xbf16>, %v5 = %arg13 : tensor<3x?x?x2x8xbf16>) invariants(%positions = %arg1 : tensor<?xi32>) {
      %a.attn_norm.weight = llm.param @a.attn_norm.weight : tensor<36xbf16>
      %a.attn_norm = llm.rms_norm "a.attn_norm" %residual weight(%a.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %a.qkv_proj.weight = llm.param @a.qkv_proj.weight : tensor<36x80xbf16>
      %a.qkv_proj = llm.qkv_proj "a.qkv_proj" %a.attn_norm, %a.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %a.attention, %new_k0, %new_v0 = llm.attention gqa "a.attention" %a.qkv_proj at(%positions) cache(%k0, %v0) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %a.out_proj.weight = llm.param @a.out_proj.weight : tensor<48x36xbf16>
      %a.out_proj = llm.out_proj "a.out_proj" %a.attention, %a.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %a.ffn_norm.weight = llm.param @a.ffn_norm.weight : tensor<36xbf16>
      %a.ffn_norm, %a.residual = llm.rms_norm "a.ffn_norm" %a.out_proj residual(%residual) weight(%a.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %a.ffn_up.weight = llm.param @a.ffn_up.weight : tensor<36x100xbf16>
      %a.ffn_up = llm.ffn_up "a.ffn_up" %a.ffn_norm, %a.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %a.ffn_down.weight = llm.param @a.ffn_down.weight : tensor<50x36xbf16>
      %a.ffn_down = llm.ffn_down "a.ffn_down" %a.ffn_up, %a.ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %b.attn_norm.weight = llm.param @b.attn_norm.weight : tensor<36xbf16>
      %b.attn_norm = llm.rms_norm "b.attn_norm" %residual weight(%b.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %b.qkv_proj.weight = llm.param @b.qkv_proj.weight : tensor<36x80xbf16>
      %b.qkv_proj = llm.qkv_proj "b.qkv_proj" %b.attn_norm, %b.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %b.attention, %new_k1, %new_v1 = llm.attention gqa "b.attention" %b.qkv_proj at(%positions) cache(%k1, %v1) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %b.out_proj.weight = llm.param @b.out_proj.weight : tensor<48x36xbf16>
      %b.out_proj = llm.out_proj "b.out_proj" %b.attention, %b.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %b.ffn_norm.weight = llm.param @b.ffn_norm.weight : tensor<36xbf16>
      %b.ffn_norm, %b.residual = llm.rms_norm "b.ffn_norm" %b.out_proj residual(%residual) weight(%b.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %b.ffn_up.weight = llm.param @b.ffn_up.weight : tensor<36x100xbf16>
      %b.ffn_up = llm.ffn_up "b.ffn_up" %b.ffn_norm, %b.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %b.ffn_down.weight = llm.param @b.ffn_down.weight : tensor<50x36xbf16>
      %b.ffn_down = llm.ffn_down "b.ffn_down" %b.ffn_up, %b.ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %c.attn_norm.weight = llm.param @c.attn_norm.weight : tensor<36xbf16>
      %c.attn_norm = llm.rms_norm "c.attn_norm" %residual weight(%c.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %c.qkv_proj.weight = llm.param @c.qkv_proj.weight : tensor<36x80xbf16>
      %c.qkv_proj = llm.qkv_proj "c.qkv_proj" %c.attn_norm, %c.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %c.attention, %new_k2, %new_v2 = llm.attention gqa "c.attention" %c.qkv_proj at(%positions) cache(%k2, %v2) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %c.out_proj.weight = llm.param @c.out_proj.weight : tensor<48x36xbf16>
      %c.out_proj = llm.out_proj "c.out_proj" %c.attention, %c.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %c.ffn_norm.weight = llm.param @c.ffn_norm.weight : tensor<36xbf16>
      %c.ffn_norm, %c.residual = llm.rms_norm "c.ffn_norm" %c.out_proj residual(%residual) weight(%c.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %c.ffn_up.weight = llm.param @c.ffn_up.weight : tensor<36x100xbf16>
      %c.ffn_up = llm.ffn_up "c.ffn_up" %c.ffn_norm, %c.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %c.ffn_down.weight = llm.param @c.ffn_down.weight : tensor<50x36xbf16>
      %c.ffn_down = llm.ffn_down "c.ffn_down" %c.ffn_up, %c.ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %d.attn_norm.weight = llm.param @d.attn_norm.weight : tensor<36xbf16>
      %d.attn_norm = llm.rms_norm "d.attn_norm" %residual weight(%d.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %d.qkv_proj.weight = llm.param @d.qkv_proj.weight : tensor<36x80xbf16>
      %d.qkv_proj = llm.qkv_proj "d.qkv_proj" %d.attn_norm, %d.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %d.attention, %new_k3, %new_v3 = llm.attention gqa "d.attention" %d.qkv_proj at(%positions) cache(%k3, %v3) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %d.out_proj.weight = llm.param @d.out_proj.weight : tensor<48x36xbf16>
      %d.out_proj = llm.out_proj "d.out_proj" %d.attention, %d.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %d.ffn_norm.weight = llm.param @d.ffn_norm.weight : tensor<36xbf16>
      %d.ffn_norm, %d.residual = llm.rms_norm "d.ffn_norm" %d.out_proj residual(%residual) weight(%d.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %d.ffn_up.weight = llm.param @d.ffn_up.weight : tensor<36x100xbf16>
      %d.ffn_up = llm.ffn_up "d.ffn_up" %d.ffn_norm, %d.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %d.ffn_down.weight = llm.param @d.ffn_down.weight : tensor<50x36xbf16>
      %d.ffn_down = llm.ffn_down "d.ffn_down" %d.ffn_up, %d.ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %e.attn_norm.weight = llm.param @e.attn_norm.weight : tensor<36xbf16>
      %e.attn_norm = llm.rms_norm "e.attn_norm" %residual weight(%e.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %e.qkv_proj.weight = llm.param @e.qkv_proj.weight : tensor<36x80xbf16>
      %e.qkv_proj = llm.qkv_proj "e.qkv_proj" %e.attn_norm, %e.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %e.attention, %new_k4, %new_v4 = llm.attention gqa "e.attention" %e.qkv_proj at(%positions) cache(%k4, %v4) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %e.out_proj.weight = llm.param @e.out_proj.weight : tensor<48x36xbf16>
      %e.out_proj = llm.out_proj "e.out_proj" %e.attention, %e.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %e.ffn_norm.weight = llm.param @e.ffn_norm.weight : tensor<36xbf16>
      %e.ffn_norm, %e.residual = llm.rms_norm "e.ffn_norm" %e.out_proj residual(%residual) weight(%e.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %e.ffn_up.weight = llm.param @e.ffn_up.weight : tensor<36x100xbf16>
      %e.ffn_up = llm.ffn_up "e.ffn_up" %e.ffn_norm, %e.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %e.ffn_down.weight = llm.param @e.ffn_down.weight : tensor<50x36xbf16>
      %e.ffn_down = llm.ffn_down "e.ffn_down" %e.ffn_up, %e.ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %f.attn_norm.weight = llm.param @f.attn_norm.weight : tensor<36xbf16>
      %f.attn_norm = llm.rms_norm "f.attn_norm" %residual weight(%f.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %f.qkv_proj.weight = llm.param @f.qkv_proj.weight : tensor<36x80xbf16>
      %f.qkv_proj = llm.qkv_proj "f.qkv_proj" %f.attn_norm, %f.qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %f.attention, %new_k5, %new_v5 = llm.attention gqa "f.attention" %f.qkv_proj at(%positions) cache(%k5, %v5) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %f.out_proj.weight = llm.param @f.out_proj.weight : tensor<48x36xbf16>
      %f.out_proj = llm.out_proj "f.out_proj" %f.attention, %f.out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %f.ffn_norm.weight = llm.param @f.ffn_norm.weight : tensor<36xbf16>
      %f.ffn_norm, %f.residual = llm.rms_norm "f.ffn_norm" %f.out_proj residual(%residual) weight(%f.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %f.ffn_up.weight = llm.param @f.ffn_up.weight : tensor<36x100xbf16>
      %f.ffn_up = llm.ffn_up "f.ffn_up" %f.ffn_norm, %f.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %f.ffn_down.weight = llm.param @f.ffn_down.weight : tensor<50x36xbf16>
      %f.ffn_down = llm.ffn_down "f.ffn_down" %f.ffn_up, %f.ffn_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %a.sum = llm.add %a.residual, %a.ffn_down : tensor<?x36xbf16>
      %b.sum = llm.add %b.residual, %b.ffn_down : tensor<?x36xbf16>
      %c.sum = llm.add %c.residual, %c.ffn_down : tensor<?x36xbf16>
      %d.sum = llm.add %d.residual, %d.ffn_down : tensor<?x36xbf16>
      %e.sum = llm.add %e.residual, %e.ffn_down : tensor<?x36xbf16>
      %f.sum = llm.add %f.residual, %f.ffn_down : tensor<?x36xbf16>
      %s0 = llm.add %a.sum, %b.sum : tensor<?x36xbf16>
      %s1 = llm.add %s0, %c.sum : tensor<?x36xbf16>
      %s2 = llm.add %s1, %d.sum : tensor<?x36xbf16>
      %s3 = llm.add %s2, %e.sum : tensor<?x36xbf16>
      %out = llm.add %s3, %f.sum : tensor<?x36xbf16>
      llm.yield %out, %new_k0, %new_v0, %new_k1, %new_v1, %new_k2, %new_v2, %new_k3, %new_v3, %new_k4, %new_v4, %new_k5, %new_v5 : tensor<?x36xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
    }
    %lm_head.norm = llm.param @lm_head.norm : tensor<36xbf16>
    %lm_head.weight = llm.param @lm_head.weight : tensor<36x97xbf16>
    %lm_head, %logits = llm.lm_head "lm_head" %layers#0 norm(%lm_head.norm) weight(%lm_head.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>, tensor<36x97xbf16> -> tensor<?xi32>, tensor<?x97xbf16>
    return %lm_head, %logits, %layers#1, %layers#2, %layers#3, %layers#4, %layers#5, %layers#6, %layers#7, %layers#8, %layers#9, %layers#10, %layers#11, %layers#12 : tensor<?xi32>, tensor<?x97xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>
  }
}
