//===- Architecture.cpp - The table of model families ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Architecture.h"

#include <cassert>

using namespace shardopt::hf;

static constexpr HubNames namesOf(std::string_view router,
                                  std::string_view experts,
                                  std::string_view gate, std::string_view up,
                                  std::string_view down) {
  HubNames names;
  names.router = router;
  names.experts = experts;
  names.gate = gate;
  names.up = up;
  names.down = down;
  return names;
}

static constexpr HubNames qwenNames =
    namesOf("mlp.gate", "mlp.experts", "gate_proj", "up_proj", "down_proj");

static Architecture llama() {
  Architecture row;
  row.name = "LlamaForCausalLM";
  row.dividesWidth = true;
  row.mlpBias = BiasRule::Asked;
  return row;
}

static Architecture mistral() {
  Architecture row;
  row.name = "MistralForCausalLM";
  row.inputBias = BiasRule::Never;
  row.outputBias = BiasRule::Never;
  row.windows = WindowRule::Always;
  return row;
}

static Architecture qwen2() {
  Architecture row;
  row.name = "Qwen2ForCausalLM";
  row.inputBias = BiasRule::Always;
  row.outputBias = BiasRule::Never;
  row.windows = WindowRule::LastLayers;
  return row;
}

static Architecture qwen3() {
  Architecture row;
  row.name = "Qwen3ForCausalLM";
  row.qkNorm = true;
  row.windows = WindowRule::LastLayers;
  return row;
}

static Architecture mixtral() {
  Architecture row;
  row.name = "MixtralForCausalLM";
  row.inputBias = BiasRule::Never;
  row.outputBias = BiasRule::Never;
  row.windows = WindowRule::Always;
  row.expertLayers = ExpertLayers::All;
  row.router = RouterRule::Normalized;
  row.expertWidth = "intermediate_size";
  row.names = namesOf("block_sparse_moe.gate", "block_sparse_moe.experts", "w1",
                      "w3", "w2");
  return row;
}

static Architecture qwen3Moe() {
  Architecture row;
  row.name = "Qwen3MoeForCausalLM";
  row.qkNorm = true;
  row.windows = WindowRule::AllIfUsed;
  row.expertLayers = ExpertLayers::Sparse;
  row.router = RouterRule::NormTopkProb;
  row.names = qwenNames;
  return row;
}

static Architecture deepseekV3() {
  Architecture row;
  row.name = "DeepseekV3ForCausalLM";
  row.latentAttention = true;
  row.expertLayers = ExpertLayers::FromFirst;
  row.router = RouterRule::GroupedSigmoid;
  row.sharedCount = "n_shared_experts";
  row.names = qwenNames;
  return row;
}

static Architecture deepseekV2() {
  Architecture row = deepseekV3();
  row.name = "DeepseekV2ForCausalLM";
  row.router = RouterRule::GroupedSoftmax;
  row.ropeInterleaved = true;
  row.mlpBias = BiasRule::Asked;
  row.sharedBias = true;
  return row;
}

static Architecture qwen2Moe() {
  Architecture row;
  row.name = "Qwen2MoeForCausalLM";
  row.outputBias = BiasRule::Never;
  row.biasFlag = "qkv_bias";
  row.windows = WindowRule::AlternatingFirst;
  row.expertLayers = ExpertLayers::Sparse;
  row.router = RouterRule::NormTopkProb;
  row.sharedWidth = "shared_expert_intermediate_size";
  row.sharedGate = true;
  row.names = qwenNames;
  row.names.shared = "mlp.shared_expert";
  return row;
}

static Architecture gptOss() {
  Architecture row;
  row.name = "GptOssForCausalLM";
  row.sinks = true;
  row.ropeScaled = true;
  row.windows = WindowRule::Alternating;
  row.expertLayers = ExpertLayers::All;
  row.router = RouterRule::BiasNormalized;
  row.expertWidth = "intermediate_size";
  row.clampedSwiglu = true;
  row.expertBias = true;
  row.names = namesOf("mlp.router", "mlp.experts", "gate_up_proj",
                      "gate_up_proj", "down_proj");
  row.names.fusedExperts = true;
  return row;
}

static Architecture starcoder2() {
  Architecture row;
  row.name = "Starcoder2ForCausalLM";
  row.biasFlag = "use_bias";
  row.windows = WindowRule::Always;
  row.gated = false;
  row.mlpBias = BiasRule::Asked;
  row.mlpBiasFlag = "use_bias";
  row.layerNorm = true;
  row.names.denseUp = "c_fc";
  row.names.denseDown = "c_proj";
  return row;
}

static Architecture phi3() {
  Architecture row;
  row.name = "Phi3ForCausalLM";
  row.inputBias = BiasRule::Never;
  row.outputBias = BiasRule::Never;
  row.ropeShares = true;
  row.yarnIsLong = true;
  row.windows = WindowRule::Always;
  row.names.fusedQkv = "qkv_proj";
  row.names.fusedUp = "gate_up_proj";
  return row;
}

static Architecture granite() {
  Architecture row;
  row.name = "GraniteForCausalLM";
  row.mlpBias = BiasRule::Asked;
  row.multipliers = true;
  return row;
}

static Architecture smolLm3() {
  Architecture row;
  row.name = "SmolLM3ForCausalLM";
  row.windows = WindowRule::AllIfUsed;
  row.mlpBias = BiasRule::Asked;
  row.layerRopes = LayerRopes::NoneInSome;
  return row;
}

static Architecture ernie45() {
  Architecture row;
  row.name = "Ernie4_5ForCausalLM";
  row.biasFlag = "use_bias";
  row.ropeInterleaved = true;
  row.mlpBias = BiasRule::Asked;
  row.mlpBiasFlag = "use_bias";
  return row;
}

static Architecture ernie45Moe() {
  Architecture row = ernie45();
  row.name = "Ernie4_5_MoeForCausalLM";
  row.expertLayers = ExpertLayers::Interval;
  row.router = RouterRule::CorrectedSoftmax;
  row.sharedBias = true;
  row.headBias = true;
  row.sharedCount = "moe_num_shared_experts";
  row.names = qwenNames;
  row.names.correction = "mlp.moe_statics";
  return row;
}

static Architecture gemma() {
  Architecture row;
  row.name = "GemmaForCausalLM";
  row.embeddingScale = EmbeddingScale::RootOfHidden;
  row.normPlusOne = true;
  row.geluIsTanh = true;
  return row;
}

static Architecture gemma2() {
  Architecture row = gemma();
  row.name = "Gemma2ForCausalLM";
  row.geluIsTanh = false;
  row.activationKey = "hidden_activation";
  row.windows = WindowRule::Alternating;
  row.queryScalar = true;
  row.softCaps = true;
  row.names.attentionPostNorm = "post_attention_layernorm";
  row.names.networkNorm = "pre_feedforward_layernorm";
  row.names.networkPostNorm = "post_feedforward_layernorm";
  return row;
}

static Architecture gemma3() {
  Architecture row = gemma2();
  row.name = "Gemma3ForCausalLM";
  row.capsScores = false;
  row.windows = WindowRule::AllButEveryNth;
  row.layerRopes = LayerRopes::LocalInWindows;
  row.qkNorm = true;
  return row;
}

static Architecture glm4() {
  Architecture row;
  row.name = "Glm4ForCausalLM";
  row.outputBias = BiasRule::Never;
  row.ropeInterleaved = true;
  row.ropeShares = true;
  row.names.fusedUp = "gate_up_proj";
  row.names.attentionPostNorm = "post_self_attn_layernorm";
  row.names.networkPostNorm = "post_mlp_layernorm";
  return row;
}

static Architecture glm4Moe() {
  Architecture row;
  row.name = "Glm4MoeForCausalLM";
  row.outputBias = BiasRule::Never;
  row.ropeShares = true;
  row.qkNormAsked = true;
  row.expertLayers = ExpertLayers::FromFirst;
  row.router = RouterRule::GroupedSigmoid;
  row.names = qwenNames;
  row.sharedCount = "n_shared_experts";
  return row;
}

/// Norms stand behind attention and network, and nothing in front.
static Architecture olmo2() {
  Architecture row;
  row.name = "Olmo2ForCausalLM";
  row.qkNorm = true;
  row.qkNormWhole = true;
  row.names.attentionNorm = "";
  row.names.networkNorm = "";
  row.names.attentionPostNorm = "post_attention_layernorm";
  row.names.networkPostNorm = "post_feedforward_layernorm";
  return row;
}

static Architecture olmo3() {
  Architecture row = olmo2();
  row.name = "Olmo3ForCausalLM";
  row.windows = WindowRule::AllButEveryFourth;
  row.layerRopes = LayerRopes::LocalInWindows;
  return row;
}

static Architecture miniMaxM2() {
  Architecture row;
  row.name = "MiniMaxM2ForCausalLM";
  row.inputBias = BiasRule::Never;
  row.outputBias = BiasRule::Never;
  row.qkNorm = true;
  row.qkNormWhole = true;
  row.ropeShares = true;
  row.expertLayers = ExpertLayers::All;
  row.router = RouterRule::CorrectedSigmoid;
  row.expertWidth = "intermediate_size";
  row.names = namesOf("block_sparse_moe.gate", "block_sparse_moe.experts", "w1",
                      "w3", "w2");
  row.names.correction = "block_sparse_moe";
  return row;
}

/// Command R and R+: attention and network side by side.
static Architecture cohere() {
  Architecture row;
  row.name = "CohereForCausalLM";
  row.ropeInterleaved = true;
  row.qkNormAsked = true;
  row.qkNormMean = true;
  row.layerNorm = true;
  row.normBias = false;
  row.normEpsilon = "layer_norm_eps";
  row.logitScale = true;
  row.parallelBlock = true;
  row.names.networkNorm = "";
  return row;
}

/// Command R7B and Command A.
static Architecture cohere2() {
  Architecture row = cohere();
  row.name = "Cohere2ForCausalLM";
  row.qkNormAsked = false;
  row.windows = WindowRule::AllButEveryFourth;
  row.layerRopes = LayerRopes::OnlyInWindows;
  return row;
}

/// The text of Llama 4.
static Architecture llama4() {
  Architecture row;
  row.name = "Llama4ForCausalLM";
  row.ropeInterleaved = true;
  row.layerRopes = LayerRopes::NoneInSome;
  row.qkNormAsked = true;
  row.qkNormPlain = true;
  row.windows = WindowRule::Chunks;
  row.temperature = true;
  row.expertLayers = ExpertLayers::Listed;
  row.router = RouterRule::SigmoidOfInput;
  row.denseWidth = "intermediate_size_mlp";
  row.expertWidth = "intermediate_size";
  row.names = namesOf("feed_forward.router", "feed_forward.experts",
                      "gate_up_proj", "gate_up_proj", "down_proj");
  row.names.fusedExperts = true;
  row.names.interleavedExperts = false;
  row.names.dense = "feed_forward";
  row.names.shared = "feed_forward.shared_expert";
  return row;
}

static Architecture qwen3Next() {
  Architecture row;
  row.name = "Qwen3NextForCausalLM";
  row.qkNorm = true;
  row.normPlusOne = true;
  row.gatedAttention = true;
  row.mixers = MixerRule::DeltaNet;
  row.ropeShares = true;
  row.expertLayers = ExpertLayers::Sparse;
  row.router = RouterRule::NormTopkProb;
  row.sharedWidth = "shared_expert_intermediate_size";
  row.sharedGate = true;
  row.names = qwenNames;
  row.names.shared = "mlp.shared_expert";
  return row;
}

static Architecture qwen35() {
  Architecture row = qwen3Next();
  row.name = "Qwen3_5ForCausalLM";
  row.splitDeltaNet = true;
  row.expertLayers = ExpertLayers::None;
  row.router = RouterRule::None;
  return row;
}

/// Granite 4: state spaces and attention, then one network in every layer.
static Architecture graniteHybrid() {
  Architecture row = granite();
  row.name = "GraniteMoeHybridForCausalLM";
  row.mixers = MixerRule::Mamba2;
  row.mamba2 = {"mamba_n_heads",   "mamba_d_head", "mamba_n_groups",
                "mamba_d_state",   "mamba_d_conv", "mamba_conv_bias",
                "mamba_proj_bias", "hidden_act"};
  row.layerRopes = LayerRopes::NoneUnlessAsked;
  row.mlpBias = BiasRule::Never;
  row.expertLayers = ExpertLayers::AllIfAny;
  row.router = RouterRule::Normalized;
  row.denseWidth = "shared_intermediate_size";
  row.expertWidth = "intermediate_size";
  row.sharedWidth = "shared_intermediate_size";
  row.names.router = "block_sparse_moe.router.layer";
  row.names.experts = "block_sparse_moe";
  fuseExperts(row.names, "input_linear.weight", "output_linear.weight");
  row.names.dense = "shared_mlp";
  row.names.shared = "shared_mlp";
  row.names.fusedUp = "input_linear";
  row.names.denseDown = "output_linear";
  return row;
}

/// State spaces and attention, then a dense network in every layer.
static Architecture bamba() {
  Architecture row = graniteHybrid();
  row.name = "BambaForCausalLM";
  row.multipliers = false;
  row.layerRopes = LayerRopes::Alike;
  row.ropeShares = true;
  row.mlpBias = BiasRule::Asked;
  row.expertLayers = ExpertLayers::None;
  row.router = RouterRule::None;
  row.denseWidth = "intermediate_size";
  row.sharedWidth = "";
  row.names = HubNames();
  row.names.finalNorm = "final_layernorm";
  row.names.networkNorm = "pre_ff_layernorm";
  row.names.dense = "feed_forward";
  return row;
}

/// A layer is one of a state space, attention, a network and experts.
static Architecture nemotronH() {
  Architecture row;
  row.name = "NemotronHForCausalLM";
  row.neverTied = true;
  row.mixers = MixerRule::OneEach;
  row.mamba2 = {"mamba_num_heads", "mamba_head_dim",  "n_groups",
                "ssm_state_size",  "conv_kernel",     "use_conv_bias",
                "use_bias",        "mamba_hidden_act"};
  row.inputBias = BiasRule::Never;
  row.outputBias = BiasRule::Never;
  row.readsRope = false;
  row.layerRopes = LayerRopes::None;
  row.rmsEpsilon = "layer_norm_epsilon";
  row.expertLayers = ExpertLayers::ByMixers;
  row.router = RouterRule::GroupedSigmoid;
  row.gated = false;
  row.activationKey = "mlp_hidden_act";
  row.mlpBias = BiasRule::Asked;
  row.sharedBias = true;
  row.sharedWidth = "moe_shared_expert_intermediate_size";
  row.latentExperts = true;
  row.names =
      namesOf("mixer.gate", "mixer.experts", "", "up_proj", "down_proj");
  row.names.model = "backbone";
  row.names.embedding = "embeddings";
  row.names.finalNorm = "norm_f";
  row.names.attention = "mixer";
  row.names.mamba = "mixer";
  row.names.dense = "mixer";
  row.names.shared = "mixer.shared_experts";
  row.names.attentionNorm = "norm";
  row.names.networkNorm = "norm";
  return row;
}

/// The synthetic models of examples/configs: experts without a gate. There is
/// no checkpoint of them; the names are those that Qwen3-MoE would give.
static Architecture gptMoe() {
  Architecture row;
  row.name = "GptMoeForCausalLM";
  row.expertLayers = ExpertLayers::All;
  row.router = RouterRule::NormTopkProb;
  row.expertWidth = "intermediate_size";
  row.gated = false;
  row.names = qwenNames;
  return row;
}

static const std::vector<Architecture> &table() {
  static const std::vector<Architecture> rows = [] {
    std::vector<Architecture> all = {
        llama(),         mistral(),   qwen2(),      qwen3(),     mixtral(),
        qwen2Moe(),      qwen3Moe(),  deepseekV3(), gptOss(),    starcoder2(),
        phi3(),          granite(),   smolLm3(),    ernie45(),   ernie45Moe(),
        gemma(),         gemma2(),    gemma3(),     glm4(),      glm4Moe(),
        gptMoe(),        olmo2(),     olmo3(),      miniMaxM2(), cohere(),
        cohere2(),       llama4(),    deepseekV2(), qwen3Next(), qwen35(),
        graniteHybrid(), nemotronH(), bamba()};
    addDerivedArchitectures(all);
    addNestedArchitectures(all);
    return all;
  }();
  return rows;
}

Architecture shardopt::hf::deduceArchitecture(const json::Value &root) {
  auto has = [&](const char *key) {
    return root[key].nullAsAbsent().present();
  };
  Architecture row;
  row.isByKeys = true;
  row.readsRope = false;
  row.latentAttention = has("kv_lora_rank");
  row.names = qwenNames;
  row.qkNorm = root["use_qk_norm"].nullAsAbsent().boolean(false);
  std::string family = root["model_type"].nullAsAbsent().string("");
  for (std::string_view known : {"qwen3", "gemma3", "olmo2"})
    row.qkNorm |= family.rfind(known, 0) == 0;
  row.windows = WindowRule::ByKeys;
  row.sharedCount = "n_shared_experts";
  for (std::string_view known : {"apertus", "nanochat"})
    row.gated &= family.rfind(known, 0) != 0;
  bool hasExperts = has("num_local_experts") || has("num_experts") ||
                    has("n_routed_experts") || has("moe_num_experts");
  if (hasExperts && root["is_moe"].nullAsAbsent().boolean(true)) {
    row.router = RouterRule::ByKeys;
    row.expertLayers =
        has("mlp_layer_types") ? ExpertLayers::Typed
        : has("first_k_dense_replace") || has("num_dense_layers")
            ? ExpertLayers::FromFirst
        : has("decoder_sparse_step") || has("interleave_moe_layer_step")
            ? ExpertLayers::Sparse
            : ExpertLayers::All;
  }
  return row;
}

static const Architecture *findIn(const std::vector<Architecture> &rows,
                                  std::string_view name) {
  for (const Architecture &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

Architecture &shardopt::hf::addLike(std::vector<Architecture> &rows,
                                    std::string_view base,
                                    std::string_view name) {
  const Architecture *found = findIn(rows, base);
  assert(found && "a family is like one that is not in the table");
  Architecture row = *found;
  row.name = name;
  return rows.emplace_back(std::move(row));
}

void shardopt::hf::fuseExperts(HubNames &names, std::string_view up,
                               std::string_view down) {
  names.gate = up;
  names.up = up;
  names.down = down;
  names.fusedExperts = true;
  names.interleavedExperts = false;
  names.transposedExperts = true;
}

const Architecture *shardopt::hf::findArchitecture(std::string_view name) {
  return findIn(table(), name);
}

std::vector<std::string> shardopt::hf::architectureNames() {
  std::vector<std::string> names;
  for (const Architecture &row : table())
    names.emplace_back(row.name);
  return names;
}
