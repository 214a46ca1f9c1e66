//===- DeltaNet.cpp - The gated delta net of an imported layer ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llm.gated_delta_net` has what belongs to a key head side by side, so that
// one dim cuts all of it. A checkpoint has the projections of queries, keys,
// values and gates in this order in one tensor (Qwen3-Next), or each over all
// heads (Qwen3.5), as both have the convolution.
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::hf;

namespace {

/// Widths over all heads.
struct Widths {
  explicit Widths(const DeltaNetConfig &facts)
      : keys(facts.heads * facts.keyDim),
        values(facts.valueHeads * facts.valueDim), channels(2 * keys + values),
        columns(channels + values + 2 * facts.valueHeads) {}

  int64_t keys, values, channels, columns;
};

} // namespace

/// Queries, keys and values, which one tensor has one after the other.
static SmallVector<HubTensor> channelsOf(const std::string &pattern,
                                         const Widths &widths) {
  SmallVector<HubTensor> parts;
  int64_t offset = 0;
  for (int64_t size : {widths.keys, widths.keys, widths.values}) {
    HubTensor &part = parts.emplace_back();
    part.pattern = pattern;
    part.size = size;
    part.transposed = true;
    part.offset = offset;
    offset += size;
  }
  return parts;
}

SmallVector<Type> ModelBuilder::deltaNetCaches() const {
  const DeltaNetConfig &facts = config.deltaNet;
  return stateCaches(facts.taps, Widths(facts).channels,
                     {facts.valueHeads, facts.keyDim, facts.valueDim});
}

Value ModelBuilder::deltaNet(Value input, Value positions,
                             SmallVectorImpl<Value> &caches) {
  const DeltaNetConfig &facts = config.deltaNet;
  Widths widths(facts);
  auto tensor = [&](StringRef name) {
    return ofLayer(("linear_attn." + name).str());
  };
  auto projection = [&](StringRef name, int64_t size) {
    return HubTensor{tensor(name), size, /*transposed=*/true};
  };

  SmallVector<HubTensor> parts;
  if (facts.isSplit) {
    parts = channelsOf(tensor("in_proj_qkv.weight"), widths);
    parts.append({projection("in_proj_z.weight", widths.values),
                  projection("in_proj_b.weight", facts.valueHeads),
                  projection("in_proj_a.weight", facts.valueHeads)});
  } else {
    parts = {projection("in_proj_qkvz.weight", widths.channels + widths.values),
             projection("in_proj_ba.weight", 2 * facts.valueHeads)};
  }
  Value weight = matrix("in_proj.weight", {config.hidden, widths.columns},
                        WeightClass::Attention, parts, facts.heads);
  Value projected = llm::LinearOp::create(
      builder, rows(widths.columns), input, weight, /*norm=*/Value(),
      /*bias=*/Value(), /*epsilon=*/FloatAttr(),
      builder.getI64IntegerAttr(facts.heads), /*transposed=*/UnitAttr(),
      builder.getStringAttr(opName("in_proj")), llm::DimAttr());

  Value conv = param("gated_delta_net.conv", {facts.taps, widths.channels},
                     types.activations(),
                     source(channelsOf(tensor("conv1d.weight"), widths),
                            /*axis=*/1, std::nullopt, facts.heads));
  Value decay = vector("gated_delta_net.decay", {facts.valueHeads},
                       HubTensor{tensor("A_log")});
  Value stepBias = vector("gated_delta_net.step_bias", {facts.valueHeads},
                          HubTensor{tensor("dt_bias")});
  Value norm = vector("gated_delta_net.norm", {facts.valueDim},
                      HubTensor{tensor("norm.weight")});
  auto net = llm::GatedDeltaNetOp::create(
      builder, rows(widths.values), caches[0].getType(), caches[1].getType(),
      projected, positions, caches[0], caches[1], conv, decay, stepBias, norm,
      facts.heads, facts.valueHeads, facts.keyDim, facts.valueDim,
      APFloat(config.epsilon), sequence, opName("gated_delta_net"),
      llm::DimAttr());
  caches.assign({net.getNewConvState(), net.getNewState()});
  return outputProjection(net.getResult(), facts.heads,
                          widths.values / facts.heads,
                          ofLayer("linear_attn.out_proj"),
                          /*hasBias=*/false);
}
