// A dense feed-forward block after attention, and experts beside both of them,
// which read what entered the layer: a layer as Arctic has it.
module attributes {llm.model = "dense-residual", llm.workload = #llm.workload<phase = decode, context = 24>} {
  func.func @decode(%arg0: tensor<?xi32> {llm.role = "tokens"}, %arg1: tensor<?xi32> {llm.role = "positions"}, %arg2: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, %arg3: tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x97xbf16> {llm.role = "logits"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}, tensor<3x?x?x2x8xbf16> {llm.role = "cache"}) {
    %embed.weight = llm.param @embed.weight : tensor<97x36xbf16>
    %embed = llm.embedding "embed" %arg0, %embed.weight : tensor<97x36xbf16> -> tensor<?x36xbf16>
    %layers:3 = llm.repeat 3 layers<0-2> init(%residual = %embed : tensor<?x36xbf16>) caches(%k0 = %arg2 : tensor<3x?x?x2x8xbf16>, %v0 = %arg3 : tensor<3x?x?x2x8xbf16>) invariants(%positions = %arg1 : tensor<?xi32>) {
      %attn_norm.weight = llm.param @attn_norm.weight : tensor<36xbf16>
      %attn_norm = llm.rms_norm "attn_norm" %residual weight(%attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %qkv_proj.weight = llm.param @qkv_proj.weight : tensor<36x80xbf16>
      %qkv_proj = llm.qkv_proj "qkv_proj" %attn_norm, %qkv_proj.weight {head_dim = 8, heads = 6, kv_heads = 2} : tensor<?x36xbf16> -> tensor<?x80xbf16>
      %attention, %new_k0, %new_v0 = llm.attention gqa "attention" %qkv_proj at(%positions) cache(%k0, %v0) {group = 3, head_dim = 8, heads = 6, kv_heads = 2, rope = #llm.rope<dim = 8, theta = 10000.0>, scale = 0.35355339059327373} : tensor<?x80xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x48xbf16>
      %out_proj.weight = llm.param @out_proj.weight : tensor<48x36xbf16>
      %out_proj = llm.out_proj "out_proj" %attention, %out_proj.weight {heads = 6} : tensor<?x48xbf16> -> tensor<?x36xbf16>
      %dense_norm.weight = llm.param @dense_norm.weight : tensor<36xbf16>
      %dense_norm, %attended = llm.rms_norm "dense_norm" %out_proj residual(%residual) weight(%dense_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %dense_up.weight = llm.param @dense_up.weight : tensor<36x100xbf16>
      %dense_up = llm.ffn_up "dense_up" %dense_norm, %dense_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x50xbf16>
      %dense_down.weight = llm.param @dense_down.weight : tensor<50x36xbf16>
      %dense_down = llm.ffn_down "dense_down" %dense_up, %dense_down.weight : tensor<?x50xbf16> -> tensor<?x36xbf16>
      %expert_norm.weight = llm.param @expert_norm.weight : tensor<36xbf16>
      %expert_norm = llm.rms_norm "expert_norm" %residual weight(%expert_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %router.weight = llm.param @router.weight : tensor<36x6xbf16>
      %router, %indices, %weights = llm.router "router" %expert_norm, %router.weight {normalize = true, scoring = #llm.scoring<softmax>, top_k = 2} : tensor<?x36xbf16>, tensor<36x6xbf16>
      %dispatch, %counts, %origins = llm.dispatch "dispatch" %router, %indices {experts = 6} : tensor<?x36xbf16>, tensor<?x2xi32>
      %expert_up.weight = llm.param @expert_up.weight : tensor<6x36x40xbf16>
      %expert_up = llm.ffn_up "expert_up" %dispatch, %expert_up.weight counts(%counts) {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16>, tensor<1x1x6xi32> -> tensor<?x20xbf16>
      %expert_down.weight = llm.param @expert_down.weight : tensor<6x20x36xbf16>
      %expert_down = llm.ffn_down "expert_down" %expert_up, %expert_down.weight counts(%counts) : tensor<?x20xbf16>, tensor<1x1x6xi32> -> tensor<?x36xbf16>
      %combine = llm.combine "combine" %expert_down, %counts, %origins, %weights : tensor<?x36xbf16>, tensor<1x1x6xi32>, tensor<?x2xf32>
      %kept = llm.add %attended, %dense_down : tensor<?x36xbf16>
      %out = llm.add %kept, %combine : tensor<?x36xbf16>
      llm.yield %out, %new_k0, %new_v0 : tensor<?x36xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>
    }
    %lm_head.norm = llm.param @lm_head.norm : tensor<36xbf16>
    %lm_head.weight = llm.param @lm_head.weight : tensor<36x97xbf16>
    %lm_head, %logits = llm.lm_head "lm_head" %layers#0 norm(%lm_head.norm) weight(%lm_head.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>, tensor<36x97xbf16> -> tensor<?xi32>, tensor<?x97xbf16>
    return %lm_head, %logits, %layers#1, %layers#2 : tensor<?xi32>, tensor<?x97xbf16>, tensor<3x?x?x2x8xbf16>, tensor<3x?x?x2x8xbf16>
  }
}
