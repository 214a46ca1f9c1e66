//===- ServedProgram.cpp - What a serving engine runs of a model ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Model.h"
#include "shardopt/Cost/Ops/Embedding.h"
#include "shardopt/Cost/Ops/Ffn.h"
#include "shardopt/Cost/Ops/GatedDeltaNet.h"
#include "shardopt/Cost/Ops/GqaAttention.h"
#include "shardopt/Cost/Ops/Linear.h"
#include "shardopt/Cost/Ops/Mamba2.h"
#include "shardopt/Cost/Ops/MlaAttention.h"
#include "shardopt/Cost/Ops/QkvProj.h"
#include "shardopt/Cost/ServedModel.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

/// Scales of fp8 weights are of blocks.
static ServedType servedTypeOf(WeightType type) {
  switch (type) {
  case WeightType::Fp8:
    return ServedType::Fp8Block;
  case WeightType::Mxfp4:
    return ServedType::Mxfp4;
  case WeightType::F32:
  case WeightType::Bf16:
    break;
  }
  return ServedType::Bf16;
}

/// A program does not tell the network of a dense layer from shared experts: it
/// is the latter where there are others beside it.
static void readNetwork(const FfnUp &up, bool hasExperts, ServedModel &served) {
  served.gates = up.gated ? 2 : 1;
  const ServedType type = servedTypeOf(up.weights);
  if (up.kind == FfnKind::Grouped) {
    served.expertInner = double(up.inner);
    served.expertType = type;
    return;
  }
  (hasExperts ? served.sharedInner : served.denseInner) = double(up.inner);
  served.denseType = type;
}

static void readOp(const OpModel &op, bool hasExperts, ServedModel &served) {
  if (auto *gqa = dynamic_cast<const GqaAttention *>(&op)) {
    served.heads = double(gqa->heads);
    served.kvHeads = double(gqa->kvHeads);
    served.headDim = double(gqa->headDim);
    served.hasQkNorm = gqa->qkNorm;
    served.isGated = gqa->gated;
    served.hasFp8Cache = gqa->cacheBytes < 2;
  } else if (auto *mla = dynamic_cast<const MlaAttention *>(&op)) {
    served.isLatent = true;
    served.heads = double(mla->heads);
    served.latentRank = double(mla->latent);
    served.nopeDim = double(mla->nope);
    served.ropeDim = double(mla->rope);
    served.valueDim = double(mla->value);
    served.attentionType = servedTypeOf(mla->weights);
    served.hasFp8Cache = mla->cacheBytes < 2;
  } else if (auto *net = dynamic_cast<const GatedDeltaNet *>(&op)) {
    served.net.heads = double(net->heads);
    served.net.valueHeads = double(net->valueHeads);
    served.net.keyDim = double(net->keyDim);
    served.net.valueDim = double(net->valueDim);
    served.net.taps = double(net->taps);
  } else if (auto *projection = dynamic_cast<const QkvProj *>(&op)) {
    served.attentionType = servedTypeOf(projection->weights);
  } else if (auto *up = dynamic_cast<const FfnUp *>(&op)) {
    readNetwork(*up, hasExperts, served);
  }
}

/// The width from which latent queries are made, where that is not the layer's.
static double queryRankOf(const Body &body, const ServedModel &served) {
  const double queries = served.heads * (served.nopeDim + served.ropeDim);
  for (const Node &node : body.nodes)
    if (auto *linear = dynamic_cast<const Linear *>(node.op.get()))
      if (linear->heads && double(linear->out) == queries &&
          double(linear->in) != served.hidden)
        return double(linear->in);
  return 0;
}

static bool hasNet(const Body &body) {
  return std::any_of(
      body.nodes.begin(), body.nodes.end(), [](const Node &node) {
        return dynamic_cast<const GatedDeltaNet *>(node.op.get());
      });
}

ErrorOr<ServedModel> cost::servedModelOf(const Model &model) {
  ServedModel served;
  auto *embedding = dynamic_cast<const Embedding *>(model.embed.op.get());
  if (!embedding)
    return Error{"the model has no embedding"};
  served.vocab = double(embedding->vocab);
  served.hidden = double(embedding->hidden);
  served.hasTiedEmbeddings = model.tiedEmbeddings;
  for (const Body &body : model.bodies) {
    for (const Node &node : body.nodes)
      if (dynamic_cast<const Mamba2 *>(node.op.get()))
        return Error{"'" + node.name +
                     "' has a state, of which serving runs are not made"};
    for (const Node &node : body.nodes)
      readOp(*node.op, body.experts > 0, served);
    if (served.isLatent)
      served.queryRank = std::max(served.queryRank, queryRankOf(body, served));
    served.experts = std::max(served.experts, double(body.experts));
    served.topk = std::max(served.topk, double(body.topK));
  }
  if (served.heads <= 0)
    return Error{"the model has no attention, of which serving runs are made"};
  for (const Segment &segment : model.segments)
    for (int64_t window : segment.windows) {
      const Body &body = model.bodies[segment.body];
      if (hasNet(body))
        served.addNetLayer(body.experts > 0);
      else
        served.addLayer(window, body.experts > 0);
    }
  served.hasFp8Blocks = served.attentionType == ServedType::Fp8Block ||
                        served.denseType == ServedType::Fp8Block ||
                        served.expertType == ServedType::Fp8Block;
  return served;
}
