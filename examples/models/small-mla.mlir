module attributes {llm.model = "small-mla", llm.workload = #llm.workload<phase = decode, context = 24>} {
  func.func @decode(%arg0: tensor<?xi32> {llm.role = "tokens"}, %arg1: tensor<?xi32> {llm.role = "positions"}, %arg2: tensor<1x?x?x18xbf16> {llm.role = "cache"}, %arg3: tensor<2x?x?x18xbf16> {llm.role = "cache"}) -> (tensor<?xi32> {llm.role = "token_ids"}, tensor<?x97xbf16> {llm.role = "logits"}, tensor<1x?x?x18xbf16> {llm.role = "cache"}, tensor<2x?x?x18xbf16> {llm.role = "cache"}) {
    %0 = llm.param @embed.weight {source = {parts = [{pattern = "model.embed_tokens.weight"}]}} : tensor<97x36xbf16>
    %1 = llm.embedding %arg0, %0 {name = "embed"} : (tensor<?xi32>, tensor<97x36xbf16>) -> tensor<?x36xbf16>
    %x:2 = llm.repeat 1 init(%1) stacked(%arg2) invariants(%arg1) : (tensor<?x36xbf16>, tensor<1x?x?x18xbf16>, tensor<?xi32>) -> (tensor<?x36xbf16>, tensor<1x?x?x18xbf16>) {
    ^bb0(%arg4: tensor<?x36xbf16>, %arg5: tensor<?x?x18xbf16>, %arg6: tensor<?xi32>):
      %4 = llm.param @dense.attn_norm.weight {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.input_layernorm.weight"}]}} : tensor<36xbf16>
      %result = llm.rms_norm %arg4 weight(%4) {epsilon = 1.000000e-05 : f64, name = "dense.attn_norm"} : (tensor<?x36xbf16>, tensor<36xbf16>) -> tensor<?x36xbf16>
      %5 = llm.param @dense.q_down.weight {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.q_a_proj.weight", transposed}]}} : tensor<36x18xbf16>
      %6 = llm.linear %result, %5 {name = "dense.q_down"} : (tensor<?x36xbf16>, tensor<36x18xbf16>) -> tensor<?x18xbf16>
      %7 = llm.param @dense.q_up.norm {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.q_a_layernorm.weight"}]}} : tensor<18xbf16>
      %8 = llm.param @dense.q_up.weight {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.q_b_proj.weight", transposed}]}} : tensor<18x60xbf16>
      %9 = llm.linear %6, %8 norm(%7) {epsilon = 9.9999999999999995E-7 : f64, heads = 6 : i64, name = "dense.q_up"} : (tensor<?x18xbf16>, tensor<18x60xbf16>, tensor<18xbf16>) -> tensor<?x60xbf16>
      %10 = llm.param @dense.kv_down.weight {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight", transposed}]}} : tensor<36x18xbf16>
      %11 = llm.linear %result, %10 {name = "dense.kv_down"} : (tensor<?x36xbf16>, tensor<36x18xbf16>) -> tensor<?x18xbf16>
      %12 = llm.param @dense.attention.kv_norm {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.kv_a_layernorm.weight"}]}} : tensor<14xbf16>
      %13 = llm.param @dense.attention.kv_up {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.kv_b_proj.weight", transposed}]}} : tensor<14x96xbf16>
      %result_1, %new_caches = llm.attention mla %9, %11 at(%arg6) cache(%arg5) kv_norm(%12) kv_up(%13) {heads = 6 : i64, kv_norm_epsilon = 9.9999999999999995E-7 : f64, name = "dense.attention", nope_dim = 6 : i64, rank = 14 : i64, rope = #llm.rope<dim = 4, theta = 1.000000e+04, style = interleaved, scaling = yarn, factor = 4.000000e+00, original_context = 16>, rope_dim = 4 : i64, scale = 0.40998202311927084 : f64, value_dim = 10 : i64} : (tensor<?x60xbf16>, tensor<?x18xbf16>, tensor<?xi32>, tensor<?x?x18xbf16>, tensor<14xbf16>, tensor<14x96xbf16>) -> (tensor<?x60xbf16>, tensor<?x?x18xbf16>)
      %14 = llm.param @dense.out_proj.weight {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.o_proj.weight", transposed}]}} : tensor<60x36xbf16>
      %15 = llm.out_proj %result_1, %14 {heads = 6 : i64, name = "dense.out_proj"} : (tensor<?x60xbf16>, tensor<60x36xbf16>) -> tensor<?x36xbf16>
      %16 = llm.param @dense.ffn_norm.weight {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.post_attention_layernorm.weight"}]}} : tensor<36xbf16>
      %result_2, %sum = llm.rms_norm %15 residual(%arg4) weight(%16) {epsilon = 1.000000e-05 : f64, name = "dense.ffn_norm"} : (tensor<?x36xbf16>, tensor<?x36xbf16>, tensor<36xbf16>) -> (tensor<?x36xbf16>, tensor<?x36xbf16>)
      %17 = llm.param @dense.ffn_up.weight {layers = array<i64: 0>, source = {axis = 1 : i64, parts = [{pattern = "model.layers.{layer}.mlp.gate_proj.weight", size = 44 : i64, transposed}, {pattern = "model.layers.{layer}.mlp.up_proj.weight", size = 44 : i64, transposed}]}} : tensor<36x88xbf16>
      %18 = llm.ffn_up %result_2, %17 {activation = #llm.activation<kind = silu, gated = true>, name = "dense.ffn_up"} : (tensor<?x36xbf16>, tensor<36x88xbf16>) -> tensor<?x44xbf16>
      %19 = llm.param @dense.ffn_down.weight {layers = array<i64: 0>, source = {parts = [{pattern = "model.layers.{layer}.mlp.down_proj.weight", transposed}]}} : tensor<44x36xbf16>
      %20 = llm.ffn_down %18, %19 {name = "dense.ffn_down"} : (tensor<?x44xbf16>, tensor<44x36xbf16>) -> tensor<?x36xbf16>
      %21 = llm.add %sum, %20 : tensor<?x36xbf16>
      llm.yield %21, %new_caches : tensor<?x36xbf16>, tensor<?x?x18xbf16>
    }
    %x_0:2 = llm.repeat 2 init(%x#0) stacked(%arg3) invariants(%arg1) : (tensor<?x36xbf16>, tensor<2x?x?x18xbf16>, tensor<?xi32>) -> (tensor<?x36xbf16>, tensor<2x?x?x18xbf16>) {
    ^bb0(%arg4: tensor<?x36xbf16>, %arg5: tensor<?x?x18xbf16>, %arg6: tensor<?xi32>):
      %4 = llm.param @moe.attn_norm.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.input_layernorm.weight"}]}} : tensor<36xbf16>
      %result = llm.rms_norm %arg4 weight(%4) {epsilon = 1.000000e-05 : f64, name = "moe.attn_norm"} : (tensor<?x36xbf16>, tensor<36xbf16>) -> tensor<?x36xbf16>
      %5 = llm.param @moe.q_down.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.q_a_proj.weight", transposed}]}} : tensor<36x18xbf16>
      %6 = llm.linear %result, %5 {name = "moe.q_down"} : (tensor<?x36xbf16>, tensor<36x18xbf16>) -> tensor<?x18xbf16>
      %7 = llm.param @moe.q_up.norm {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.q_a_layernorm.weight"}]}} : tensor<18xbf16>
      %8 = llm.param @moe.q_up.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.q_b_proj.weight", transposed}]}} : tensor<18x60xbf16>
      %9 = llm.linear %6, %8 norm(%7) {epsilon = 9.9999999999999995E-7 : f64, heads = 6 : i64, name = "moe.q_up"} : (tensor<?x18xbf16>, tensor<18x60xbf16>, tensor<18xbf16>) -> tensor<?x60xbf16>
      %10 = llm.param @moe.kv_down.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.kv_a_proj_with_mqa.weight", transposed}]}} : tensor<36x18xbf16>
      %11 = llm.linear %result, %10 {name = "moe.kv_down"} : (tensor<?x36xbf16>, tensor<36x18xbf16>) -> tensor<?x18xbf16>
      %12 = llm.param @moe.attention.kv_norm {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.kv_a_layernorm.weight"}]}} : tensor<14xbf16>
      %13 = llm.param @moe.attention.kv_up {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.kv_b_proj.weight", transposed}]}} : tensor<14x96xbf16>
      %result_1, %new_caches = llm.attention mla %9, %11 at(%arg6) cache(%arg5) kv_norm(%12) kv_up(%13) {heads = 6 : i64, kv_norm_epsilon = 9.9999999999999995E-7 : f64, name = "moe.attention", nope_dim = 6 : i64, rank = 14 : i64, rope = #llm.rope<dim = 4, theta = 1.000000e+04, style = interleaved, scaling = yarn, factor = 4.000000e+00, original_context = 16>, rope_dim = 4 : i64, scale = 0.40998202311927084 : f64, value_dim = 10 : i64} : (tensor<?x60xbf16>, tensor<?x18xbf16>, tensor<?xi32>, tensor<?x?x18xbf16>, tensor<14xbf16>, tensor<14x96xbf16>) -> (tensor<?x60xbf16>, tensor<?x?x18xbf16>)
      %14 = llm.param @moe.out_proj.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.self_attn.o_proj.weight", transposed}]}} : tensor<60x36xbf16>
      %15 = llm.out_proj %result_1, %14 {heads = 6 : i64, name = "moe.out_proj"} : (tensor<?x60xbf16>, tensor<60x36xbf16>) -> tensor<?x36xbf16>
      %16 = llm.param @moe.ffn_norm.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.post_attention_layernorm.weight"}]}} : tensor<36xbf16>
      %result_2, %sum = llm.rms_norm %15 residual(%arg4) weight(%16) {epsilon = 1.000000e-05 : f64, name = "moe.ffn_norm"} : (tensor<?x36xbf16>, tensor<?x36xbf16>, tensor<36xbf16>) -> (tensor<?x36xbf16>, tensor<?x36xbf16>)
      %17 = llm.param @moe.router.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.mlp.gate.weight", transposed}]}} : tensor<36x6xbf16>
      %18 = llm.param @moe.router.correction {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.mlp.gate.e_score_correction_bias"}]}} : tensor<6xf32>
      %tokens, %indices, %weights = llm.router %result_2, %17 correction(%18) {groups = 3 : i64, name = "moe.router", normalize = true, scale = 2.500000e+00 : f64, scoring = #llm.scoring<sigmoid>, top_groups = 2 : i64, top_k = 2 : i64} : (tensor<?x36xbf16>, tensor<36x6xbf16>, tensor<6xf32>) -> (tensor<?x36xbf16>, tensor<?x2xi32>, tensor<?x2xf32>)
      %rows, %counts, %origins = llm.dispatch %tokens, %indices {experts = 6 : i64, name = "moe.dispatch"} : (tensor<?x36xbf16>, tensor<?x2xi32>) -> (tensor<?x36xbf16>, tensor<1x1x6xi32>, tensor<?xi32>)
      %19 = llm.param @moe.ffn_up.weight {layers = array<i64: 1, 2>, source = {axis = 1 : i64, parts = [{pattern = "model.layers.{layer}.mlp.experts.{expert}.gate_proj.weight", size = 20 : i64, transposed}, {pattern = "model.layers.{layer}.mlp.experts.{expert}.up_proj.weight", size = 20 : i64, transposed}]}} : tensor<6x36x40xbf16>
      %20 = llm.ffn_up %rows, %19 counts(%counts) {activation = #llm.activation<kind = silu, gated = true>, name = "moe.ffn_up"} : (tensor<?x36xbf16>, tensor<6x36x40xbf16>, tensor<1x1x6xi32>) -> tensor<?x20xbf16>
      %21 = llm.param @moe.ffn_down.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.mlp.experts.{expert}.down_proj.weight", transposed}]}} : tensor<6x20x36xbf16>
      %22 = llm.ffn_down %20, %21 counts(%counts) {name = "moe.ffn_down"} : (tensor<?x20xbf16>, tensor<6x20x36xbf16>, tensor<1x1x6xi32>) -> tensor<?x36xbf16>
      %23 = llm.combine %22, %counts, %origins, %weights {name = "moe.combine"} : (tensor<?x36xbf16>, tensor<1x1x6xi32>, tensor<?xi32>, tensor<?x2xf32>) -> tensor<?x36xbf16>
      %24 = llm.param @moe.shared_up.weight {layers = array<i64: 1, 2>, source = {axis = 1 : i64, parts = [{pattern = "model.layers.{layer}.mlp.shared_experts.gate_proj.weight", size = 20 : i64, transposed}, {pattern = "model.layers.{layer}.mlp.shared_experts.up_proj.weight", size = 20 : i64, transposed}]}} : tensor<36x40xbf16>
      %25 = llm.ffn_up %result_2, %24 {activation = #llm.activation<kind = silu, gated = true>, name = "moe.shared_up"} : (tensor<?x36xbf16>, tensor<36x40xbf16>) -> tensor<?x20xbf16>
      %26 = llm.param @moe.shared_down.weight {layers = array<i64: 1, 2>, source = {parts = [{pattern = "model.layers.{layer}.mlp.shared_experts.down_proj.weight", transposed}]}} : tensor<20x36xbf16>
      %27 = llm.ffn_down %25, %26 {name = "moe.shared_down"} : (tensor<?x20xbf16>, tensor<20x36xbf16>) -> tensor<?x36xbf16>
      %28 = llm.add %23, %27 : tensor<?x36xbf16>
      %29 = llm.add %sum, %28 : tensor<?x36xbf16>
      llm.yield %29, %new_caches : tensor<?x36xbf16>, tensor<?x?x18xbf16>
    }
    %2 = llm.param @lm_head.norm {source = {parts = [{pattern = "model.norm.weight"}]}} : tensor<36xbf16>
    %3 = llm.param @lm_head.weight {source = {parts = [{pattern = "lm_head.weight", transposed}]}} : tensor<36x97xbf16>
    %token_ids, %logits = llm.lm_head %x_0#0 norm(%2) weight(%3) {epsilon = 1.000000e-05 : f64, name = "lm_head"} : (tensor<?x36xbf16>, tensor<36xbf16>, tensor<36x97xbf16>) -> (tensor<?xi32>, tensor<?x97xbf16>)
    return %token_ids, %logits, %x#1, %x_0#1 : tensor<?xi32>, tensor<?x97xbf16>, tensor<1x?x?x18xbf16>, tensor<2x?x?x18xbf16>
  }
}
