//===- DerivedArchitectures.cpp - Families that are like others -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is another family of the table but for what its function says.
//
//===----------------------------------------------------------------------===//

#include "Architecture.h"

using namespace shardopt::hf;

namespace {

struct Derivation {
  std::string_view name;
  std::string_view base; ///< of a row that is there, or of one above
  void (*change)(Architecture &row);
};

} // namespace

//===----------------------------------------------------------------------===//
// Dense
//===----------------------------------------------------------------------===//

static void changeToSeedOss(Architecture &row) {
  row.dividesWidth = false;
  row.outputBiasFlag = "attention_out_bias";
}

/// Norms stand behind attention and network alone. Where there are windows,
/// only they turn heads.
static void changeToExaone4(Architecture &row) {
  row.inputBias = BiasRule::Never;
  row.outputBias = BiasRule::Never;
  row.qkNormWhole = false;
  row.windows = WindowRule::AllButEveryFourth;
  row.layerRopes = LayerRopes::OnlyInWindowsIfAny;
}

static void dropNormsBehind(Architecture &row) {
  row.names.attentionPostNorm = "";
  row.names.networkPostNorm = "";
}

static void changeToArcee(Architecture &row) { row.gated = false; }

static void changeToCwm(Architecture &row) {
  row.inputBias = BiasRule::Never;
  row.outputBias = BiasRule::Never;
  row.mlpBias = BiasRule::Never;
  row.ropeScaled = true;
  row.windows = WindowRule::AllButFourthFromFirst;
}

static void changeToYoutu(Architecture &row) {
  row.expertLayers = ExpertLayers::None;
  row.router = RouterRule::None;
}

static void changeToMiniCpm3(Architecture &row) {
  changeToYoutu(row);
  row.latentInterleaves = false;
  row.depthScales = true;
  row.mlpBias = BiasRule::Asked;
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// As most families name them.
static void nameExperts(HubNames &names) {
  names.router = "mlp.gate";
  names.experts = "mlp.experts";
  names.gate = "gate_proj";
  names.up = "up_proj";
  names.down = "down_proj";
}

static void putNormsInFront(HubNames &names) {
  names.attentionNorm = "input_layernorm";
  names.attentionPostNorm = "";
  names.networkNorm = "post_attention_layernorm";
  names.networkPostNorm = "";
}

/// As DeepSeek-V3 chooses them, in another model.
static void changeToSharedSigmoids(Architecture &row) {
  row.expertLayers = ExpertLayers::FromFirst;
  row.router = RouterRule::GroupedSigmoid;
  row.sharedCount = "n_shared_experts";
  nameExperts(row.names);
}

static void changeToDots1(Architecture &row) {
  changeToSharedSigmoids(row);
  row.windows = WindowRule::FromLayer;
}

/// EXAONE 4 with norms in front.
static void changeToExaoneMoe(Architecture &row) {
  changeToSharedSigmoids(row);
  putNormsInFront(row.names);
  row.names.correction = "mlp";
  row.expertLayers = ExpertLayers::Typed;
  row.sharedCount = "num_shared_experts";
}

static void changeToGlm4MoeLite(Architecture &row) {
  row.expertLayers = ExpertLayers::Typed;
}

static void changeToDeepseekV32(Architecture &row) {
  row.indexer = true;
  row.expertLayers = ExpertLayers::Typed;
}

static void changeToSolarOpen(Architecture &row) {
  row.ropeShares = true;
  row.qkNormAsked = false;
  row.expertLayers = ExpertLayers::All;
}

static void changeToHyV3(Architecture &row) {
  changeToSharedSigmoids(row);
  row.windows = WindowRule::Never;
  row.expertLayers = ExpertLayers::Typed;
  row.router = RouterRule::CorrectedSigmoid;
  row.routerScale = "router_scaling_factor";
  row.sharedCount = "num_shared_experts";
  row.mlpBias = BiasRule::Asked;
  row.sharedBias = true;
  row.names.router = "mlp.router.gate";
  row.names.correction = "mlp";
  row.names.correctionName = "expert_bias";
  row.names.shared = "mlp.shared_mlp";
}

static void changeToOlmoeExperts(Architecture &row) {
  row.expertLayers = ExpertLayers::All;
  row.router = RouterRule::NormTopkProb;
  row.expertWidth = "intermediate_size";
  nameExperts(row.names);
}

/// OLMo 2 with experts, and norms in front.
static void changeToOlmoe(Architecture &row) {
  changeToOlmoeExperts(row);
  putNormsInFront(row.names);
}

static void changeToGraniteMoe(Architecture &row) {
  row.mlpBias = BiasRule::Never;
  row.expertLayers = ExpertLayers::All;
  row.router = RouterRule::Normalized;
  row.expertWidth = "intermediate_size";
  row.names.router = "block_sparse_moe.router.layer";
  row.names.experts = "block_sparse_moe";
  fuseExperts(row.names, "input_linear.weight", "output_linear.weight");
}

static void changeToGraniteMoeShared(Architecture &row) {
  row.sharedWidth = "shared_intermediate_size";
  row.names.shared = "shared_mlp";
  row.names.fusedUp = "input_linear";
  row.names.denseDown = "output_linear";
}

/// Experts in every layer, whose weights sum to 1 whatever the file says.
static void changeToQwen35Moe(Architecture &row) {
  row.expertLayers = ExpertLayers::All;
  row.router = RouterRule::Normalized;
}

static constexpr Derivation derivations[] = {
    {"SeedOssForCausalLM", "LlamaForCausalLM", changeToSeedOss},
    {"Exaone4ForCausalLM", "Olmo2ForCausalLM", changeToExaone4},
    {"GlmForCausalLM", "Glm4ForCausalLM", dropNormsBehind},
    {"ArceeForCausalLM", "LlamaForCausalLM", changeToArcee},
    {"CwmForCausalLM", "LlamaForCausalLM", changeToCwm},
    {"VaultGemmaForCausalLM", "Gemma2ForCausalLM", dropNormsBehind},
    {"YoutuForCausalLM", "DeepseekV3ForCausalLM", changeToYoutu},
    {"MiniCPM3ForCausalLM", "DeepseekV3ForCausalLM", changeToMiniCpm3},
    {"MinistralForCausalLM", "MistralForCausalLM", [](Architecture &) {}},
    {"Dots1ForCausalLM", "Qwen3ForCausalLM", changeToDots1},
    {"ExaoneMoeForCausalLM", "Exaone4ForCausalLM", changeToExaoneMoe},
    {"Glm4MoeLiteForCausalLM", "DeepseekV3ForCausalLM", changeToGlm4MoeLite},
    {"DeepseekV32ForCausalLM", "DeepseekV3ForCausalLM", changeToDeepseekV32},
    {"GlmMoeDsaForCausalLM", "DeepseekV32ForCausalLM",
     [](Architecture &row) { row.indexInterleaves = true; }},
    {"SolarOpenForCausalLM", "Glm4MoeForCausalLM", changeToSolarOpen},
    {"HYV3ForCausalLM", "Qwen3ForCausalLM", changeToHyV3},
    {"OlmoeForCausalLM", "Olmo2ForCausalLM", changeToOlmoe},
    {"FlexOlmoForCausalLM", "Olmo2ForCausalLM", changeToOlmoeExperts},
    {"GraniteMoeForCausalLM", "GraniteForCausalLM", changeToGraniteMoe},
    {"GraniteMoeSharedForCausalLM", "GraniteMoeForCausalLM",
     changeToGraniteMoeShared},
    {"Qwen3_5MoeForCausalLM", "Qwen3NextForCausalLM", [](Architecture &row) {
       changeToQwen35Moe(row);
       row.splitDeltaNet = true;
     }}};

void shardopt::hf::addDerivedArchitectures(std::vector<Architecture> &rows) {
  for (const Derivation &derivation : derivations)
    derivation.change(addLike(rows, derivation.base, derivation.name));
}
