//===- TestModels.cpp - Models and machines for tests of costs ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModels.h"

#include "shardopt/Model/Ops/Combine.h"
#include "shardopt/Model/Ops/Dispatch.h"
#include "shardopt/Model/Ops/Embedding.h"
#include "shardopt/Model/Ops/Ffn.h"
#include "shardopt/Model/Ops/GatedDeltaNet.h"
#include "shardopt/Model/Ops/GqaAttention.h"
#include "shardopt/Model/Ops/Linear.h"
#include "shardopt/Model/Ops/LmHead.h"
#include "shardopt/Model/Ops/Mamba2.h"
#include "shardopt/Model/Ops/MlaAttention.h"
#include "shardopt/Model/Ops/Norm.h"
#include "shardopt/Model/Ops/OutProj.h"
#include "shardopt/Model/Ops/QkvProj.h"
#include "shardopt/Model/Ops/Router.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

ModelConfig test::gptMoe(int64_t layers) {
  ModelConfig c;
  c.hidden = 12288, c.layers = layers, c.vocab = 51200;
  c.heads = 96, c.kvHeads = 8, c.headDim = 128;
  c.gated = false;
  c.experts = 16, c.topK = 2, c.expertInner = 49152;
  return c;
}

ModelConfig test::llama70B() {
  ModelConfig c;
  c.hidden = 8192, c.layers = 80, c.vocab = 128256;
  c.heads = 64, c.kvHeads = 8, c.headDim = 128;
  c.inner = 28672;
  return c;
}

ModelConfig test::mixtral8x22B() {
  ModelConfig c;
  c.hidden = 6144, c.layers = 56, c.vocab = 32000;
  c.heads = 48, c.kvHeads = 8, c.headDim = 128;
  c.experts = 8, c.topK = 2, c.expertInner = 16384;
  return c;
}

ModelConfig test::qwen3Moe235B() {
  ModelConfig c;
  c.hidden = 4096, c.layers = 94, c.vocab = 151936;
  c.heads = 64, c.kvHeads = 4, c.headDim = 128;
  c.qkNorm = true;
  c.experts = 128, c.topK = 8, c.expertInner = 1536;
  return c;
}

ModelConfig test::deepSeekV3() {
  ModelConfig c;
  c.hidden = 7168, c.layers = 61, c.vocab = 129280;
  c.heads = 128;
  c.queryRank = 1536, c.latent = 512, c.nope = 128, c.rope = 64, c.value = 128;
  c.inner = 18432, c.denseLayers = 3;
  c.experts = 256, c.topK = 8, c.expertInner = 2048, c.sharedInner = 2048;
  c.linear = WeightType::Fp8Block;
  return c;
}

ModelConfig test::qwen35Dense27B() {
  ModelConfig config;
  config.hidden = 5120, config.layers = 64, config.vocab = 248320;
  config.heads = 24, config.kvHeads = 4, config.headDim = 256;
  config.qkNorm = true;
  config.inner = 17408;
  config.keyHeads = 16;
  return config;
}

ModelConfig test::graniteOfSpaces(int64_t groups) {
  ModelConfig config;
  config.hidden = 2048, config.layers = 40, config.vocab = 100352;
  config.heads = 32, config.kvHeads = 8, config.headDim = 64;
  config.inner = 8192;
  config.spaceHeads = 64, config.spaceGroups = groups;
  return config;
}

ModelConfig test::gptOss120B() {
  ModelConfig c;
  c.hidden = 2880, c.layers = 36, c.vocab = 201088;
  c.heads = 64, c.kvHeads = 8, c.headDim = 64;
  c.experts = 128, c.topK = 4, c.expertInner = 2880;
  c.window = 128;
  c.expertWeights = WeightType::Mxfp4;
  return c;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {

/// Makes one body; ops of each kind are numbered as they are added.
class BodyBuilder {
public:
  BodyBuilder(const ModelConfig &config, std::string prefix, bool routed,
              bool isNet, unsigned &variable)
      : config(config), prefix(std::move(prefix)), routed(routed), isNet(isNet),
        variable(variable) {}

  Body build() {
    body.residual = value();
    Norm norm;
    norm.hidden = config.hidden;
    ValueId normed = add("attn_norm", norm, {body.residual});
    bool isSpace = isNet && config.spaceHeads;
    ValueId attended = isSpace         ? addSpace(normed)
                       : isNet         ? addDeltaNet(normed)
                       : config.latent ? addLatentAttention(normed)
                                       : addGroupedAttention(normed);
    OutProj out;
    out.heads = isSpace ? spaceUnits() : isNet ? config.keyHeads : config.heads;
    out.headDim = isSpace ? config.spaceHeads / spaceUnits() * space().headDim
                  : isNet ? deltaNet().valueDim * 3
                  : config.latent ? config.value
                                  : config.headDim;
    out.hidden = config.hidden;
    out.weights = config.linear;
    ValueId projected = add("out_proj", out, {attended});

    normed = add("ffn_norm", norm, {projected, body.residual}, 2);
    body.exitResiduals = {normed + 1};
    if (routed)
      addExperts(normed);
    else
      body.exitOutputs = {
          addFfn("ffn", FfnKind::Dense, config.inner, config.linear, normed)};
    body.numValues = values;
    return std::move(body);
  }

private:
  ValueId value() { return values++; }

  template <typename Op>
  ValueId add(const std::string &name, const Op &op,
              std::vector<ValueId> operands, unsigned numResults = 1) {
    Op made = op;
    made.activationBytes = config.activationBytes;
    Node node;
    node.name = prefix + name;
    node.variable = variable++;
    node.op = std::make_shared<Op>(made);
    node.operands = std::move(operands);
    for (unsigned i = 0; i < numResults; ++i)
      node.results.push_back(value());
    body.nodes.push_back(node);
    return node.results.front();
  }

  /// Three value heads a key head.
  GatedDeltaNet deltaNet() const {
    GatedDeltaNet net;
    net.heads = config.keyHeads;
    net.valueHeads = 3 * config.keyHeads;
    net.keyDim = net.valueDim = 128;
    net.taps = 4;
    return net;
  }

  ValueId addDeltaNet(ValueId normed) {
    GatedDeltaNet net = deltaNet();
    Linear projection;
    projection.weights = config.linear;
    projection.in = config.hidden;
    projection.heads = net.heads;
    projection.out =
        2 * net.heads * net.keyDim + 2 * net.valueHeads * (net.valueDim + 1);
    return add("gated_delta_net", net, {add("in_proj", projection, {normed})});
  }

  Mamba2 space() const {
    Mamba2 space;
    space.heads = config.spaceHeads, space.headDim = 64;
    space.groups = config.spaceGroups, space.stateDim = 128;
    space.taps = 4;
    return space;
  }

  /// What dim 0 of it cuts.
  int64_t spaceUnits() const {
    return config.spaceGroups == 1 ? config.spaceHeads : config.spaceGroups;
  }

  ValueId addSpace(ValueId normed) {
    Mamba2 facts = space();
    int64_t shared = 2 * facts.groups * facts.stateDim;
    Linear projection;
    projection.weights = config.linear;
    projection.in = config.hidden;
    projection.heads = spaceUnits();
    projection.shared = facts.groups == 1 ? shared : 0;
    projection.out = facts.heads * (2 * facts.headDim + 1) + shared;
    return add("mamba2", facts, {add("in_proj", projection, {normed})});
  }

  ValueId addGroupedAttention(ValueId normed) {
    QkvProj qkv;
    qkv.gated = config.keyHeads > 0;
    qkv.hidden = config.hidden;
    qkv.heads = config.heads;
    qkv.kvHeads = config.kvHeads;
    qkv.headDim = config.headDim;
    qkv.weights = config.linear;
    GqaAttention attention;
    attention.gated = qkv.gated;
    attention.heads = config.heads;
    attention.kvHeads = config.kvHeads;
    attention.headDim = config.headDim;
    attention.qkNorm = config.qkNorm;
    attention.cacheBytes = config.cacheBytes;
    return add("attention", attention, {add("qkv_proj", qkv, {normed})});
  }

  ValueId addLatentAttention(ValueId normed) {
    Linear queries;
    queries.weights = config.linear;
    queries.in = config.queryRank ? config.queryRank : config.hidden;
    queries.out = config.heads * (config.nope + config.rope);
    queries.heads = config.heads;
    ValueId query = 0;
    if (config.queryRank) {
      Linear down;
      down.weights = config.linear;
      down.in = config.hidden;
      down.out = config.queryRank;
      queries.innerNorm = true;
      query = add("q_up", queries, {add("q_down", down, {normed})});
    } else {
      query = add("q_proj", queries, {normed});
    }
    Linear kvDown;
    kvDown.weights = config.linear;
    kvDown.in = config.hidden;
    kvDown.out = config.latent + config.rope;
    ValueId latent = add("kv_down", kvDown, {normed});

    MlaAttention attention;
    attention.heads = config.heads;
    attention.latent = config.latent;
    attention.nope = config.nope;
    attention.rope = config.rope;
    attention.value = config.value;
    attention.weights = config.linear;
    attention.cacheBytes = config.cacheBytes;
    return add("attention", attention, {query, latent});
  }

  ValueId addFfn(const std::string &name, FfnKind kind, int64_t inner,
                 WeightType weights, ValueId input) {
    FfnUp up;
    up.kind = kind;
    up.hidden = config.hidden;
    up.inner = inner;
    up.gated = config.gated;
    up.weights = weights;
    FfnDown down;
    static_cast<Ffn &>(down) = up;
    return add(name + "_down", down, {add(name + "_up", up, {input})});
  }

  void addExperts(ValueId normed) {
    body.experts = config.experts;
    body.topK = config.topK;
    Router router;
    router.hidden = config.hidden;
    router.experts = config.experts;
    router.topK = config.topK;
    Dispatch dispatch;
    dispatch.hidden = config.hidden;
    dispatch.topK = config.topK;
    Combine combine;
    combine.hidden = config.hidden;
    combine.topK = config.topK;

    ValueId tokens = add("router", router, {normed}, 3);
    ValueId sent = add("dispatch", dispatch, {tokens});
    ValueId outputs =
        addFfn("ffn", FfnKind::Grouped, config.expertInner,
               config.expertWeights.value_or(config.linear), sent);
    body.exitOutputs = {add("combine", combine, {outputs})};
    if (config.sharedInner)
      body.exitOutputs.push_back(addFfn("shared", FfnKind::Shared,
                                        config.sharedInner, config.linear,
                                        normed));
  }

  const ModelConfig &config;
  std::string prefix;
  bool routed, isNet;
  unsigned &variable;
  Body body;
  unsigned values = 0;
};

} // namespace

Model test::makeModel(const ModelConfig &config, const Workload &workload) {
  Model model;
  model.workload = workload;
  model.rowBytes = double(config.hidden) * config.activationBytes;
  model.tiedEmbeddings = config.tied;

  unsigned variable = 0;
  Embedding embed;
  embed.vocab = config.vocab;
  embed.hidden = config.hidden;
  embed.activationBytes = config.activationBytes;
  model.embed = {
      "embed", variable++, std::make_shared<Embedding>(embed), {}, {}};

  std::vector<bool> routed; // by layer
  for (int64_t layer = 0; layer < config.layers; ++layer)
    routed.push_back(config.experts && layer >= config.denseLayers &&
                     (layer + 1) % config.sparseStep == 0);
  bool anyDense = std::count(routed.begin(), routed.end(), false) > 0;
  bool anyRouted = std::count(routed.begin(), routed.end(), true) > 0;
  bool mixed = anyDense && anyRouted;
  auto addBody = [&](const char *prefix, bool isRouted, bool isNet) {
    model.bodies.push_back(
        BodyBuilder(config, prefix, isRouted, isNet, variable).build());
  };
  bool hasNets = config.keyHeads || config.spaceHeads;
  if (anyDense)
    addBody(mixed ? "dense." : hasNets ? "full." : "", false, false);
  if (anyRouted)
    addBody(mixed ? "moe." : "", true, false);
  // Of models without experts.
  if (hasNets)
    addBody("linear.", false, true);
  auto bodyOf = [&](int64_t layer) {
    bool isNet = hasNets && (layer + 1) % 4 != 0;
    return isNet || (mixed && routed[layer]) ? 1u : 0u;
  };
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (layer == 0 || bodyOf(layer) != bodyOf(layer - 1))
      model.segments.push_back({bodyOf(layer), {}});
    model.segments.back().windows.push_back(layer % 2 == 0 ? config.window : 0);
  }

  LmHead head;
  head.vocab = config.vocab;
  head.hidden = config.hidden;
  head.activationBytes = config.activationBytes;
  model.head = {"lm_head", variable++, std::make_shared<LmHead>(head), {}, {}};
  return model;
}

//===----------------------------------------------------------------------===//
// Machines and strategies
//===----------------------------------------------------------------------===//

Machine test::h100() {
  Machine m;
  m.name = "h100_sxm";
  m.bf16Flops = 989e12 * 0.75;
  m.fp8Flops = 1978e12 * 0.75;
  m.memoryBandwidth = 3.35e12 * 0.85;
  m.memoryCapacity = 80e9 * 0.9;
  m.kernelLatency = 2e-6;
  m.domainSize = 8;
  m.linkBandwidth = 450e9 * 0.8;
  m.multicastBandwidth = 450e9 * 0.6;
  m.networkBandwidth = 50e9 * 0.9;
  m.collectiveLatency = 2e-6;
  m.linkLatency = 3e-6;
  m.networkLatency = 6e-6;
  m.ringCollectiveLatency = 6.6e-6;
  m.ringLinkStep = 0.6e-6;
  m.ringNetworkStep = 2.7e-6;
  m.expertSkew = 0.1;
  return m;
}

Machine test::h200() {
  Machine m = h100();
  m.name = "h200_sxm";
  m.memoryBandwidth = 4.8e12 * 0.85;
  m.memoryCapacity = 126.9e9;
  return m;
}

Machine test::gb200() {
  Machine m = h100();
  m.name = "gb200";
  m.bf16Flops = 2500e12 * 0.75;
  m.fp8Flops = 5000e12 * 0.75;
  m.memoryBandwidth = 8e12 * 0.85;
  m.memoryCapacity = 185030273437.5 * 0.9;
  m.domainSize = 72;
  m.linkBandwidth = 900e9 * 0.8;
  m.multicastBandwidth = 900e9 * 0.6;
  m.networkBandwidth = 100e9 * 0.9;
  return m;
}

CostModel test::makeCosts(const ModelConfig &config, const Workload &workload,
                          const Machine &machine, CommModel comm) {
  Limits limits;
  limits.memoryBytes = machine.memoryCapacity;
  limits.latencySeconds = workload.phase == Phase::Decode ? 50e-3 : 2;
  return CostModel(makeModel(config, workload),
                   std::make_shared<Roofline>(machine, comm),
                   machine.expertSkew, limits);
}

Strategy test::strategy(const Degrees &degrees, const std::string &dims) {
  Strategy result;
  result.degrees = degrees;
  for (char digit : dims)
    result.dims.push_back(static_cast<Dim>(digit - '0'));
  return result;
}
