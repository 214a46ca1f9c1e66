//===- ExplainImport.cpp - What a config's keys became --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigKeys.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::hf;

namespace {

/// What a key says of a model. `became` is what the program has, whether the
/// config has the key or not; empty where it does not matter to this model.
struct Fact {
  const char *key;
  std::string (*became)(const ModelConfig &);
};

} // namespace

//===----------------------------------------------------------------------===//
// What keys become
//===----------------------------------------------------------------------===//

static std::string spell(double number) {
  std::string text;
  json::Writer(text).value(number);
  return text;
}

/// "4096 features of a token"; nothing for 0.
static std::string some(int64_t count, const char *what) {
  return count == 0 ? "" : std::to_string(count) + " " + what;
}

static std::string yesOrNo(bool truth, const char *what) {
  return (truth ? "" : "no ") + std::string(what);
}

/// "experts in 3 of 4 layers".
template <typename Predicate>
static std::string inLayers(const ModelConfig &config, const std::string &what,
                            Predicate has) {
  auto count = std::count_if(config.layers.begin(), config.layers.end(), has);
  return what + " in " + std::to_string(count) + " of " +
         std::to_string(config.layers.size()) + " layers";
}

static std::string describeWindows(const ModelConfig &config) {
  int64_t window = 0;
  for (const LayerConfig &layer : config.layers)
    window = std::max(window, layer.window);
  if (window == 0)
    return "no window";
  return inLayers(config, "a window of " + std::to_string(window) + " tokens",
                  [](const LayerConfig &layer) { return layer.window != 0; });
}

static std::string describeExperts(const ModelConfig &config) {
  if (config.feedForward.router.experts == 0)
    return "";
  return inLayers(config, "experts",
                  [](const LayerConfig &layer) { return layer.experts; });
}

/// What has the width that `key` gives.
static std::string describeWidth(const ModelConfig &config,
                                 std::string_view key) {
  const FeedForwardConfig &network = config.feedForward;
  std::string dense, expert;
  if (key == network.denseKey)
    dense = some(network.denseInner, "features inside a dense network");
  if (key == network.expertKey)
    expert = some(network.expertInner, "features inside an expert");
  return dense + (dense.empty() || expert.empty() ? "" : ", ") + expert;
}

static std::string describeRope(const ModelConfig &config) {
  const RopeConfig &rope = config.attention.rope;
  std::string text = "base " + spell(rope.theta);
  if (rope.share != 1)
    text += ", " + spell(rope.share) + " of a head";
  if (rope.interleaved)
    text += ", neighbours make pairs";
  switch (rope.scaling) {
  case RopeConfig::Scaling::None:
    return text + ", not scaled";
  case RopeConfig::Scaling::Linear:
    return text + ", linear by " + spell(rope.factor);
  case RopeConfig::Scaling::Llama3:
    return text + ", llama3 by " + spell(rope.factor);
  case RopeConfig::Scaling::Yarn:
    return text + ", yarn by " + spell(rope.factor) + ", magnitude " +
           spell(rope.magnitude);
  case RopeConfig::Scaling::LongRope:
    return text + ", longrope with its long factors beyond " +
           std::to_string(rope.originalContext) + " tokens, magnitude " +
           spell(rope.magnitude);
  }
  return text;
}

static std::string describeActivation(const ModelConfig &config) {
  const ActivationConfig &activation = config.feedForward.activation;
  static constexpr const char *names[] = {"silu", "gelu", "gelu_tanh", "relu",
                                          "relu2"};
  return names[size_t(activation.kind)] +
         std::string(activation.gated ? ", gated" : ", without a gate");
}

static std::string describeWeights(const ModelConfig &config) {
  using Method = QuantizationConfig::Method;
  const QuantizationConfig &weights = config.quantization;
  switch (weights.method) {
  case Method::None:
    return "weights in the type of the rest";
  case Method::Fp8:
    return weights.blockRows ? "fp8 weights, a scale for each block of " +
                                   std::to_string(weights.blockRows) + " x " +
                                   std::to_string(weights.blockColumns)
           : weights.hasRowScales ? "fp8 weights, a scale for each row"
                                  : "fp8 weights, a scale for each matrix";
  case Method::Mxfp4:
    return "mxfp4 weights of the experts";
  case Method::Int4:
    return weights.groupSize ? "int4 weights, a scale for " +
                                   std::to_string(weights.groupSize) + " inputs"
                             : "int4 weights";
  case Method::Int8:
    return "int8 weights, a scale for each row";
  case Method::Nvfp4:
    return "nvfp4 weights";
  }
  return "";
}

static std::string describeType(const ModelConfig &config) {
  static constexpr const char *names[] = {"f32", "f16", "bf16", "fp8", "mxfp4"};
  return names[size_t(config.type)];
}

#define FACT(KEY, BECAME)                                                      \
  {KEY, [](const ModelConfig &c) -> std::string { return BECAME; }}

/// In the order in which a model is told. A key that is not here, and was read,
/// became what it says.
static const Fact facts[] = {
    FACT("architectures", c.architecture),
    FACT("hidden_size", some(c.hidden, "features of a token")),
    FACT("vocab_size", some(c.vocab, "tokens in the vocabulary")),
    FACT("tie_word_embeddings",
         c.tiedEmbeddings ? "the head is the embedding" : "a head of its own"),
    FACT("num_hidden_layers", some(int64_t(c.layers.size()), "layers")),
    FACT("rms_norm_eps", "epsilon " + spell(c.epsilon)),
    FACT("num_attention_heads", some(c.attention.heads, "query heads")),
    FACT("num_key_value_heads", some(c.attention.kvHeads, "key-value heads")),
    FACT("head_dim", some(c.attention.headDim, "features of a head")),
    FACT("q_lora_rank", some(c.attention.queryRank, "features of a query")),
    FACT("kv_lora_rank", some(c.attention.latentRank, "latent features")),
    FACT("attention_bias",
         yesOrNo(c.attention.inputBias, "biases in attention")),
    FACT("use_qk_norm",
         yesOrNo(c.attention.qkNorm, "norms of queries and keys")),
    FACT("query_pre_attn_scalar",
         c.attention.scale ? "scores times " + spell(c.attention.scale) : ""),
    FACT("attention_multiplier", "scores times " + spell(c.attention.scale)),
    FACT("attn_logit_softcapping",
         c.attention.softCap ? "scores within " + spell(c.attention.softCap)
                             : "scores without a cap"),
    FACT("final_logit_softcapping", c.logitCap
                                        ? "logits within " + spell(c.logitCap)
                                        : "logits without a cap"),
    FACT("embedding_multiplier", "embedding times " + spell(c.embeddingScale)),
    FACT("residual_multiplier",
         "what is added to the residual times " + spell(c.residualScale)),
    FACT("logits_scaling", "logits times " + spell(c.logitScale)),
    FACT("rope_theta", describeRope(c)),
    FACT("rope_parameters", describeRope(c)),
    FACT("rope_scaling", describeRope(c)),
    FACT("sliding_window", describeWindows(c)),
    FACT("layer_types", describeWindows(c)),
    FACT("hidden_act", describeActivation(c)),
    FACT("hidden_activation", describeActivation(c)),
    FACT("intermediate_size", describeWidth(c, "intermediate_size")),
    FACT("intermediate_size_mlp", describeWidth(c, "intermediate_size_mlp")),
    FACT("num_experts", describeExperts(c)),
    FACT("num_local_experts", describeExperts(c)),
    FACT("n_routed_experts", describeExperts(c)),
    FACT("moe_num_experts", describeExperts(c)),
    FACT("num_experts_per_tok",
         some(c.feedForward.router.topK, "experts of a token")),
    FACT("moe_k", some(c.feedForward.router.topK, "experts of a token")),
    FACT("moe_intermediate_size", describeWidth(c, "moe_intermediate_size")),
    FACT("n_shared_experts",
         some(c.feedForward.sharedInner, "features inside the shared experts")),
    FACT("shared_expert_intermediate_size",
         some(c.feedForward.sharedInner, "features inside the shared expert")),
    FACT("moe_num_shared_experts",
         some(c.feedForward.sharedInner, "features inside the shared experts")),
    FACT("norm_topk_prob",
         c.feedForward.router.normalize ? "weights of experts sum to 1" : ""),
    FACT("routed_scaling_factor",
         "weights of experts times " + spell(c.feedForward.router.scale)),
    FACT("dtype", describeType(c)),
    FACT("torch_dtype", describeType(c)),
    FACT("quantization_config",
         describeWeights(c) +
             (c.quantization.hasFp8Caches ? ", caches of fp8" : ""))};

#undef FACT

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

static void addLine(std::string &text, const std::string &key,
                    const std::string &value, const std::string &meaning) {
  auto pad = [](const std::string &word, size_t width) {
    return word + std::string(width - std::min(word.size(), width), ' ');
  };
  text += "  " + (meaning.empty()
                      ? pad(key, 32) + " " + value
                      : pad(key, 32) + " " + pad(value, 22) + " " + meaning);
  text += '\n';
}

static const Fact *findFact(const std::string &key) {
  for (const Fact &fact : facts)
    if (key == fact.key)
      return &fact;
  return nullptr;
}

/// The keys of `object` that were read.
static void explainTaken(std::string &text, const json::Value &object,
                         const std::string &prefix, const ModelConfig &config) {
  for (const auto &[key, value] : object.members()) {
    if (!value.wasRead())
      continue;
    const Fact *fact = findFact(key);
    addLine(text, prefix + key, value.found(),
            fact ? fact->became(config) : "");
    if (value.isObject())
      explainTaken(text, value, prefix + key + "/", config);
  }
}

static void explainUnread(std::string &text, const ModelConfig &config,
                          UnreadKey::Fate fate, const char *title) {
  bool isFirst = true;
  for (const UnreadKey &key : config.unread) {
    if (key.fate != fate)
      continue;
    if (isFirst)
      text += std::string(title) + "\n";
    isFirst = false;
    addLine(text, key.path, key.value, key.why);
  }
}

std::string shardopt::hf::explainImport(const json::Document &document,
                                        const ModelConfig &config) {
  json::Value root = document.root(), nested = root["text_config"];
  json::Value model = config.isNested && nested.isObject() ? nested : root;
  std::string text = config.architecture + ", " +
                     std::to_string(config.layers.size()) + " layers, " +
                     std::to_string(int64_t(countParameters(config))) +
                     " parameters: ";
  text += config.plannedOnly.empty() ? "executed"
                                     : "cost-only: " + config.plannedOnly;
  if (!config.isByKeys && !isTransformersClass(config.architecture))
    text += "; Transformers 5.23 has no such class";
  text += "\ntaken\n";
  explainTaken(text, root, "", config);
  text += "by default\n";
  for (const char *key :
       {"vocab_size", "num_attention_heads", "tie_word_embeddings",
        "num_key_value_heads", "head_dim", "attention_bias",
        "attn_logit_softcapping", "final_logit_softcapping", "sliding_window",
        "hidden_act", "rope_theta"}) {
    // Most families have no caps.
    if ((key == std::string("attn_logit_softcapping") &&
         config.attention.softCap == 0) ||
        (key == std::string("final_logit_softcapping") && config.logitCap == 0))
      continue;
    bool isRead =
        key != std::string("hidden_act") && key != std::string("rope_theta");
    bool isThere = (config.isByKeys && !isRead) || model[key].wasRead() ||
                   (key == std::string("rope_theta") &&
                    (model["rope_parameters"].wasRead() ||
                     model["rope_scaling"].wasRead())) ||
                   (key == std::string("hidden_act") &&
                    model["hidden_activation"].wasRead()) ||
                   (key == std::string("sliding_window") &&
                    model["layer_types"].wasRead());
    std::string became = findFact(key)->became(config);
    if (!isThere && !became.empty())
      addLine(text, key, "absent", became);
  }
  explainUnread(text, config, UnreadKey::Fate::Ignored, "ignored");
  explainUnread(text, config, UnreadKey::Fate::LeftOut, "left out");
  explainUnread(text, config, UnreadKey::Fate::NotUnderstood, "not understood");
  return text;
}
