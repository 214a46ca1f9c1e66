//===- ModelConfig.cpp - Reading a config.json ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Target/HuggingFace/ModelConfig.h"

#include "ConfigKeys.h"
#include "ConfigReaders.h"

#include "shardopt/Support/Files.h"
#include "shardopt/Support/Limits.h"
#include "shardopt/Support/NonNumbers.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::hf;

//===----------------------------------------------------------------------===//
// Reads that the parts share
//===----------------------------------------------------------------------===//

int64_t shardopt::hf::readSize(const json::Value &value,
                               std::optional<int64_t> otherwise) {
  int64_t size = otherwise ? value.nullAsAbsent().integer(otherwise, 1, maxSize)
                           : value.integer(std::nullopt, 1, maxSize);
  // After an error too, a size can be divided by.
  return std::clamp<int64_t>(size, 1, maxSize);
}

bool shardopt::hf::readFlag(const json::Value &value, bool otherwise) {
  return !value.isNull() && value.boolean(otherwise);
}

bool shardopt::hf::hasBias(const json::Value &flag, BiasRule rule) {
  switch (rule) {
  case BiasRule::Never:
    return false;
  case BiasRule::Always:
    return true;
  case BiasRule::Asked:
    return readFlag(flag, /*otherwise=*/false);
  }
  return false;
}

void shardopt::hf::expectString(const json::Value &value,
                                std::string_view wanted) {
  json::Value given = value.nullAsAbsent();
  if (given)
    given.choice<bool>({{wanted, true}});
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The name of the architecture, empty after an error.
static std::string readArchitectureName(const json::Value &root) {
  json::Value value = root["architectures"];
  std::vector<json::Value> names;
  if (value.isArray())
    names = value.elements();
  if (names.empty()) {
    std::string wanted = "an array with one of";
    for (const std::string &name : architectureNames())
      wanted += " \"" + name + "\"";
    value.failExpected(wanted);
    return "";
  }
  return names.front().string();
}

/// Elements of the weights of the norms of queries and keys.
static double qkNormParameters(const AttentionConfig &attention) {
  if (!attention.qkNorm || attention.qkNormPlain)
    return 0;
  bool isEach = attention.qkNormWhole || attention.qkNormMean;
  return double(attention.headDim) *
         (isEach ? double(attention.heads + attention.kvHeads) : 2);
}

/// Elements of the weights of attention in a layer.
static double countParameters(const AttentionConfig &attention, double hidden) {
  double heads = attention.heads;
  if (!attention.latent) {
    double headDim = attention.headDim;
    double columns =
        ((attention.gated ? 2 : 1) * heads + 2.0 * attention.kvHeads) * headDim;
    return hidden * columns + heads * headDim * hidden +
           (attention.inputBias ? columns : 0) +
           (attention.outputBias ? hidden : 0) + qkNormParameters(attention) +
           (attention.sinks ? heads : 0);
  }
  double rank = attention.queryRank, latent = attention.latentRank;
  double queries = heads * double(attention.nopeDim + attention.ropeDim);
  double down = latent + attention.ropeDim;
  double projection =
      rank == 0 ? hidden * queries : hidden * rank + rank + rank * queries;
  double bias = attention.inputBias ? rank + down : 0;
  if (attention.indexTopk != 0)
    projection += double(attention.indexHeads) *
                      (rank * double(attention.indexDim) + hidden) +
                  double(attention.indexDim) * (hidden + 2);
  return projection + hidden * down + latent +
         latent * heads * double(attention.nopeDim + attention.valueDim) +
         heads * attention.valueDim * hidden + bias +
         (attention.outputBias ? hidden : 0);
}

/// Elements of the weights of a gated delta net in a layer.
static double countParameters(const DeltaNetConfig &net, double hidden) {
  double keys = double(net.heads) * double(net.keyDim);
  double values = double(net.valueHeads) * double(net.valueDim);
  double channels = 2 * keys + values, heads = net.valueHeads;
  return hidden * (channels + values + 2 * heads) +
         channels * double(net.taps) + 2 * heads + double(net.valueDim) +
         values * hidden;
}

/// Elements of the weights of a state space in a layer.
static double countParameters(const Mamba2Config &space, double hidden) {
  double values = space.values();
  double channels = space.channels();
  double columns = space.columns();
  return hidden * columns + values * hidden +
         channels * (double(space.taps) + (space.convBias ? 1 : 0)) +
         3 * double(space.heads) + values +
         (space.projBias ? columns + hidden : 0);
}

/// Elements of the weights of a feed-forward network in a layer.
static double countParameters(const FeedForwardConfig &network, double hidden,
                              bool experts) {
  double up = network.activation.gated ? 2 : 1;
  auto dense = [&](double inner, bool bias, double width) {
    return (up + 1) * width * inner + (bias ? up * inner + width : 0);
  };
  if (!experts)
    return dense(network.denseInner, network.denseBias, hidden);
  double latent = network.expertLatent;
  const RouterConfig &router = network.router;
  double columns = router.experts;
  return hidden * columns + (router.bias ? columns : 0) +
         (router.correction ? columns : 0) +
         columns * dense(network.expertInner, network.expertBias,
                         latent > 0 ? latent : hidden) +
         2 * latent * hidden + (network.latentBias ? latent + hidden : 0) +
         dense(network.sharedInner, network.sharedBias, hidden) +
         (network.sharedGate ? hidden : 0);
}

static double countMixer(const ModelConfig &config, Mixer mixer) {
  double hidden = config.hidden;
  switch (mixer) {
  case Mixer::Attention:
    return ::countParameters(config.attention, hidden);
  case Mixer::DeltaNet:
    return ::countParameters(config.deltaNet, hidden);
  case Mixer::Mamba2:
    return ::countParameters(config.mamba2, hidden);
  case Mixer::None:
    return 0;
  }
  return 0;
}

double shardopt::hf::countParameters(const ModelConfig &config) {
  double hidden = config.hidden;
  double embeddings = config.tiedEmbeddings ? 1 : 2;
  double norm = config.normBias ? 2 * hidden : hidden;
  double total = embeddings * config.vocab * hidden + norm +
                 (config.headBias ? double(config.vocab) : 0);
  auto norms = [&](std::string_view before, std::string_view behind) {
    return (before.empty() ? 0 : norm) + (behind.empty() ? 0 : norm);
  };
  const HubNames &names = config.names;
  for (const LayerConfig &layer : config.layers) {
    if (layer.mixer != Mixer::None)
      total += norms(names.attentionNorm, names.attentionPostNorm) +
               countMixer(config, layer.mixer);
    if (layer.network)
      total += norms(names.networkNorm, names.networkPostNorm) +
               ::countParameters(config.feedForward, hidden, layer.experts);
  }
  return total;
}

/// Factors of embedding, residual and logits.
static void readScales(const ConfigRoot &root, const Architecture &architecture,
                       ModelConfig &config) {
  if (architecture.embeddingScale == EmbeddingScale::RootOfHidden)
    config.embeddingScale = std::sqrt(double(config.hidden));
  if (architecture.softCaps)
    if (json::Value cap = root["final_logit_softcapping"].nullAsAbsent())
      config.logitCap =
          cap.positiveNumber() * (architecture.capsLogits ? 1 : 0);
  if (architecture.logitScale)
    config.logitScale = root["logit_scale"].positiveNumber();
  if (architecture.depthScales) {
    config.embeddingScale = root["scale_emb"].positiveNumber();
    double depth = double(config.layers.size());
    json::Value ofDepth = root["scale_depth"];
    config.residualScale =
        ofDepth.isNull() ? 1 : ofDepth.positiveNumber() / std::sqrt(depth);
    json::Value base = root["dim_model_base"];
    config.logitScale =
        base.isNull() ? 1 : double(readSize(base)) / double(config.hidden);
  }
  if (!architecture.multipliers)
    return;
  auto read = [&](const char *key) { return root[key].positiveNumber(); };
  config.embeddingScale = read("embedding_multiplier");
  config.residualScale = read("residual_multiplier");
  config.logitScale = 1 / read("logits_scaling");
}

/// The widest weight or activation: every size is bounded where it is read, yet
/// not their products.
static double widestTensor(const ModelConfig &config) {
  const AttentionConfig &attention = config.attention;
  double heads = attention.heads;
  double widest =
      attention.latent
          ? heads * double(attention.nopeDim +
                           std::max(attention.ropeDim, attention.valueDim))
          : ((attention.gated ? 2 : 1) * heads + 2.0 * attention.kvHeads) *
                double(attention.headDim);
  const DeltaNetConfig &net = config.deltaNet;
  widest = std::max(widest, 2.0 * double(net.heads) * double(net.keyDim) +
                                2.0 * double(net.valueHeads) *
                                    (double(net.valueDim) + 1));
  widest = std::max(widest, double(config.mamba2.columns()));
  const FeedForwardConfig &network = config.feedForward;
  double up = network.activation.gated ? 2 : 1;
  for (int64_t inner :
       {network.denseInner, network.expertInner, network.sharedInner})
    widest = std::max(widest, up * double(inner));
  return widest;
}

/// Whether the head is the embedding. Transformers asks the whole, where the
/// model is nested and has no head of its own.
static bool readTied(const json::Value &whole, const ConfigRoot &text,
                     const Architecture &architecture, bool isNested) {
  static constexpr std::string_view key = "tie_word_embeddings";
  bool byText = readFlag(text[key], /*otherwise=*/false);
  bool byWhole =
      readFlag(whole[key], isNested ? architecture.wholeTies : byText);
  if (architecture.neverTied)
    return false;
  switch (architecture.tie) {
  case TieRule::Whole:
    return byWhole;
  case TieRule::Text:
    return byText;
  case TieRule::Either:
    return byText || byWhole;
  }
  return false;
}

static ErrorOr<ModelConfig> readModel(const json::Document &document,
                                      const json::Value &given,
                                      const Architecture *architecture,
                                      bool forSizes) {
  ConfigRoot root(given, architecture->isByKeys
                             ? nullptr
                             : findConfigClass(architecture->name));
  ModelConfig config;
  config.architecture = architecture->name;
  config.isByKeys = architecture->isByKeys;
  config.isNested = architecture->isNested;
  config.names = architecture->names;
  config.vocab = readSize(root["vocab_size"]);
  config.hidden = readSize(root["hidden_size"]);
  config.layers = readLayers(root, *architecture);
  config.layerNorm = architecture->layerNorm;
  config.normBias = architecture->layerNorm && architecture->normBias;
  config.parallelBlock = architecture->parallelBlock;
  config.headBias =
      architecture->headBias &&
      hasBias(root[architecture->mlpBiasFlag], architecture->mlpBias);
  json::Value epsilon = root[config.layerNorm ? architecture->normEpsilon
                                              : architecture->rmsEpsilon];
  if (architecture->isByKeys)
    config.epsilon = 1e-5; // of a program that nothing executes
  else if (config.layerNorm || forSizes)
    config.epsilon = epsilon.nullAsAbsent().positiveNumber(1e-5);
  else
    config.epsilon = epsilon.positiveNumber();
  config.tiedEmbeddings = readTied(document.root(), root, *architecture,
                                   config.isNested && !config.isByKeys);
  config.normShift = architecture->normPlusOne ? 1 : 0;
  readScales(root, *architecture, config);
  config.attention = readAttention(root, *architecture);
  auto has = [&](Mixer mixer) {
    return std::any_of(
        config.layers.begin(), config.layers.end(),
        [&](const LayerConfig &layer) { return layer.mixer == mixer; });
  };
  if (architecture->mixers == MixerRule::DeltaNet)
    config.deltaNet = readDeltaNet(root, *architecture);
  if (has(Mixer::Mamba2))
    config.mamba2 = readMamba2(root, *architecture);
  config.feedForward = readFeedForward(root, *architecture, config.layers);
  // What holds for a nested model may stand next to it.
  auto holder = [&](std::initializer_list<const char *> keys) {
    for (const char *key : keys)
      if (root.file()[key].nullAsAbsent())
        return root.file();
    return document.root();
  };
  config.type = readType(holder({"dtype", "torch_dtype"}));
  json::Value quantized = holder({"quantization_config"});
  config.quantization = forSizes ? readQuantizationSizes(quantized, config)
                                 : readQuantization(quantized, config);

  double parameters = countParameters(config);
  if (parameters > maxParameters)
    root.fail("the sizes make more parameters than " +
              std::to_string(int64_t(maxParameters)));
  double widest = widestTensor(config);
  if (widest > double(maxDimSize))
    root.fail("the sizes make a weight with " +
              std::to_string(int64_t(std::min(widest, 1e18))) +
              " columns, expected at most " + std::to_string(maxDimSize));
  if (document.failed())
    return document.error();
  return config;
}

/// Keys of models that mix tokens otherwise than by attention, in some layers.
static constexpr const char *otherMixers[] = {
    "block_types",        "hybrid_override_pattern",
    "linear_attn_config", "linear_num_key_heads",
    "lru_width",          "mamba_d_state",
    "mamba_num_heads",    "ssm_cfg",
    "ssm_state_size",     "state_size"};

static constexpr const char *whyNotMixed =
    "linear attention and state spaces are not read";

/// Whether some layers of `root` do; records an error that names the first.
static bool hasOtherMixers(const json::Value &root) {
  const char *why = whyNotMixed;
  for (const char *key : otherMixers)
    if (json::Value given = root[key].nullAsAbsent()) {
      given.fail(why);
      return true;
    }
  if (json::Value types = root["layer_types"].nullAsAbsent())
    for (const json::Value &type : types.elements())
      if (std::string name = type.string();
          name.find("attention") == std::string::npos ||
          name.find("linear") != std::string::npos) {
        type.fail("'" + abbreviate(name) + "': " + why);
        return true;
      }
  // MiniMax lists 1 for attention and 0 for linear attention.
  if (json::Value types = root["attn_type_list"].nullAsAbsent())
    for (const json::Value &type : types.elements())
      if (type.integer() != 1) {
        type.fail(why);
        return true;
      }
  return false;
}

/// A model of a family that has no row, called `name`.
static ErrorOr<ModelConfig> readByKeys(const json::Document &document,
                                       const std::string &name) {
  json::Value root = document.root();
  json::Value text = root["text_config"].nullAsAbsent();
  if (text)
    root = text;
  if (hasOtherMixers(root) ||
      hasOtherSizes(root, document.root()["architectures"]))
    return document.error();
  Architecture deduced = deduceArchitecture(root);
  deduced.isNested = text.present();
  ErrorOr<ModelConfig> config =
      readModel(document, root, &deduced, /*forSizes=*/true);
  if (config)
    config->architecture = name;
  return config;
}

/// What describes the language model of `document`; older files of some nested
/// ones have it next to what sees.
static json::Value languageModel(const json::Document &document,
                                 const Architecture &architecture) {
  json::Value root = document.root();
  json::Value text = root["text_config"].nullAsAbsent();
  return architecture.isNested && text ? text : root;
}

/// The row of the class `name`, or null where there is none for its language
/// model.
static const Architecture *findRow(const json::Document &document,
                                   const std::string &name) {
  const Architecture *row = findArchitecture(name);
  if (!row || row->textType.empty())
    return row;
  json::Value type = languageModel(document, *row)["model_type"];
  return type.nullAsAbsent() && type.string() != row->textType ? nullptr : row;
}

ErrorOr<ModelConfig>
shardopt::hf::readModelSizes(const json::Document &document) {
  json::Value root = document.root();
  std::string name = readArchitectureName(root);
  if (document.failed())
    return document.error();
  if (const Architecture *architecture = findRow(document, name)) {
    if (architecture->mixers != MixerRule::Attention &&
        architecture->mixers != MixerRule::DeltaNet) {
      root["architectures"].fail(whyNotMixed);
      return document.error();
    }
    Architecture row = *architecture;
    row.readsRope = false;
    return readModel(document, languageModel(document, row), &row,
                     /*forSizes=*/true);
  }
  return readByKeys(document, name);
}

/// Why nothing executes `config`, of the class `name`; empty where it is.
static std::string whyPlannedOnly(const json::Document &document,
                                  const ModelConfig &config,
                                  const std::string &name, bool hasOwnWeights) {
  std::string why;
  auto add = [&](const std::string &reason) {
    why += (why.empty() ? "" : "; ") + reason;
  };
  if (config.isByKeys) {
    add("nothing here knows what '" + abbreviate(name) +
        "' computes, so that it is read by its keys");
    if (!isTransformersClass(name) && document.root()["auto_map"].present())
      add("Transformers 5.23 has no such class, and runs code of the "
          "checkpoint");
    else if (!isTransformersClass(name))
      add("Transformers 5.23 has no such class and cannot run it; " +
          listKnown(name, architectureNames()));
  }
  if (!hasOwnWeights)
    add("nothing here computes with weights of '" +
        abbreviate(document.root()["quantization_config"]["quant_method"]
                       .nullAsAbsent()
                       .string("")) +
        "'");
  else if (!config.quantization.mixed.empty())
    add(config.quantization.mixed);
  std::string keys;
  for (const UnreadKey &key : config.unread)
    if (key.fate == UnreadKey::Fate::NotUnderstood)
      keys += (keys.empty() ? "" : ", ") + key.path;
  if (!keys.empty())
    add("keys that may change its numbers are not understood: " + keys);
  return why;
}

ErrorOr<json::Document> shardopt::hf::parseConfigFile(const std::string &path) {
  ErrorOr<std::string> text = readFile(path, /*limitBytes=*/1 << 28);
  if (!text)
    return text.error();
  ErrorOr<json::Document> document = json::Document::parse(*text, path);
  if (document)
    return document;
  ErrorOr<json::Document> repaired =
      json::Document::parse(json::nullNonNumbers(*text), path);
  return repaired ? std::move(repaired) : std::move(document);
}

ErrorOr<ModelConfig>
shardopt::hf::readModelConfig(const json::Document &document) {
  document.rememberReads();
  json::Value root = document.root();
  std::string name = readArchitectureName(root);
  if (document.failed())
    return document.error();
  const Architecture *architecture = findRow(document, name);
  bool isKnown = hasReadWeights(root);
  ErrorOr<ModelConfig> config =
      architecture ? readModel(document, languageModel(document, *architecture),
                               architecture, /*forSizes=*/!isKnown)
                   : readByKeys(document, name);
  if (!config)
    return config;
  config->unread = findUnreadKeys(document, *config);
  config->plannedOnly =
      whyPlannedOnly(document, *config, name, isKnown || config->isByKeys);
  return config;
}
