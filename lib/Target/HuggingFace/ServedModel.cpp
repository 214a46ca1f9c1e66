//===- ServedModel.cpp - The sizes that serving engines run ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Target/HuggingFace/ServedModel.h"

using namespace shardopt;
using namespace shardopt::hf;
using cost::ServedModel;
using cost::ServedType;

static ServedType typeOf(const QuantizationConfig &quantization,
                         WeightClass of) {
  if (!quantization.quantizes(of))
    return ServedType::Bf16;
  using Method = QuantizationConfig::Method;
  switch (quantization.method) {
  case Method::None:
    break;
  case Method::Mxfp4:
    return ServedType::Mxfp4;
  case Method::Int4:
    return ServedType::Int4;
  case Method::Nvfp4:
    return ServedType::Nvfp4;
  case Method::Fp8:
    return quantization.blockRows > 0 ? ServedType::Fp8Block : ServedType::Fp8;
  }
  return ServedType::Bf16;
}

ServedModel shardopt::hf::servedModel(const ModelConfig &config) {
  ServedModel model;
  model.vocab = double(config.vocab);
  model.hidden = double(config.hidden);
  model.hasTiedEmbeddings = config.tiedEmbeddings;
  for (const LayerConfig &layer : config.layers)
    if (layer.mixer == Mixer::DeltaNet)
      model.addNetLayer(layer.experts);
    else
      model.addLayer(layer.window, layer.experts);
  const DeltaNetConfig &net = config.deltaNet;
  model.net.heads = double(net.heads);
  model.net.valueHeads = double(net.valueHeads);
  model.net.keyDim = double(net.keyDim);
  model.net.valueDim = double(net.valueDim);
  model.net.taps = double(net.taps);

  const AttentionConfig &attention = config.attention;
  model.heads = double(attention.heads);
  model.kvHeads = double(attention.kvHeads);
  model.headDim = double(attention.headDim);
  model.hasQkNorm = attention.qkNorm;
  model.isQkNormWhole = attention.qkNormWhole;
  model.isGated = attention.gated;
  model.isLatent = attention.latent;
  model.queryRank = double(attention.queryRank);
  model.latentRank = double(attention.latentRank);
  model.nopeDim = double(attention.nopeDim);
  model.ropeDim = double(attention.ropeDim);
  model.valueDim = double(attention.valueDim);
  model.indexHeads = double(attention.indexHeads);
  model.indexDim = double(attention.indexDim);
  model.indexTopk = double(attention.indexTopk);

  const FeedForwardConfig &network = config.feedForward;
  model.gates = network.activation.gated ? 2 : 1;
  model.denseInner = double(network.denseInner);
  model.sharedInner = double(network.sharedInner);
  model.experts = double(network.router.experts);
  model.topk = double(network.router.topK);
  model.expertInner = double(network.expertInner);
  model.attentionType = typeOf(config.quantization, WeightClass::Attention);
  model.denseType = typeOf(config.quantization, WeightClass::Dense);
  model.expertType = typeOf(config.quantization, WeightClass::Experts);
  for (std::string_view known :
       {"LlamaForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM",
        "DeepseekV3ForCausalLM", "GlmMoeDsaForCausalLM",
        "KimiK25ForConditionalGeneration"})
    model.isMeasured |= config.architecture == known;
  model.hasFp8Blocks = config.quantization.blockRows > 0;
  for (std::string_view family : {"Qwen3", "Deepseek", "Glm", "MiniMax"})
    model.hasFp8Blocks |= config.architecture.rfind(family, 0) == 0;
  return model;
}

/// What publishers call a checkpoint whose config here says nothing of types.
static void readTypesOfName(const std::string &name, ServedModel &model) {
  const bool isFp8 = name.find("FP8") != std::string::npos;
  const bool isFp4 = name.find("FP4") != std::string::npos;
  if (model.attentionType != ServedType::Bf16 ||
      model.denseType != ServedType::Bf16 ||
      model.expertType != ServedType::Bf16 || (!isFp8 && !isFp4))
    return;
  model.attentionType = model.denseType = model.expertType =
      isFp4                ? ServedType::Nvfp4
      : model.hasFp8Blocks ? ServedType::Fp8Block
                           : ServedType::Fp8;
}

ErrorOr<ServedModel> shardopt::hf::readServedModel(const std::string &path) {
  ErrorOr<json::Document> document = parseConfigFile(path);
  if (!document)
    return document.error();
  ErrorOr<ModelConfig> config = readModelSizes(*document);
  if (!config)
    return config.error();
  return servedModel(*config);
}

ErrorOr<ServedModel> shardopt::hf::loadServedModel(const std::string &folder,
                                                   const std::string &name) {
  std::string file = name;
  for (size_t at; (at = file.find('/')) != std::string::npos;)
    file.replace(at, 1, "--");
  ErrorOr<ServedModel> model =
      readServedModel(folder + "/" + file + "_config.json");
  if (model)
    readTypesOfName(name, *model);
  return model;
}
