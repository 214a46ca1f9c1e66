module attributes {llm.architecture = "DeepseekV3ForCausalLM", llm.model = "small-mla", llm.workload = #llm.workload<phase = decode, context = 24>} {
  func.func @decode(%arg0: tensor<?xi32> {llm.role = "tokens"}, %arg1: tensor<?xi32> {llm.role = "positions"}, %arg2: tensor<1x?x?x18xbf16> {llm.role = "cache"}, %arg3: tensor<2x?x?x18xbf16> {llm.role = "cache"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x97xbf16> {llm.role = "logits"}, tensor<1x?x?x18xbf16> {llm.role = "cache"}, tensor<2x?x?x18xbf16> {llm.role = "cache"}) {
    %embed.weight = llm.param @embed.weight : tensor<97x36xbf16> from "model.embed_tokens.weight"
    %embed = llm.embedding "embed" %arg0, %embed.weight : tensor<97x36xbf16> -> tensor<?x36xbf16>
    %layers:2 = llm.repeat 1 layers<0> init(%residual = %embed : tensor<?x36xbf16>) caches(%cache = %arg2 : tensor<1x?x?x18xbf16>) invariants(%positions = %arg1 : tensor<?xi32>) {
      %dense.attn_norm.weight = llm.param @dense.attn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.input_layernorm.weight"
      %dense.attn_norm = llm.rms_norm "dense.attn_norm" %residual weight(%dense.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %dense.q_down.weight = llm.param @dense.q_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.q_a_proj.weight" transposed
      %dense.q_down = llm.linear "dense.q_down" %dense.attn_norm, %dense.q_down.weight : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %dense.q_up.norm = llm.param @dense.q_up.norm : tensor<18xbf16> from "model.layers.{layer}.self_attn.q_a_layernorm.weight"
      %dense.q_up.weight = llm.param @dense.q_up.weight : tensor<18x60xbf16> from "model.layers.{layer}.self_attn.q_b_proj.weight" transposed
      %dense.q_up = llm.linear "dense.q_up" %dense.q_down, %dense.q_up.weight norm(%dense.q_up.norm) {epsilon = 1.0e-6, heads = 6} : tensor<?x18xbf16> -> tensor<?x60xbf16>
      %dense.kv_down.weight = llm.param @dense.kv_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight" transposed
      %dense.kv_down = llm.linear "dense.kv_down" %dense.attn_norm, %dense.kv_down.weight : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %dense.attention.kv_norm = llm.param @dense.attention.kv_norm : tensor<14xbf16> from "model.layers.{layer}.self_attn.kv_a_layernorm.weight"
      %dense.attention.kv_up = llm.param @dense.attention.kv_up : tensor<14x96xbf16> from "model.layers.{layer}.self_attn.kv_b_proj.weight" transposed
      %dense.attention, %new_cache = llm.attention mla "dense.attention" %dense.q_up, %dense.kv_down at(%positions) cache(%cache) kv_norm(%dense.attention.kv_norm) kv_up(%dense.attention.kv_up) {heads = 6, kv_norm_epsilon = 1.0e-6, nope_dim = 6, rank = 14, rope = #llm.rope<dim = 4, theta = 10000.0, style = interleaved, scaling = yarn, factor = 4.0, original_context = 16>, rope_dim = 4, scale = 0.40998202311927084, value_dim = 10} : tensor<?x60xbf16>, tensor<?x?x18xbf16> -> tensor<?x60xbf16>
      %dense.out_proj.weight = llm.param @dense.out_proj.weight : tensor<60x36xbf16> from "model.layers.{layer}.self_attn.o_proj.weight" transposed
      %dense.out_proj = llm.out_proj "dense.out_proj" %dense.attention, %dense.out_proj.weight {heads = 6} : tensor<?x60xbf16> -> tensor<?x36xbf16>
      %dense.ffn_norm.weight = llm.param @dense.ffn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.post_attention_layernorm.weight"
      %dense.ffn_norm, %residual_1 = llm.rms_norm "dense.ffn_norm" %dense.out_proj residual(%residual) weight(%dense.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %dense.ffn_up.weight = llm.param @dense.ffn_up.weight : tensor<36x88xbf16> from dim 1 [
          44 of "model.layers.{layer}.mlp.gate_proj.weight" transposed,
          44 of "model.layers.{layer}.mlp.up_proj.weight" transposed]
      %dense.ffn_up = llm.ffn_up "dense.ffn_up" %dense.ffn_norm, %dense.ffn_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x44xbf16>
      %dense.ffn_down.weight = llm.param @dense.ffn_down.weight : tensor<44x36xbf16> from "model.layers.{layer}.mlp.down_proj.weight" transposed
      %dense.ffn_down = llm.ffn_down "dense.ffn_down" %dense.ffn_up, %dense.ffn_down.weight : tensor<?x44xbf16> -> tensor<?x36xbf16>
      %sum = llm.add %residual_1, %dense.ffn_down : tensor<?x36xbf16>
      llm.yield %sum, %new_cache : tensor<?x36xbf16>, tensor<?x?x18xbf16>
    }
    %layers_0:2 = llm.repeat 2 layers<1-2> init(%residual = %layers#0 : tensor<?x36xbf16>) caches(%cache = %arg3 : tensor<2x?x?x18xbf16>) invariants(%positions = %arg1 : tensor<?xi32>) {
      %moe.attn_norm.weight = llm.param @moe.attn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.input_layernorm.weight"
      %moe.attn_norm = llm.rms_norm "moe.attn_norm" %residual weight(%moe.attn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %moe.q_down.weight = llm.param @moe.q_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.q_a_proj.weight" transposed
      %moe.q_down = llm.linear "moe.q_down" %moe.attn_norm, %moe.q_down.weight : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %moe.q_up.norm = llm.param @moe.q_up.norm : tensor<18xbf16> from "model.layers.{layer}.self_attn.q_a_layernorm.weight"
      %moe.q_up.weight = llm.param @moe.q_up.weight : tensor<18x60xbf16> from "model.layers.{layer}.self_attn.q_b_proj.weight" transposed
      %moe.q_up = llm.linear "moe.q_up" %moe.q_down, %moe.q_up.weight norm(%moe.q_up.norm) {epsilon = 1.0e-6, heads = 6} : tensor<?x18xbf16> -> tensor<?x60xbf16>
      %moe.kv_down.weight = llm.param @moe.kv_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight" transposed
      %moe.kv_down = llm.linear "moe.kv_down" %moe.attn_norm, %moe.kv_down.weight : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %moe.attention.kv_norm = llm.param @moe.attention.kv_norm : tensor<14xbf16> from "model.layers.{layer}.self_attn.kv_a_layernorm.weight"
      %moe.attention.kv_up = llm.param @moe.attention.kv_up : tensor<14x96xbf16> from "model.layers.{layer}.self_attn.kv_b_proj.weight" transposed
      %moe.attention, %new_cache = llm.attention mla "moe.attention" %moe.q_up, %moe.kv_down at(%positions) cache(%cache) kv_norm(%moe.attention.kv_norm) kv_up(%moe.attention.kv_up) {heads = 6, kv_norm_epsilon = 1.0e-6, nope_dim = 6, rank = 14, rope = #llm.rope<dim = 4, theta = 10000.0, style = interleaved, scaling = yarn, factor = 4.0, original_context = 16>, rope_dim = 4, scale = 0.40998202311927084, value_dim = 10} : tensor<?x60xbf16>, tensor<?x?x18xbf16> -> tensor<?x60xbf16>
      %moe.out_proj.weight = llm.param @moe.out_proj.weight : tensor<60x36xbf16> from "model.layers.{layer}.self_attn.o_proj.weight" transposed
      %moe.out_proj = llm.out_proj "moe.out_proj" %moe.attention, %moe.out_proj.weight {heads = 6} : tensor<?x60xbf16> -> tensor<?x36xbf16>
      %moe.ffn_norm.weight = llm.param @moe.ffn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.post_attention_layernorm.weight"
      %moe.ffn_norm, %residual_1 = llm.rms_norm "moe.ffn_norm" %moe.out_proj residual(%residual) weight(%moe.ffn_norm.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>
      %moe.router.weight = llm.param @moe.router.weight : tensor<36x6xbf16> from "model.layers.{layer}.mlp.gate.weight" transposed
      %moe.router.correction = llm.param @moe.router.correction : tensor<6xf32> from "model.layers.{layer}.mlp.gate.e_score_correction_bias"
      %moe.router, %indices, %weights = llm.router "moe.router" %moe.ffn_norm, %moe.router.weight correction(%moe.router.correction) {groups = 3, normalize = true, scale = 2.5, scoring = #llm.scoring<sigmoid>, top_groups = 2, top_k = 2} : tensor<?x36xbf16>, tensor<36x6xbf16>
      %moe.dispatch, %counts, %origins = llm.dispatch "moe.dispatch" %moe.router, %indices {experts = 6} : tensor<?x36xbf16>, tensor<?x2xi32>
      %moe.ffn_up.weight = llm.param @moe.ffn_up.weight : tensor<6x36x40xbf16> from dim 1 [
          20 of "model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight" transposed,
          20 of "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight" transposed]
      %moe.ffn_up = llm.ffn_up "moe.ffn_up" %moe.dispatch, %moe.ffn_up.weight counts(%counts) {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16>, tensor<1x1x6xi32> -> tensor<?x20xbf16>
      %moe.ffn_down.weight = llm.param @moe.ffn_down.weight : tensor<6x20x36xbf16> from "model.layers.{layer}.mlp.experts.{expert}.down_proj.weight" transposed
      %moe.ffn_down = llm.ffn_down "moe.ffn_down" %moe.ffn_up, %moe.ffn_down.weight counts(%counts) : tensor<?x20xbf16>, tensor<1x1x6xi32> -> tensor<?x36xbf16>
      %moe.combine = llm.combine "moe.combine" %moe.ffn_down, %counts, %origins, %weights : tensor<?x36xbf16>, tensor<1x1x6xi32>, tensor<?x2xf32>
      %moe.shared_up.weight = llm.param @moe.shared_up.weight : tensor<36x40xbf16> from dim 1 [
          20 of "model.layers.{layer}.mlp.shared_experts.gate_proj.weight" transposed,
          20 of "model.layers.{layer}.mlp.shared_experts.up_proj.weight" transposed]
      %moe.shared_up = llm.ffn_up "moe.shared_up" %moe.ffn_norm, %moe.shared_up.weight {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x20xbf16>
      %moe.shared_down.weight = llm.param @moe.shared_down.weight : tensor<20x36xbf16> from "model.layers.{layer}.mlp.shared_experts.down_proj.weight" transposed
      %moe.shared_down = llm.ffn_down "moe.shared_down" %moe.shared_up, %moe.shared_down.weight : tensor<?x20xbf16> -> tensor<?x36xbf16>
      %sum = llm.add %moe.combine, %moe.shared_down : tensor<?x36xbf16>
      %sum_2 = llm.add %residual_1, %sum : tensor<?x36xbf16>
      llm.yield %sum_2, %new_cache : tensor<?x36xbf16>, tensor<?x?x18xbf16>
    }
    %lm_head.norm = llm.param @lm_head.norm : tensor<36xbf16> from "model.norm.weight"
    %lm_head.weight = llm.param @lm_head.weight : tensor<36x97xbf16> from "lm_head.weight" transposed
    %lm_head, %logits = llm.lm_head "lm_head" %layers_0#0 norm(%lm_head.norm) weight(%lm_head.weight) {epsilon = 1.0e-5} : tensor<?x36xbf16>, tensor<36x97xbf16> -> tensor<?xi32>, tensor<?x97xbf16>
    return %lm_head, %logits, %layers#1, %layers_0#1 : tensor<?xi32>, tensor<?x97xbf16>, tensor<1x?x?x18xbf16>, tensor<2x?x?x18xbf16>
  }
}
