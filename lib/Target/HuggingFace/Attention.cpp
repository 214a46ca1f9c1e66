//===- Attention.cpp - Attention of an imported layer ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::hf;

/// The inner norms of latent attention are built without the config's epsilon
/// and so have the default of their class in Transformers.
static constexpr double innerEpsilon = 1e-6;

static llm::RopeScaling scalingOf(RopeConfig::Scaling scaling) {
  switch (scaling) {
  case RopeConfig::Scaling::None:
    return llm::RopeScaling::None;
  case RopeConfig::Scaling::Linear:
    return llm::RopeScaling::Linear;
  case RopeConfig::Scaling::Llama3:
    return llm::RopeScaling::Llama3;
  case RopeConfig::Scaling::Yarn:
    return llm::RopeScaling::Yarn;
  case RopeConfig::Scaling::LongRope:
    return llm::RopeScaling::LongRope;
  }
  llvm_unreachable("unknown scaling of rotary frequencies");
}

/// `tokens`: of the longest sequence that the program sees.
static llm::RopeAttr ropeAttr(MLIRContext *context, int64_t dim,
                              const RopeConfig &rope, int64_t tokens) {
  DenseF64ArrayAttr divisors;
  if (rope.scaling == RopeConfig::Scaling::LongRope)
    divisors = DenseF64ArrayAttr::get(context, tokens > rope.originalContext
                                                   ? rope.longDivisors
                                                   : rope.shortDivisors);
  return llm::RopeAttr::get(
      context, dim, APFloat(rope.theta),
      rope.interleaved ? llm::RopeStyle::Interleaved : llm::RopeStyle::Half,
      scalingOf(rope.scaling), APFloat(rope.factor),
      APFloat(rope.lowFreqFactor), APFloat(rope.highFreqFactor),
      APFloat(rope.betaFast), APFloat(rope.betaSlow), rope.originalContext,
      rope.truncate, APFloat(rope.magnitude), divisors);
}

llm::RopeAttr ModelBuilder::layerRope(int64_t dim) {
  const AttentionConfig &facts = config.attention;
  if (stack->rope == LayerRope::None)
    return {};
  const RopeConfig &rope =
      stack->rope == LayerRope::Local ? facts.localRope : facts.rope;
  return ropeAttr(builder.getContext(), int64_t(double(dim) * rope.share), rope,
                  options.context);
}

/// How queries grow where a layer does not turn its heads, or null.
static llm::TemperatureAttr temperatureAttr(MLIRContext *context,
                                            const AttentionConfig &facts,
                                            LayerRope rope) {
  if (rope != LayerRope::None || facts.temperatureFloor == 0)
    return {};
  return llm::TemperatureAttr::get(context, facts.temperatureFloor,
                                   APFloat(facts.temperatureScale));
}

/// Null where heads are normed one by one, with one weight or none.
static llm::HeadNormAttr headNormAttr(MLIRContext *context,
                                      const AttentionConfig &facts) {
  if (!facts.qkNorm || !(facts.qkNormWhole || facts.qkNormMean))
    return {};
  return llm::HeadNormAttr::get(context, facts.qkNormWhole
                                             ? llm::HeadNorm::AllHeads
                                             : llm::HeadNorm::Mean);
}

/// Null where there is none.
static FloatAttr capAttr(OpBuilder &builder, double cap) {
  return cap == 0 ? FloatAttr() : builder.getF64FloatAttr(cap);
}

SmallVector<Type> ModelBuilder::stateCaches(int64_t taps, int64_t channels,
                                            ArrayRef<int64_t> state) const {
  SmallVector<int64_t> sizes = {ShapedType::kDynamic};
  sizes.append(state.begin(), state.end());
  return {RankedTensorType::get({ShapedType::kDynamic, taps - 1, channels},
                                types.activations()),
          RankedTensorType::get(sizes, Float32Type::get(builder.getContext()))};
}

SmallVector<Type> ModelBuilder::layerCaches(const Stack &ofLayers) const {
  if (ofLayers.mixer == Mixer::DeltaNet)
    return deltaNetCaches();
  if (ofLayers.mixer == Mixer::Mamba2)
    return mamba2Caches();
  if (ofLayers.mixer == Mixer::None)
    return {};
  const AttentionConfig &attention = config.attention;
  constexpr int64_t dynamic = ShapedType::kDynamic;
  if (attention.latent)
    return {RankedTensorType::get(
        {dynamic, dynamic,
         attention.latentRank + attention.ropeDim + attention.indexDim},
        types.caches())};
  auto cache = RankedTensorType::get(
      {dynamic, dynamic, attention.kvHeads, attention.headDim}, types.caches());
  return {cache, cache};
}

Value ModelBuilder::attention(Value input, Value positions,
                              SmallVectorImpl<Value> &caches) {
  if (stack->mixer == Mixer::DeltaNet)
    return deltaNet(input, positions, caches);
  if (stack->mixer == Mixer::Mamba2)
    return mamba2(input, positions, caches);
  const AttentionConfig &facts = config.attention;
  Value heads = facts.latent ? latentAttention(input, positions, caches)
                             : groupedAttention(input, positions, caches);
  return outputProjection(heads, facts.heads,
                          facts.latent ? facts.valueDim : facts.headDim,
                          ofAttention("o_proj"), facts.outputBias);
}

Value ModelBuilder::groupedAttention(Value input, Value positions,
                                     SmallVectorImpl<Value> &caches) {
  const AttentionConfig &facts = config.attention;
  int64_t queries = facts.heads * facts.headDim;
  int64_t withGates = facts.gated ? 2 * queries : queries;
  int64_t keys = facts.kvHeads * facts.headDim;
  int64_t columns = withGates + 2 * keys;
  auto tensors = [&](StringRef suffix, bool transposed) {
    auto tensor = [&](StringRef name, int64_t size) {
      return HubTensor{ofAttention((name + suffix).str()), size, transposed};
    };
    return SmallVector<HubTensor>{tensor("q_proj", withGates),
                                  tensor("k_proj", keys),
                                  tensor("v_proj", keys)};
  };

  SmallVector<HubTensor> weights = tensors(".weight", /*transposed=*/true);
  if (!config.names.fusedQkv.empty())
    weights = {{ofAttention(std::string(config.names.fusedQkv) + ".weight"),
                columns, /*transposed=*/true}};
  Value weight = matrix("qkv_proj.weight", {config.hidden, columns},
                        WeightClass::Attention, weights);
  Value bias;
  if (facts.inputBias)
    bias = vector("qkv_proj.bias", {columns},
                  tensors(".bias", /*transposed=*/false));
  Value projected = llm::QkvProjOp::create(
      builder, rows(columns), input, weight, bias, facts.heads, facts.kvHeads,
      facts.headDim, facts.gated, opName("qkv_proj"), llm::DimAttr());

  Value queryNorm, keyNorm, sinks;
  FloatAttr epsilon;
  llm::HeadNormAttr headNorm = headNormAttr(builder.getContext(), facts);
  if (facts.qkNorm && !facts.qkNormPlain) {
    queryNorm =
        normWeight("attention.q_norm", headNorm ? queries : facts.headDim,
                   ofAttention("q_norm.weight"));
    keyNorm = normWeight("attention.k_norm", headNorm ? keys : facts.headDim,
                         ofAttention("k_norm.weight"));
  }
  // What is turned is as long as it was, so that a norm without weights can
  // come first.
  if (facts.qkNorm && !(facts.qkNormPlain && stack->rope == LayerRope::None))
    epsilon = builder.getF64FloatAttr(config.epsilon);
  if (facts.sinks)
    sinks = vector("attention.sinks", {facts.heads},
                   HubTensor{ofAttention("sinks")});
  auto attention = llm::AttentionOp::create(
      builder, rows(queries), ValueRange(caches).getTypes(),
      llm::AttentionKind::Gqa, projected, /*latent=*/Value(), positions, caches,
      queryNorm, keyNorm, sinks, /*kv_norm=*/Value(), /*kv_up=*/Value(),
      /*head_offset=*/Value(), /*index_queries=*/Value(),
      /*index_norm=*/Value(), /*index_norm_bias=*/Value(), facts.heads,
      builder.getI64IntegerAttr(facts.kvHeads),
      builder.getI64IntegerAttr(facts.headDim),
      /*group=*/facts.heads / facts.kvHeads, /*nope_dim=*/IntegerAttr(),
      /*rope_dim=*/IntegerAttr(), /*value_dim=*/IntegerAttr(),
      /*rank=*/IntegerAttr(), APFloat(facts.scale),
      capAttr(builder, facts.softCap), layerRope(facts.headDim),
      /*window=*/IntegerAttr(), facts.chunked,
      temperatureAttr(builder.getContext(), facts, stack->rope), headNorm,
      epsilon, /*kv_norm_epsilon=*/FloatAttr(), sequence, facts.gated,
      /*indexer=*/llm::IndexerAttr(), opName("attention"), llm::DimAttr());
  caches.assign(attention.getNewCaches().begin(),
                attention.getNewCaches().end());
  return attention.getResult();
}

ModelBuilder::LatentQueries ModelBuilder::latentQueries(Value input) {
  const AttentionConfig &facts = config.attention;
  int64_t queries = facts.heads * (facts.nopeDim + facts.ropeDim);
  IntegerAttr heads = builder.getI64IntegerAttr(facts.heads);
  auto project = [&](StringRef name, StringRef hubName, Value from,
                     int64_t width, int64_t columns, Value norm, Value bias,
                     IntegerAttr heads) -> Value {
    Value weight = matrix(
        (name + ".weight").str(), {width, columns}, WeightClass::Attention,
        HubTensor{ofAttention((hubName + ".weight").str()), columns,
                  /*transposed=*/true});
    return llm::LinearOp::create(
        builder, rows(columns), from, weight, norm, bias,
        norm ? builder.getF64FloatAttr(innerEpsilon) : FloatAttr(), heads,
        /*transposed=*/UnitAttr(), builder.getStringAttr(opName(name)),
        llm::DimAttr());
  };
  if (facts.queryRank == 0)
    return {project("q_proj", "q_proj", input, config.hidden, queries, Value(),
                    Value(), heads),
            /*index=*/Value()};
  Value bias;
  if (facts.inputBias)
    bias = vector("q_down.bias", {facts.queryRank},
                  HubTensor{ofAttention("q_a_proj.bias")});
  Value down = project("q_down", "q_a_proj", input, config.hidden,
                       facts.queryRank, Value(), bias, IntegerAttr());
  Value norm = vector("q_up.norm", {facts.queryRank},
                      HubTensor{ofAttention("q_a_layernorm.weight")});
  LatentQueries made;
  made.heads = project("q_up", "q_b_proj", down, facts.queryRank, queries, norm,
                       Value(), heads);
  if (facts.indexTopk != 0)
    made.index = project("index_q", "indexer.wq_b", down, facts.queryRank,
                         facts.indexHeads * facts.indexDim, norm, Value(),
                         IntegerAttr());
  return made;
}

Value ModelBuilder::latentAttention(Value input, Value positions,
                                    SmallVectorImpl<Value> &caches) {
  const AttentionConfig &facts = config.attention;
  LatentQueries queries = latentQueries(input);

  int64_t columns = facts.latentRank + facts.ropeDim;
  SmallVector<HubTensor> parts = {
      {ofAttention("kv_a_proj_with_mqa.weight"), columns, /*transposed=*/true}};
  Value indexNorm, indexNormBias;
  llm::IndexerAttr indexer;
  if (facts.indexTopk != 0) {
    // The key of a row, and a gate for each head that meets it.
    parts.push_back({ofAttention("indexer.wk.weight"), facts.indexDim,
                     /*transposed=*/true});
    parts.push_back({ofAttention("indexer.weights_proj.weight"),
                     facts.indexHeads, /*transposed=*/true});
    parts.back().isPlain = true;
    columns += facts.indexDim + facts.indexHeads;
    indexNorm = vector("attention.index_norm", {facts.indexDim},
                       HubTensor{ofAttention("indexer.k_norm.weight")});
    indexNormBias = vector("attention.index_norm_bias", {facts.indexDim},
                           HubTensor{ofAttention("indexer.k_norm.bias")});
    indexer = llm::IndexerAttr::get(
        builder.getContext(), facts.indexHeads, facts.indexDim, facts.indexTopk,
        APFloat(innerEpsilon),
        facts.indexInterleaves ? llm::RopeStyle::Interleaved
                               : llm::RopeStyle::Half);
  }
  Value weight = matrix("kv_down.weight", {config.hidden, columns},
                        WeightClass::Attention, parts);
  Value bias;
  if (facts.inputBias)
    bias = vector("kv_down.bias", {columns},
                  HubTensor{ofAttention("kv_a_proj_with_mqa.bias")});
  Value latent = llm::LinearOp::create(
      builder, rows(columns), input, weight, /*norm=*/Value(), bias,
      /*epsilon=*/FloatAttr(), /*heads=*/IntegerAttr(),
      /*transposed=*/UnitAttr(), builder.getStringAttr(opName("kv_down")),
      llm::DimAttr());

  Value norm = vector("attention.kv_norm", {facts.latentRank},
                      HubTensor{ofAttention("kv_a_layernorm.weight")});
  int64_t expanded = facts.heads * (facts.nopeDim + facts.valueDim);
  Value up = matrix("attention.kv_up", {facts.latentRank, expanded},
                    WeightClass::Attention,
                    HubTensor{ofAttention("kv_b_proj.weight"), expanded,
                              /*transposed=*/true});
  auto attention = llm::AttentionOp::create(
      builder, rows(facts.heads * facts.valueDim),
      ValueRange(caches).getTypes(), llm::AttentionKind::Mla, queries.heads,
      latent, positions, caches, /*q_norm=*/Value(), /*k_norm=*/Value(),
      /*sinks=*/Value(), norm, up, /*head_offset=*/Value(), queries.index,
      indexNorm, indexNormBias, facts.heads,
      /*kv_heads=*/IntegerAttr(), /*head_dim=*/IntegerAttr(), /*group=*/1,
      builder.getI64IntegerAttr(facts.nopeDim),
      builder.getI64IntegerAttr(facts.ropeDim),
      builder.getI64IntegerAttr(facts.valueDim),
      builder.getI64IntegerAttr(facts.latentRank), APFloat(facts.scale),
      capAttr(builder, facts.softCap), layerRope(facts.ropeDim),
      /*window=*/IntegerAttr(), /*chunked=*/false,
      /*temperature=*/llm::TemperatureAttr(), /*qk_norm=*/llm::HeadNormAttr(),
      /*epsilon=*/FloatAttr(), builder.getF64FloatAttr(innerEpsilon), sequence,
      /*gated=*/false, indexer, opName("attention"), llm::DimAttr());
  caches.assign(attention.getNewCaches().begin(),
                attention.getNewCaches().end());
  return attention.getResult();
}

Value ModelBuilder::outputProjection(Value heads, int64_t count,
                                     int64_t headDim, const std::string &tensor,
                                     bool hasBias) {
  Value weight = matrix("out_proj.weight", {count * headDim, config.hidden},
                        WeightClass::Attention,
                        HubTensor{tensor + ".weight", config.hidden,
                                  /*transposed=*/true, /*deinterleave=*/false,
                                  config.residualScale});
  Value bias;
  if (hasBias)
    bias = vector("out_proj.bias", {config.hidden},
                  HubTensor{tensor + ".bias", /*size=*/0,
                            /*transposed=*/false, /*deinterleave=*/false,
                            config.residualScale});
  return llm::OutProjOp::create(builder, rows(config.hidden), heads, weight,
                                bias, count, opName("out_proj"),
                                llm::DimAttr());
}
