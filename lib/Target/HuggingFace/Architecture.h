//===- Architecture.h - How model families differ ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One row a family of models: what its code in Transformers fixes, and which
// fields of the config it reads. A new family that differs in these points
// alone is a new row.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_TARGET_HUGGINGFACE_ARCHITECTURE_H
#define SHARDOPT_LIB_TARGET_HUGGINGFACE_ARCHITECTURE_H

#include "shardopt/Target/HuggingFace/ModelConfig.h"

#include <string>
#include <string_view>
#include <vector>

namespace shardopt::hf {

/// Whether a projection has a bias.
enum class BiasRule : uint8_t {
  Never,
  Always,
  Asked ///< where the config's flag is true
};

/// Which part of a nested config says that the head is the embedding.
enum class TieRule : uint8_t { Whole, Text, Either };

/// Which layers attend to a sliding window only.
enum class WindowRule : uint8_t {
  Never,
  Always,      ///< all, where `sliding_window` is a number
  LastLayers,  ///< with `use_sliding_window`, those from `max_window_layers` on
  FromLayer,   ///< those from `max_window_layers` on
  AllIfUsed,   ///< all, with `use_sliding_window`
  Alternating, ///< every second one, beginning with the first
  AlternatingFirst,  ///< with `use_sliding_window`, every second one of those
                     ///< before `max_window_layers`
  AllButEveryNth,    ///< all but every `sliding_window_pattern`-th
  AllButEveryFourth, ///< the same, by default every fourth
  AllButFourthFromFirst, ///< all but every fourth, beginning with the first
  Chunks, ///< those that turn their heads, of `attention_chunk_size`
  ByKeys  ///< whatever keys there are say so
};

/// How the experts of a token are chosen and weighted.
enum class RouterRule : uint8_t {
  None,             ///< no experts
  Normalized,       ///< softmax, the chosen ones scaled to sum to 1
  NormTopkProb,     ///< softmax, scaled where `norm_topk_prob` is true
  BiasNormalized,   ///< as Normalized, logits with a bias
  CorrectedSoftmax, ///< softmax, scaled to sum to 1, chosen with a correction
  GroupedSigmoid,   ///< sigmoid, correction bias, groups of experts, a scale
  CorrectedSigmoid, ///< sigmoid, correction bias, scaled to sum to 1
  GroupedSoftmax,   ///< softmax, groups of experts by their best, a scale
  SigmoidOfInput,   ///< sigmoid, which scales what the experts read
  ByKeys            ///< how many, and how many of a token; nothing else
};

/// Which layers have experts.
enum class ExpertLayers : uint8_t {
  None,
  All,
  FromFirst, ///< those from `first_k_dense_replace` on
  Typed,     ///< as `mlp_layer_types` says, or all but the first ones
  Sparse,    ///< every `decoder_sparse_step`-th, not those of `mlp_only_layers`
  Listed,    ///< `moe_layers`, or every `interleave_moe_layer_step`-th
  AllIfAny,  ///< all, where `num_local_experts` is above 0
  ByMixers,  ///< those that `MixerRule::OneEach` says
  Interval   ///< every `moe_layer_interval`-th from `moe_layer_start_index` on,
             ///< up to `moe_layer_end_index`
};

/// Which layers turn queries and keys otherwise than the others, or not at all.
enum class LayerRopes : uint8_t {
  Alike,
  LocalInWindows, ///< those with a window have parameters of their own
  NoneInSome,     ///< those that `no_rope_layers` has 0 for
  OnlyInWindows,  ///< those without a window do not turn them
  /// The same, where `sliding_window` is a number; else all turn them.
  OnlyInWindowsIfAny,
  NoneUnlessAsked, ///< none, unless `position_embedding_type` is "rope"
  None             ///< none
};

/// What mixes tokens in which layers.
enum class MixerRule : uint8_t {
  Attention,
  /// Those that `layer_types` calls "linear_attention", all but every
  /// `full_attention_interval`-th, have a gated delta net.
  DeltaNet,
  /// Those that `layer_types` calls so ("mamba" in older files), all without
  /// it, have a state space.
  Mamba2,
  /// A layer is a state space, attention, a network or experts, as
  /// `layers_block_type` or `hybrid_override_pattern` says.
  OneEach
};

/// What a config calls the sizes of a state space.
struct Mamba2Keys {
  std::string_view heads, headDim, groups, stateDim, taps, convBias, projBias,
      activation;
};

/// What scales the output of the embedding.
enum class EmbeddingScale : uint8_t { None, RootOfHidden };

struct Architecture {
  std::string_view name;
  /// Deduced from the keys of a config: sizes are read, and what only those who
  /// execute it need is not.
  bool isByKeys = false;
  bool latentAttention = false;
  /// `index_topk` positions are read, which an indexer chooses in every layer;
  /// with rotary pairs that are neighbours, or halves.
  bool indexer = false;
  bool indexInterleaves = false;
  BiasRule inputBias = BiasRule::Asked;
  BiasRule outputBias = BiasRule::Asked;
  std::string_view biasFlag = "attention_bias";
  std::string_view outputBiasFlag; ///< of the output, where it has its own
  bool qkNorm = false;
  bool sinks = false;
  bool gatedAttention = false; ///< a gate of the result with every query
  MixerRule mixers = MixerRule::Attention;
  Mamba2Keys mamba2;          ///< with `MixerRule::Mamba2` and `OneEach`
  bool splitDeltaNet = false; ///< its projections are tensors of their own
  /// The model is that of `text_config`; what else there is, is left out.
  bool isNested = false;
  /// Whether its class in Transformers refuses a width that heads do not
  /// divide.
  bool dividesWidth = false;
  /// Where a nested model says that its head is the embedding.
  TieRule tie = TieRule::Whole;
  /// Whether the whole of a nested model says so by default.
  bool wholeTies = false;
  /// What the `model_type` of `text_config` must be, where it can be another.
  std::string_view textType;
  /// Whether rotary frequencies are scaled always, so that a config without
  /// their parameters says too little.
  bool ropeScaled = false;
  /// Whether rotary parameters are read; those who need sizes only do not.
  bool readsRope = true;
  bool ropeInterleaved = false;
  /// Whether rotary pairs of latent attention are neighbours where
  /// `rope_interleave` does not say that they are not.
  bool latentInterleaves = true;
  /// Whether a part of each head may turn; else heads turn whole, and a config
  /// that says otherwise is refused.
  bool ropeShares = false;
  /// Whether "yarn" in its old files means longrope.
  bool yarnIsLong = false;
  LayerRopes layerRopes = LayerRopes::Alike;
  /// Scores are divided by the root of `query_pre_attn_scalar`, else by that of
  /// the features of a head.
  bool queryScalar = false;
  /// `attn_logit_softcapping` and `final_logit_softcapping` are read.
  bool softCaps = false;
  /// Whether both do what they say: a whole that sees does not look at the key
  /// of the logits, and Gemma 3 not at that of the scores.
  bool capsLogits = true, capsScores = true;
  /// `attention_multiplier`, `embedding_multiplier`, `residual_multiplier` and
  /// `logits_scaling` are read.
  bool multipliers = false;
  /// `scale_emb`, `scale_depth` and `dim_model_base` are read.
  bool depthScales = false;
  EmbeddingScale embeddingScale = EmbeddingScale::None;
  bool normPlusOne = false;   ///< norms multiply by one plus their weight
  bool logitScale = false;    ///< `logit_scale` is read
  bool parallelBlock = false; ///< as `ModelConfig::parallelBlock`
  bool qkNormWhole = false;   ///< over all heads at once
  /// `attn_temperature_tuning`, `floor_scale` and `attn_scale` are read.
  bool temperature = false;
  bool qkNormAsked = false; ///< where `use_qk_norm` is true
  bool qkNormMean = false;  ///< as `AttentionConfig::qkNormMean`
  bool qkNormPlain = false; ///< as `AttentionConfig::qkNormPlain`
  WindowRule windows = WindowRule::Never;
  ExpertLayers expertLayers = ExpertLayers::None;
  RouterRule router = RouterRule::None;
  /// The key that scales the weights of experts which `CorrectedSigmoid`
  /// chooses, or empty.
  std::string_view routerScale;
  /// The keys of the widths of dense networks and of experts.
  std::string_view denseWidth = "intermediate_size";
  std::string_view expertWidth = "moe_intermediate_size";
  bool gated = true;
  std::string_view activationKey = "hidden_act";
  bool geluIsTanh = false; ///< "gelu" in its configs means "gelu_pytorch_tanh"
  bool clampedSwiglu = false; ///< of gpt-oss: limit, alpha, and 1 added to up
  BiasRule mlpBias = BiasRule::Never; ///< of dense layers
  std::string_view mlpBiasFlag = "mlp_bias";
  bool expertBias = false;
  /// With `mlpBiasFlag` the head has a bias too.
  bool headBias = false;
  bool sharedBias = false; ///< on shared experts, where dense layers have one
  /// The key with the width of the shared experts; where it is empty, they are
  /// `sharedCount` times as wide as an expert. There are none without either.
  std::string_view sharedWidth;
  std::string_view sharedCount;
  bool sharedGate = false; ///< shared experts have one, over whole rows
  /// `moe_latent_size` is read.
  bool latentExperts = false;
  /// Norms subtract the mean, and have a bias; their epsilon is `normEpsilon`.
  bool layerNorm = false;
  bool normBias = true;
  std::string_view normEpsilon = "norm_epsilon";
  std::string_view rmsEpsilon = "rms_norm_eps"; ///< of norms that do not
  bool neverTied = false;                       ///< whatever it says
  HubNames names;
};

/// Adds families that are said by what they do otherwise than one of `rows`.
void addDerivedArchitectures(std::vector<Architecture> &rows);

/// Adds models of `rows` within one that sees: other names of their tensors,
/// in `text_config`.
void addNestedArchitectures(std::vector<Architecture> &rows);

/// Adds a copy of the row `base`, which is there, under another name; the copy.
Architecture &addLike(std::vector<Architecture> &rows, std::string_view base,
                      std::string_view name);

/// All experts of `names` share one tensor, `[experts, out, in]` of the tensors
/// `up`, gate first, and `down`.
void fuseExperts(HubNames &names, std::string_view up, std::string_view down);

/// The row of `name`, or null.
const Architecture *findArchitecture(std::string_view name);

/// A row for a family that has none, from the keys that its config has.
Architecture deduceArchitecture(const json::Value &root);

/// The names of all rows, in the order of the table.
std::vector<std::string> architectureNames();

} // namespace shardopt::hf

#endif // SHARDOPT_LIB_TARGET_HUGGINGFACE_ARCHITECTURE_H
