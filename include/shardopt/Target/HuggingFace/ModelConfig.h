//===- ModelConfig.h - The facts of a Hugging Face config.json --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a `config.json` says of a model, with every default resolved and every
// field checked, independent of how Transformers spells it (version 4 or 5) and
// of the architecture that it names. What is built from it is a matter of
// Import.h.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TARGET_HUGGINGFACE_MODELCONFIG_H
#define SHARDOPT_TARGET_HUGGINGFACE_MODELCONFIG_H

#include "shardopt/Support/Json.h"
#include "shardopt/Support/Limits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt::hf {

/// Element types that weights, activations and caches may have.
enum class ElementType : uint8_t { F32, F16, BF16, Fp8, Mxfp4 };

/// Rotary position embedding; see `#llm.rope` for what the fields mean.
struct RopeConfig {
  enum class Scaling : uint8_t { None, Linear, Llama3, Yarn, LongRope };

  double theta = 1e4;
  double share = 1; ///< of the features of a head, the first ones, that turn
  bool interleaved = false;
  Scaling scaling = Scaling::None;
  double factor = 1;
  double lowFreqFactor = 1;
  double highFreqFactor = 4;
  double betaFast = 32;
  double betaSlow = 1;
  int64_t originalContext = 0;
  bool truncate = true;
  double magnitude = 1; ///< factor of cosine and sine
  /// Of the frequencies of longrope, up to `originalContext` tokens and beyond.
  std::vector<double> shortDivisors, longDivisors;
  /// Factor of the softmax scale of latent attention (yarn's mscale, squared).
  double scaleFactor = 1;
};

/// Attention of every layer: grouped-query, or multi-head latent.
struct AttentionConfig {
  bool latent = false;
  int64_t heads = 0;
  double scale = 0;   ///< of the scores, before the softmax
  double softCap = 0; ///< of the scores, 0 if there is none
  RopeConfig rope;
  RopeConfig localRope;    ///< of layers with `LayerRope::Local`
  bool inputBias = false;  ///< on q, k, v; on q_a and kv_a when latent
  bool outputBias = false; ///< on o

  // Grouped-query attention.
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  bool qkNorm = false;
  bool qkNormWhole = false; ///< over all heads at once, not over each
  /// Of each head, with the mean subtracted and weights of its own.
  bool qkNormMean = false;
  /// Without weights, and only in layers that turn their heads.
  bool qkNormPlain = false;
  /// Layers with a window attend to the chunk of that size that they are in.
  bool chunked = false;
  /// In layers that do not turn their heads, queries grow by `temperatureScale
  /// * ln(1 + floor((position + 1) / temperatureFloor))`; 0 for none.
  int64_t temperatureFloor = 0;
  double temperatureScale = 0;
  bool sinks = false;
  bool gated = false; ///< the projection of queries has gates of the result

  // Multi-head latent attention.
  int64_t queryRank = 0; ///< 0 if queries are projected in one step
  int64_t latentRank = 0;
  int64_t nopeDim = 0;
  int64_t ropeDim = 0;
  int64_t valueDim = 0;
  /// An indexer chooses the tokens that are read; 0 if there is none.
  int64_t indexHeads = 0;
  int64_t indexDim = 0;
  int64_t indexTopk = 0;
  bool indexInterleaves = false; ///< rotary pairs of it are neighbours
};

/// The gated delta net of layers with `Mixer::DeltaNet`; see
/// `llm.gated_delta_net` for what the sizes mean.
struct DeltaNetConfig {
  int64_t heads = 0; ///< 0 if no layer has one
  int64_t valueHeads = 0;
  int64_t keyDim = 0;
  int64_t valueDim = 0;
  int64_t taps = 0;
  /// Whether the checkpoint has its projections apart, each over all heads.
  bool isSplit = false;
};

/// The state space of layers with `Mixer::Mamba2`; see `llm.mamba2` for what
/// the sizes mean.
struct Mamba2Config {
  int64_t heads = 0; ///< 0 if no layer has one
  int64_t headDim = 0;
  int64_t groups = 0;
  int64_t stateDim = 0;
  int64_t taps = 0;
  bool convBias = false;
  bool projBias = false; ///< on the projections before and behind it
  double stepMin = 0;
  double stepMax = 0; ///< 0 if there is none

  /// Width of what the heads give.
  int64_t values() const { return heads * headDim; }
  /// Channels of the convolution.
  int64_t channels() const { return values() + 2 * groups * stateDim; }
  /// Columns of the projection before it.
  int64_t columns() const { return values() + channels() + heads; }
};

/// Activation function; see `#llm.activation` for what the fields mean.
struct ActivationConfig {
  enum class Kind : uint8_t { Silu, Gelu, GeluTanh, Relu, SquaredRelu };

  Kind kind = Kind::Silu;
  bool gated = true;
  double alpha = 1;
  double limit = 0;
  double shift = 0;
};

/// Router of a mixture of experts; see `llm.router` for what the fields mean.
struct RouterConfig {
  int64_t experts = 0; ///< 0 if the model has none
  int64_t topK = 0;
  bool sigmoid = false;
  bool normalize = false;
  int64_t groups = 1;
  int64_t topGroups = 1;
  int64_t groupBest = 2;
  double scale = 1;
  bool scaleTokens = false;
  bool scaleCopies = false; ///< the same of several choices, in the dispatch
  bool bias = false;
  bool correction = false;
};

/// Feed-forward networks of dense layers and of layers with experts.
struct FeedForwardConfig {
  ActivationConfig activation;
  int64_t denseInner = 0; ///< width of a dense layer, 0 if there is none
  /// The keys of these widths.
  std::string_view denseKey, expertKey;
  bool denseBias = false;  ///< on gate, up and down of dense layers
  int64_t expertInner = 0; ///< width of a routed expert
  /// Width of what routed experts read and give, where a projection in front of
  /// them and one behind them change it; 0 where it is the layer's.
  int64_t expertLatent = 0;
  bool latentBias = false; ///< on these projections
  bool expertBias = false; ///< on gate, up and down of the experts
  int64_t sharedInner = 0; ///< width of all shared experts, 0 without any
  bool sharedBias = false; ///< on gate, up and down of shared experts
  /// What shared experts give is multiplied by a sigmoid of the token.
  bool sharedGate = false;
  RouterConfig router;
};

/// How the queries and keys of a layer are turned.
enum class LayerRope : uint8_t { Global, Local, None };

/// What mixes the tokens of a layer.
enum class Mixer : uint8_t { Attention, DeltaNet, Mamba2, None };

/// What differs from layer to layer.
struct LayerConfig {
  bool experts = false;
  Mixer mixer = Mixer::Attention;
  bool network = true; ///< whether it has one; a mixer where it has none
  LayerRope rope = LayerRope::Global;
  int64_t window = 0; ///< sliding window in tokens, 0 where attention is full
};

/// Matrices that quantisation treats alike.
enum class WeightClass : uint8_t {
  Plain,     ///< embedding, router, head: never quantised
  Attention, ///< all projections of attention
  Dense,     ///< the feed-forward network of dense layers
  Experts,   ///< routed experts
  Shared     ///< shared experts
};

/// How the checkpoint stores quantised weights.
struct QuantizationConfig {
  /// Int4, Int8 and Nvfp4 are read for their sizes only (`readModelSizes`).
  enum class Method : uint8_t { None, Fp8, Mxfp4, Int4, Nvfp4, Int8 };

  Method method = Method::None;
  std::vector<WeightClass> exceptions; ///< classes that are not quantised
  /// Rows and columns of the checkpoint's `[out, in]` matrix that share a
  /// scale, for fp8; 0 if the whole matrix does.
  int64_t blockRows = 0;
  int64_t blockColumns = 0;
  bool hasRowScales = false; ///< each row of that matrix has a scale, for fp8
  int64_t groupSize = 0; ///< inputs that share a scale, for int4; 0: not said
  bool hasFp8Caches = false; ///< keys and values have scales of their own
  /// What the name of a weight's scales ends in, behind the weight's.
  std::string_view scaleName = "_scale_inv";
  /// What is not quantised where others of its class are, as a reason; empty
  /// where nothing is.
  std::string mixed;

  /// Whether matrices of class `of` are stored quantised.
  bool quantizes(WeightClass of) const;
};

/// How the checkpoint spells the tensors of a feed-forward network, below
/// `model.layers.{layer}.`.
struct HubNames {
  std::string_view model = "model"; ///< in front of all but the head
  std::string_view embedding = "embed_tokens";
  std::string_view finalNorm = "norm";
  std::string_view attention = "self_attn";
  std::string_view mamba = "mamba";
  std::string_view head = "lm_head";
  std::string_view router; ///< "mlp.gate"
  /// "mlp", "mlp.moe_statics"; the router's where it is empty.
  std::string_view correction;
  std::string_view correctionName = "e_score_correction_bias"; ///< in there
  std::string_view experts; ///< "mlp.experts"
  std::string_view gate;    ///< of an expert: "gate_proj"
  std::string_view up;      ///< of an expert: "up_proj"
  std::string_view down;    ///< of an expert: "down_proj"
  /// All experts share one tensor, `[experts, in, out]`, gate and up
  /// interleaved, or one behind the other; or `[experts, out, in]`.
  bool fusedExperts = false;
  bool interleavedExperts = true;
  bool transposedExperts = false;
  std::string_view dense = "mlp"; ///< the network of a layer without experts
  std::string_view shared = "mlp.shared_experts";
  std::string_view sharedGate = "mlp.shared_expert_gate";
  /// In front of routed experts and behind them, where they have a width of
  /// their own.
  std::string_view latentDown = "mixer.fc1_latent_proj";
  std::string_view latentUp = "mixer.fc2_latent_proj";
  std::string_view denseUp = "up_proj"; ///< of a network that is not routed
  std::string_view denseDown = "down_proj";
  /// One tensor with gate and up of a network that is not routed, and one with
  /// queries, keys and values; empty where each has its own.
  std::string_view fusedUp;
  std::string_view fusedQkv;
  /// Norms in front of attention and of the network, and behind them, where
  /// they norm what is added to the residual; empty where there are none.
  std::string_view attentionNorm = "input_layernorm";
  std::string_view attentionPostNorm;
  std::string_view networkNorm = "post_attention_layernorm";
  std::string_view networkPostNorm;
};

/// A key of a config that nobody read.
struct UnreadKey {
  enum class Fate : uint8_t {
    Ignored, ///< changes no number
    LeftOut, ///< of a part of the checkpoint that is no part of the program
    NotUnderstood ///< may change numbers
  };

  std::string path;  ///< "attention_dropout", "rope_scaling/mrope_section"
  std::string value; ///< as messages show it
  Fate fate = Fate::Ignored;
  std::string why;
};

struct ModelConfig {
  std::string architecture; ///< "LlamaForCausalLM"
  bool isByKeys = false;    ///< of an unknown family: has sizes only
  bool isNested = false;    ///< what `text_config` says
  /// Why it is planned and not executed: its family is unknown, or a key, or
  /// nothing computes with its weights. Empty where it is executed.
  std::string plannedOnly;
  std::vector<UnreadKey> unread; ///< in the order of the text
  int64_t vocab = 0;
  int64_t hidden = 0;
  double epsilon = 0; ///< of every norm but the inner ones of latent attention
  /// Whether norms subtract the mean, but for inner ones, and have a bias.
  bool layerNorm = false;
  bool normBias = false;
  /// Attention and network read the same norm, and add to the residual at once.
  bool parallelBlock = false;
  /// What the checkpoint's norms are less than the weights: 1 where a model
  /// norms with one plus the weight.
  double normShift = 0;
  double embeddingScale = 1; ///< of what the embedding gives
  double residualScale = 1;  ///< of what attention and network add
  double logitScale = 1;     ///< of the logits
  double logitCap = 0;       ///< of the logits then, 0 if there is none
  bool tiedEmbeddings = false;
  bool headBias = false;
  AttentionConfig attention;
  DeltaNetConfig deltaNet;
  Mamba2Config mamba2;
  FeedForwardConfig feedForward;
  std::vector<LayerConfig> layers;
  ElementType type = ElementType::BF16; ///< of the checkpoint's plain tensors
  QuantizationConfig quantization;
  HubNames names;
};

/// Largest number of layers that is read; more is taken for a mistake.
inline constexpr int64_t maxLayers = 4096;
/// Largest value of any other size.
inline constexpr int64_t maxSize = maxDimSize;
/// Largest number of parameters, so that counts of elements and of bytes stay
/// exact in 64 bits.
inline constexpr double maxParameters = 1e17;

/// The config at `path`. Infinity, which Python writes and JSON does not have,
/// is null.
ErrorOr<json::Document> parseConfigFile(const std::string &path);

/// Reads the model that `document` describes. Errors name the file, the JSON
/// pointer, what was found and what was wanted. A value that would change the
/// model's numbers and is not supported is an error. Defaults of absent fields
/// are those of Transformers.
///
/// Planned only are a family that no row of the table knows, which is read as
/// by `readModelSizes`; a model with a key that nobody read and that is not
/// known to leave its numbers alone (ConfigKeys.h); and one whose weights are
/// of awq, gptq, compressed-tensors or modelopt.
ErrorOr<ModelConfig> readModelConfig(const json::Document &document);

/// The same of any family, for those who need sizes only: what no row of the
/// table knows is read by its keys, those of `text_config` where there is one.
/// Weights may have 4 bits too (awq, gptq, compressed-tensors, modelopt).
/// Linear attention and state spaces, whose sizes are others, are errors.
ErrorOr<ModelConfig> readModelSizes(const json::Document &document);

/// What `config` took from which key of `document`, its source: a
/// line a key with its value and what became of it, then what holds by default,
/// and the keys that nobody read with the reason.
std::string explainImport(const json::Document &document,
                          const ModelConfig &config);

/// Number of elements of all weights, by the sizes in `config`.
double countParameters(const ModelConfig &config);

/// Where the index of a checkpoint (`model.safetensors.index.json`) lies next
/// to the config at `configPath` and counts parameters or bytes: an error if
/// those of a family that was read by its keys alone are others. An index that
/// has parts that are left out bounds them from above.
std::optional<Error> checkIndexedSize(const std::string &configPath,
                                      const ModelConfig &config);

} // namespace shardopt::hf

#endif // SHARDOPT_TARGET_HUGGINGFACE_MODELCONFIG_H
