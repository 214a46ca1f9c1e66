module attributes {llm.model = "small-mla", llm.workload = #llm.workload<phase = decode, context = 24>} {
  func.func @decode(%arg0: tensor<?xi32> {llm.role = "tokens"}, %arg1: tensor<?xi32> {llm.role = "positions"}, %arg2: tensor<1x?x?x18xbf16> {llm.role = "cache"}, %arg3: tensor<2x?x?x18xbf16> {llm.role = "cache"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x97xbf16> {llm.role = "logits"}, tensor<1x?x?x18xbf16> {llm.role = "cache"}, tensor<2x?x?x18xbf16> {llm.role = "cache"}) {
    %0 = llm.param @embed.weight : tensor<97x36xbf16> from "model.embed_tokens.weight"
    %1 = llm.embedding "embed" %arg0, %0 : tensor<97x36xbf16> -> tensor<?x36xbf16>
    %x:2 = llm.repeat 1 layers<0> init(%arg4 = %1 : tensor<?x36xbf16>) caches(%arg5 = %arg2 : tensor<1x?x?x18xbf16>) invariants(%arg6 = %arg1 : tensor<?xi32>) {
      %4 = llm.param @dense.attn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.input_layernorm.weight"
      %result = llm.rms_norm "dense.attn_norm" %arg4 weight(%4) {epsilon = 1.000000e-05} : tensor<?x36xbf16>
      %5 = llm.param @dense.q_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.q_a_proj.weight" transposed
      %6 = llm.linear "dense.q_down" %result, %5 : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %7 = llm.param @dense.q_up.norm : tensor<18xbf16> from "model.layers.{layer}.self_attn.q_a_layernorm.weight"
      %8 = llm.param @dense.q_up.weight : tensor<18x60xbf16> from "model.layers.{layer}.self_attn.q_b_proj.weight" transposed
      %9 = llm.linear "dense.q_up" %6, %8 norm(%7) {epsilon = 9.9999999999999995E-7, heads = 6} : tensor<?x18xbf16> -> tensor<?x60xbf16>
      %10 = llm.param @dense.kv_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight" transposed
      %11 = llm.linear "dense.kv_down" %result, %10 : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %12 = llm.param @dense.attention.kv_norm : tensor<14xbf16> from "model.layers.{layer}.self_attn.kv_a_layernorm.weight"
      %13 = llm.param @dense.attention.kv_up : tensor<14x96xbf16> from "model.layers.{layer}.self_attn.kv_b_proj.weight" transposed
      %result_1, %new_caches = llm.attention mla "dense.attention" %9, %11 at(%arg6) cache(%arg5) kv_norm(%12) kv_up(%13) {heads = 6, kv_norm_epsilon = 9.9999999999999995E-7, nope_dim = 6, rank = 14, rope = #llm.rope<dim = 4, theta = 1.000000e+04, style = interleaved, scaling = yarn, factor = 4.000000e+00, original_context = 16>, rope_dim = 4, scale = 0.40998202311927084, value_dim = 10} : tensor<?x60xbf16>, tensor<?x?x18xbf16> -> tensor<?x60xbf16>
      %14 = llm.param @dense.out_proj.weight : tensor<60x36xbf16> from "model.layers.{layer}.self_attn.o_proj.weight" transposed
      %15 = llm.out_proj "dense.out_proj" %result_1, %14 {heads = 6} : tensor<?x60xbf16> -> tensor<?x36xbf16>
      %16 = llm.param @dense.ffn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.post_attention_layernorm.weight"
      %result_2, %sum = llm.rms_norm "dense.ffn_norm" %15 residual(%arg4) weight(%16) {epsilon = 1.000000e-05} : tensor<?x36xbf16>
      %17 = llm.param @dense.ffn_up.weight : tensor<36x88xbf16> from dim 1 [
          44 of "model.layers.{layer}.mlp.gate_proj.weight" transposed,
          44 of "model.layers.{layer}.mlp.up_proj.weight" transposed]
      %18 = llm.ffn_up "dense.ffn_up" %result_2, %17 {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x44xbf16>
      %19 = llm.param @dense.ffn_down.weight : tensor<44x36xbf16> from "model.layers.{layer}.mlp.down_proj.weight" transposed
      %20 = llm.ffn_down "dense.ffn_down" %18, %19 : tensor<?x44xbf16> -> tensor<?x36xbf16>
      %21 = llm.add %sum, %20 : tensor<?x36xbf16>
      llm.yield %21, %new_caches : tensor<?x36xbf16>, tensor<?x?x18xbf16>
    }
    %x_0:2 = llm.repeat 2 layers<1-2> init(%arg4 = %x#0 : tensor<?x36xbf16>) caches(%arg5 = %arg3 : tensor<2x?x?x18xbf16>) invariants(%arg6 = %arg1 : tensor<?xi32>) {
      %4 = llm.param @moe.attn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.input_layernorm.weight"
      %result = llm.rms_norm "moe.attn_norm" %arg4 weight(%4) {epsilon = 1.000000e-05} : tensor<?x36xbf16>
      %5 = llm.param @moe.q_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.q_a_proj.weight" transposed
      %6 = llm.linear "moe.q_down" %result, %5 : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %7 = llm.param @moe.q_up.norm : tensor<18xbf16> from "model.layers.{layer}.self_attn.q_a_layernorm.weight"
      %8 = llm.param @moe.q_up.weight : tensor<18x60xbf16> from "model.layers.{layer}.self_attn.q_b_proj.weight" transposed
      %9 = llm.linear "moe.q_up" %6, %8 norm(%7) {epsilon = 9.9999999999999995E-7, heads = 6} : tensor<?x18xbf16> -> tensor<?x60xbf16>
      %10 = llm.param @moe.kv_down.weight : tensor<36x18xbf16> from "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight" transposed
      %11 = llm.linear "moe.kv_down" %result, %10 : tensor<?x36xbf16> -> tensor<?x18xbf16>
      %12 = llm.param @moe.attention.kv_norm : tensor<14xbf16> from "model.layers.{layer}.self_attn.kv_a_layernorm.weight"
      %13 = llm.param @moe.attention.kv_up : tensor<14x96xbf16> from "model.layers.{layer}.self_attn.kv_b_proj.weight" transposed
      %result_1, %new_caches = llm.attention mla "moe.attention" %9, %11 at(%arg6) cache(%arg5) kv_norm(%12) kv_up(%13) {heads = 6, kv_norm_epsilon = 9.9999999999999995E-7, nope_dim = 6, rank = 14, rope = #llm.rope<dim = 4, theta = 1.000000e+04, style = interleaved, scaling = yarn, factor = 4.000000e+00, original_context = 16>, rope_dim = 4, scale = 0.40998202311927084, value_dim = 10} : tensor<?x60xbf16>, tensor<?x?x18xbf16> -> tensor<?x60xbf16>
      %14 = llm.param @moe.out_proj.weight : tensor<60x36xbf16> from "model.layers.{layer}.self_attn.o_proj.weight" transposed
      %15 = llm.out_proj "moe.out_proj" %result_1, %14 {heads = 6} : tensor<?x60xbf16> -> tensor<?x36xbf16>
      %16 = llm.param @moe.ffn_norm.weight : tensor<36xbf16> from "model.layers.{layer}.post_attention_layernorm.weight"
      %result_2, %sum = llm.rms_norm "moe.ffn_norm" %15 residual(%arg4) weight(%16) {epsilon = 1.000000e-05} : tensor<?x36xbf16>
      %17 = llm.param @moe.router.weight : tensor<36x6xbf16> from "model.layers.{layer}.mlp.gate.weight" transposed
      %18 = llm.param @moe.router.correction : tensor<6xf32> from "model.layers.{layer}.mlp.gate.e_score_correction_bias"
      %tokens, %indices, %weights = llm.router "moe.router" %result_2, %17 correction(%18) {groups = 3, normalize = true, scale = 2.500000e+00, scoring = #llm.scoring<sigmoid>, top_groups = 2, top_k = 2} : tensor<?x36xbf16>, tensor<36x6xbf16>
      %rows, %counts, %origins = llm.dispatch "moe.dispatch" %tokens, %indices {experts = 6} : tensor<?x36xbf16>, tensor<?x2xi32>
      %19 = llm.param @moe.ffn_up.weight : tensor<6x36x40xbf16> from dim 1 [
          20 of "model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight" transposed,
          20 of "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight" transposed]
      %20 = llm.ffn_up "moe.ffn_up" %rows, %19 counts(%counts) {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16>, tensor<1x1x6xi32> -> tensor<?x20xbf16>
      %21 = llm.param @moe.ffn_down.weight : tensor<6x20x36xbf16> from "model.layers.{layer}.mlp.experts.{expert}.down_proj.weight" transposed
      %22 = llm.ffn_down "moe.ffn_down" %20, %21 counts(%counts) : tensor<?x20xbf16>, tensor<1x1x6xi32> -> tensor<?x36xbf16>
      %23 = llm.combine "moe.combine" %22, %counts, %origins, %weights : tensor<?x36xbf16>, tensor<1x1x6xi32>, tensor<?x2xf32>
      %24 = llm.param @moe.shared_up.weight : tensor<36x40xbf16> from dim 1 [
          20 of "model.layers.{layer}.mlp.shared_experts.gate_proj.weight" transposed,
          20 of "model.layers.{layer}.mlp.shared_experts.up_proj.weight" transposed]
      %25 = llm.ffn_up "moe.shared_up" %result_2, %24 {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x36xbf16> -> tensor<?x20xbf16>
      %26 = llm.param @moe.shared_down.weight : tensor<20x36xbf16> from "model.layers.{layer}.mlp.shared_experts.down_proj.weight" transposed
      %27 = llm.ffn_down "moe.shared_down" %25, %26 : tensor<?x20xbf16> -> tensor<?x36xbf16>
      %28 = llm.add %23, %27 : tensor<?x36xbf16>
      %29 = llm.add %sum, %28 : tensor<?x36xbf16>
      llm.yield %29, %new_caches : tensor<?x36xbf16>, tensor<?x?x18xbf16>
    }
    %2 = llm.param @lm_head.norm : tensor<36xbf16> from "model.norm.weight"
    %3 = llm.param @lm_head.weight : tensor<36x97xbf16> from "lm_head.weight" transposed
    %token_ids, %logits = llm.lm_head "lm_head" %x_0#0 norm(%2) weight(%3) {epsilon = 1.000000e-05} : tensor<?x36xbf16>, tensor<36x97xbf16> -> tensor<?xi32>, tensor<?x97xbf16>
    return %token_ids, %logits, %x#1, %x_0#1 : tensor<?xi32>, tensor<?x97xbf16>, tensor<1x?x?x18xbf16>, tensor<2x?x?x18xbf16>
  }
}
