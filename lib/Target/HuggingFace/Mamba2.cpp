//===- Mamba2.cpp - The state space of an imported layer ------------------===//
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

SmallVector<Type> ModelBuilder::mamba2Caches() const {
  const Mamba2Config &facts = config.mamba2;
  return stateCaches(facts.taps, facts.channels(),
                     {facts.heads, facts.headDim, facts.stateDim});
}

Value ModelBuilder::mamba2(Value input, Value positions,
                           SmallVectorImpl<Value> &caches) {
  const Mamba2Config &facts = config.mamba2;
  int64_t values = facts.values();
  int64_t channels = facts.channels();
  int64_t columns = facts.columns();
  auto tensor = [&](StringRef name) {
    return ofLayer(std::string(config.names.mamba) + "." + name.str());
  };
  auto ofHeads = [&](StringRef name, StringRef hubName) {
    return vector(("mamba2." + name).str(), {facts.heads},
                  HubTensor{tensor(hubName)});
  };

  Value weight =
      matrix("in_proj.weight", {config.hidden, columns}, WeightClass::Attention,
             HubTensor{tensor("in_proj.weight"), columns, /*transposed=*/true});
  Value bias;
  if (facts.projBias)
    bias = vector("in_proj.bias", {columns}, HubTensor{tensor("in_proj.bias")});
  Value projected = llm::Mamba2ProjOp::create(
      builder, rows(columns), input, weight, bias, facts.heads, facts.headDim,
      facts.groups, facts.stateDim, opName("in_proj"), llm::DimAttr());

  Value conv = param("mamba2.conv", {facts.taps, channels}, types.activations(),
                     source(HubTensor{tensor("conv1d.weight"), channels,
                                      /*transposed=*/true},
                            /*axis=*/1, std::nullopt));
  Value convBias;
  if (facts.convBias)
    convBias = vector("mamba2.conv_bias", {channels},
                      HubTensor{tensor("conv1d.bias")});
  Value decay = ofHeads("decay", "A_log");
  Value skip = ofHeads("skip", "D");
  Value stepBias = ofHeads("step_bias", "dt_bias");
  Value norm =
      vector("mamba2.norm", {values}, HubTensor{tensor("norm.weight")});
  auto space = llm::Mamba2Op::create(
      builder, rows(values), caches[0].getType(), caches[1].getType(),
      projected, positions, caches[0], caches[1], conv, convBias, decay, skip,
      stepBias, norm, facts.heads, facts.headDim, facts.groups, facts.stateDim,
      builder.getF64FloatAttr(config.epsilon), APFloat(facts.stepMin),
      facts.stepMax == 0 ? FloatAttr() : builder.getF64FloatAttr(facts.stepMax),
      sequence, opName("mamba2"), llm::DimAttr());
  caches.assign({space.getNewConvState(), space.getNewState()});
  // What one device has of it is what the other has.
  int64_t units = facts.groups == 1 ? facts.heads : facts.groups;
  return outputProjection(space.getResult(), units, values / units,
                          tensor("out_proj"), facts.projBias);
}
