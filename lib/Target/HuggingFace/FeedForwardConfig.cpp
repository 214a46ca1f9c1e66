//===- FeedForwardConfig.cpp - Feed-forward networks of a config ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigReaders.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::hf;

static ActivationConfig readActivation(const ConfigRoot &root,
                                       const Architecture &architecture) {
  using Kind = ActivationConfig::Kind;
  ActivationConfig activation;
  activation.gated = architecture.gated;
  json::Value name = root[architecture.activationKey].nullAsAbsent();
  if (architecture.clampedSwiglu) {
    // Its code does not look at `hidden_act`.
    expectString(name, "silu");
    activation.alpha = root["swiglu_alpha"].positiveNumber();
    activation.limit = root["swiglu_limit"].positiveNumber();
    activation.shift = 1;
    return activation;
  }
  if (architecture.isByKeys)
    return activation;
  activation.kind = name.choice<Kind>({{"silu", Kind::Silu},
                                       {"swish", Kind::Silu},
                                       {"gelu", Kind::Gelu},
                                       {"gelu_new", Kind::GeluTanh},
                                       {"gelu_pytorch_tanh", Kind::GeluTanh},
                                       {"relu", Kind::Relu},
                                       {"relu2", Kind::SquaredRelu}},
                                      /*otherwise=*/Kind::Silu);
  if (architecture.geluIsTanh && activation.kind == Kind::Gelu)
    activation.kind = Kind::GeluTanh;
  return activation;
}

/// The number of experts, which has four names. A file may repeat
/// it.
static int64_t readExpertCount(const ConfigRoot &root) {
  json::Value first = root["num_local_experts"].nullAsAbsent();
  for (const char *name :
       {"num_experts", "n_routed_experts", "moe_num_experts"}) {
    json::Value other = root[name].nullAsAbsent();
    if (!first)
      first = other;
    else if (other && readSize(other) != readSize(first))
      other.failExpected("the number of experts that " + first.pointer() +
                         " gives");
  }
  if (!first)
    root["num_local_experts"].failExpected(
        "the number of experts (or num_experts, n_routed_experts or "
        "moe_num_experts)");
  return readSize(first, /*otherwise=*/1);
}

/// Groups of experts, where only some groups can be chosen (DeepSeek-V3, arXiv
/// 2412.19437, section 2.1.2). A group is ranked by its two best experts.
static void readGroups(const ConfigRoot &root, RouterConfig &router) {
  router.groups = readSize(root["n_group"]);
  router.topGroups = readSize(root["topk_group"]);
  if (router.experts % router.groups != 0 ||
      (router.groups > 1 &&
       router.experts / router.groups < router.groupBest)) {
    root["n_group"].failExpected(
        "a divisor of the number of experts, " +
        std::to_string(router.experts) +
        (router.groupBest > 1 ? ", with two or more in a group" : ""));
    return;
  }
  if (router.topGroups > router.groups ||
      router.topGroups * (router.experts / router.groups) < router.topK)
    root["topk_group"].failExpected(
        "at most n_group " + std::to_string(router.groups) +
        ", and enough groups for num_experts_per_tok " +
        std::to_string(router.topK));
}

static RouterConfig readRouter(const ConfigRoot &root,
                               const Architecture &architecture) {
  RouterConfig router;
  router.experts = readExpertCount(root);
  json::Value topK = root["num_experts_per_tok"];
  if (!topK && root["moe_k"].present())
    topK = root["moe_k"];
  router.topK = readSize(topK);
  if (router.topK > router.experts)
    topK.failExpected("at most the number of experts, " +
                      std::to_string(router.experts));
  switch (architecture.router) {
  case RouterRule::None:
  case RouterRule::ByKeys:
    break;
  case RouterRule::Normalized:
    router.normalize = true;
    break;
  case RouterRule::NormTopkProb:
    router.normalize = root["norm_topk_prob"].boolean();
    break;
  case RouterRule::BiasNormalized:
    router.normalize = true;
    router.bias = true;
    break;
  case RouterRule::CorrectedSoftmax:
    router.correction = true;
    router.normalize = true;
    // The sum of the chosen scores is divided by, where it is larger.
    if (root["moe_norm_min"].nullAsAbsent().nonNegativeNumber(0) > 1e-6)
      root["moe_norm_min"].failExpected("at most 1e-6");
    break;
  case RouterRule::GroupedSigmoid:
    // dots.llm1 calls the one by the name of the other.
    if (json::Value scoring = root.file()["scoring_func"].nullAsAbsent())
      scoring.choice<bool>({{"sigmoid", true}, {"noaux_tc", true}});
    expectString(root.file()["topk_method"], "noaux_tc");
    router.sigmoid = true;
    router.correction = true;
    router.normalize = root["norm_topk_prob"].boolean();
    router.scale = root["routed_scaling_factor"].positiveNumber();
    readGroups(root, router);
    break;
  case RouterRule::CorrectedSigmoid:
    router.sigmoid = true;
    router.correction = true;
    router.normalize = true;
    if (!architecture.routerScale.empty())
      router.scale = root[architecture.routerScale].positiveNumber();
    break;
  case RouterRule::GroupedSoftmax:
    // Transformers computes the same whether `norm_topk_prob` is true or not.
    router.scale =
        root["routed_scaling_factor"].nullAsAbsent().positiveNumber(1);
    router.groupBest = 1;
    if (root["topk_method"].choice<bool>(
            {{"greedy", false}, {"group_limited_greedy", true}},
            /*otherwise=*/false))
      readGroups(root, router);
    break;
  case RouterRule::SigmoidOfInput:
    router.sigmoid = true;
    router.scaleTokens = router.topK == 1;
    router.scaleCopies = router.topK > 1;
    break;
  }
  return router;
}

static void readExpertNetworks(const ConfigRoot &root,
                               const Architecture &architecture,
                               FeedForwardConfig &network) {
  network.router = readRouter(root, architecture);
  network.expertBias = architecture.expertBias;
  if (json::Value latent = root.file()["moe_latent_size"].nullAsAbsent()) {
    if (!architecture.latentExperts)
      latent.failExpected("null: the experts of " +
                          std::string(architecture.name) +
                          " are as wide as its layers");
    network.expertLatent = readSize(latent);
    network.latentBias =
        hasBias(root[architecture.mlpBiasFlag], architecture.mlpBias);
  }
  network.expertKey = architecture.expertWidth;
  if (architecture.isByKeys && !root[network.expertKey].nullAsAbsent())
    network.expertKey = "intermediate_size";
  network.expertInner = readSize(root[network.expertKey]);
  network.sharedGate = architecture.sharedGate;
  network.sharedBias =
      architecture.sharedBias &&
      hasBias(root[architecture.mlpBiasFlag], architecture.mlpBias);
  if (!architecture.sharedWidth.empty())
    network.sharedInner = root[architecture.sharedWidth].integer(
        /*otherwise=*/std::nullopt, 0, maxSize);
  else if (architecture.router == RouterRule::SigmoidOfInput)
    network.sharedInner = network.expertInner;
  else if (json::Value shared = root[architecture.sharedCount];
           !architecture.isByKeys && !architecture.sharedCount.empty() &&
           !shared.isNull())
    network.sharedInner =
        network.expertInner *
        shared.integer(/*otherwise=*/std::nullopt, 0, maxSize);
  if (architecture.isByKeys) {
    json::Value shared = root[architecture.sharedCount];
    if (!shared.nullAsAbsent())
      shared = root["num_shared_experts"];
    // Llama 4 has one, and no key for it.
    int64_t sharedCount = root["interleave_moe_layer_step"].present() ? 1 : 0;
    network.sharedInner =
        root["shared_expert_intermediate_size"].nullAsAbsent().integer(
            network.expertInner * shared.nullAsAbsent().integer(
                                      /*otherwise=*/sharedCount, 0, maxSize),
            0, maxSize);
  }
}

FeedForwardConfig
shardopt::hf::readFeedForward(const ConfigRoot &root,
                              const Architecture &architecture,
                              const std::vector<LayerConfig> &layers) {
  auto count = [&](bool experts) {
    return std::count_if(layers.begin(), layers.end(),
                         [&](const LayerConfig &layer) {
                           return layer.network && layer.experts == experts;
                         });
  };
  FeedForwardConfig network;
  network.activation = readActivation(root, architecture);
  if (count(/*experts=*/false) > 0) {
    network.denseKey = architecture.denseWidth;
    if (architecture.isByKeys && root["intermediate_size_mlp"].nullAsAbsent())
      network.denseKey = "intermediate_size_mlp";
    network.denseInner = readSize(root[network.denseKey]);
    network.denseBias =
        hasBias(root[architecture.mlpBiasFlag], architecture.mlpBias);
  }
  if (count(/*experts=*/true) > 0)
    readExpertNetworks(root, architecture, network);
  return network;
}
