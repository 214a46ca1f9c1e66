//===- FeedForward.cpp - Feed-forward networks of an imported layer -------===//
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

static llm::ActivationKind kindOf(ActivationConfig::Kind kind) {
  switch (kind) {
  case ActivationConfig::Kind::Silu:
    return llm::ActivationKind::Silu;
  case ActivationConfig::Kind::Gelu:
    return llm::ActivationKind::Gelu;
  case ActivationConfig::Kind::GeluTanh:
    return llm::ActivationKind::GeluTanh;
  case ActivationConfig::Kind::Relu:
    return llm::ActivationKind::Relu;
  case ActivationConfig::Kind::SquaredRelu:
    return llm::ActivationKind::SquaredRelu;
  }
  llvm_unreachable("unknown activation function");
}

static llm::ActivationAttr activationAttr(MLIRContext *context,
                                          const ActivationConfig &activation) {
  return llm::ActivationAttr::get(context, kindOf(activation.kind),
                                  activation.gated, APFloat(activation.alpha),
                                  APFloat(activation.limit),
                                  APFloat(activation.shift));
}

/// Columns of an up-projection: those of the gate as well where there is one.
static int64_t upColumns(const ActivationConfig &activation, int64_t inner) {
  return activation.gated ? 2 * inner : inner;
}

/// The tensors of an up-projection within `module`, gate first.
SmallVector<HubTensor> ModelBuilder::upTensors(const std::string &module,
                                               StringRef gate, StringRef up,
                                               int64_t inner,
                                               StringRef suffix) {
  auto tensor = [&](StringRef name) {
    return HubTensor{ofLayer((module + "." + name + suffix).str()), inner,
                     /*transposed=*/suffix == ".weight"};
  };
  if (!config.feedForward.activation.gated)
    return {tensor(up)};
  return {tensor(gate), tensor(up)};
}

Value ModelBuilder::upProjection(StringRef name, Value input, Value weight,
                                 Value bias, Value counts, Value rowGate,
                                 int64_t inner) {
  return llm::FfnUpOp::create(
      builder, rows(inner), input, weight, bias, counts, rowGate,
      activationAttr(builder.getContext(), config.feedForward.activation),
      builder.getStringAttr(opName(name)), llm::DimAttr());
}

Value ModelBuilder::downProjection(StringRef name, Value input, Value weight,
                                   Value bias, Value counts, int64_t width) {
  return llm::FfnDownOp::create(builder, rows(width), input, weight, bias,
                                counts, opName(name), llm::DimAttr());
}

Value ModelBuilder::network(Value input, const std::string &up,
                            const std::string &down, int64_t inner, bool bias,
                            WeightClass of, const std::string &module,
                            Value rowGate) {
  int64_t columns = upColumns(config.feedForward.activation, inner);
  auto upTensorsOf = [&](StringRef suffix) -> SmallVector<HubTensor> {
    if (config.names.fusedUp.empty())
      return upTensors(module, "gate_proj", config.names.denseUp, inner,
                       suffix);
    return {
        {ofLayer(
             (module + "." + StringRef(config.names.fusedUp) + suffix).str()),
         columns, /*transposed=*/suffix == ".weight"}};
  };
  Value upWeight = matrix(up + ".weight", {config.hidden, columns}, of,
                          upTensorsOf(".weight"));
  Value upBias, downBias;
  if (bias)
    upBias = vector(up + ".bias", {columns}, upTensorsOf(".bias"));
  Value hidden =
      upProjection(up, input, upWeight, upBias, Value(), rowGate, inner);

  std::string downTensor =
      ofLayer(module + "." + std::string(config.names.denseDown));
  Value downWeight =
      matrix(down + ".weight", {inner, config.hidden}, of,
             HubTensor{downTensor + ".weight", config.hidden,
                       /*transposed=*/true,
                       /*deinterleave=*/false, config.residualScale});
  if (bias)
    downBias = vector(down + ".bias", {config.hidden},
                      HubTensor{downTensor + ".bias", /*size=*/0,
                                /*transposed=*/false, /*deinterleave=*/false,
                                config.residualScale});
  return downProjection(down, hidden, downWeight, downBias, Value(),
                        config.hidden);
}

Value ModelBuilder::denseNetwork(Value input) {
  const FeedForwardConfig &facts = config.feedForward;
  return network(input, "ffn_up", "ffn_down", facts.denseInner, facts.denseBias,
                 WeightClass::Dense, std::string(config.names.dense));
}

Value ModelBuilder::sharedExperts(Value input) {
  const FeedForwardConfig &facts = config.feedForward;
  Value gate;
  if (facts.sharedGate)
    gate = vector("shared_up.row_gate", {config.hidden},
                  HubTensor{ofLayer(config.names.sharedGate) + ".weight"});
  return network(input, "shared_up", "shared_down", facts.sharedInner,
                 facts.sharedBias, WeightClass::Shared,
                 std::string(config.names.shared), gate);
}

int64_t ModelBuilder::expertWidth() const {
  int64_t latent = config.feedForward.expertLatent;
  return latent != 0 ? latent : config.hidden;
}

Value ModelBuilder::expertLatent(StringRef name, StringRef hubName, Value input,
                                 int64_t from, int64_t to, double factor) {
  const FeedForwardConfig &facts = config.feedForward;
  if (facts.expertLatent == 0)
    return input;
  HubTensor tensor;
  tensor.pattern = ofLayer((hubName + ".weight").str());
  tensor.transposed = true;
  tensor.factor = factor;
  Value weight =
      matrix((name + ".weight").str(), {from, to}, WeightClass::Shared, tensor);
  Value bias;
  if (facts.latentBias) {
    tensor.pattern = ofLayer((hubName + ".bias").str());
    tensor.transposed = false;
    bias = vector((name + ".bias").str(), {to}, tensor);
  }
  return llm::LinearOp::create(builder, rows(to), input, weight,
                               /*norm=*/Value(), bias, /*epsilon=*/FloatAttr(),
                               /*heads=*/IntegerAttr(),
                               /*transposed=*/UnitAttr(),
                               builder.getStringAttr(opName(name)),
                               llm::DimAttr());
}

Value ModelBuilder::routedExperts(Value tokens, Value counts) {
  const FeedForwardConfig &facts = config.feedForward;
  int64_t width = expertWidth();
  const HubNames &names = config.names;
  int64_t experts = facts.router.experts, inner = facts.expertInner;
  int64_t columns = upColumns(facts.activation, inner);
  std::string module(names.experts);

  SmallVector<HubTensor> upWeights, upBiases, downWeights, downBiases;
  if (names.fusedExperts) {
    std::string up = ofLayer(module + "." + std::string(names.up));
    std::string down = ofLayer(module + "." + std::string(names.down));
    upWeights = {{up, columns, /*transposed=*/names.transposedExperts,
                  /*deinterleave=*/names.interleavedExperts}};
    upBiases = {
        {up + "_bias", columns, /*transposed=*/false, /*deinterleave=*/true}};
    downWeights = {{down, width, /*transposed=*/names.transposedExperts}};
    downBiases = {{down + "_bias"}};
  } else {
    module += ".{expert}";
    upWeights = upTensors(module, names.gate, names.up, inner, ".weight");
    downWeights = {{ofLayer(module + "." + std::string(names.down) + ".weight"),
                    width, /*transposed=*/true}};
  }

  Value upWeight = matrix("ffn_up.weight", {experts, width, columns},
                          WeightClass::Experts, upWeights);
  Value upBias, downBias;
  if (facts.expertBias)
    upBias = vector("ffn_up.bias", {experts, columns}, upBiases);
  Value hidden = upProjection("ffn_up", tokens, upWeight, upBias, counts,
                              /*rowGate=*/Value(), inner);

  for (SmallVector<HubTensor> *parts : {&downWeights, &downBiases})
    for (HubTensor &part : *parts)
      part.factor = facts.expertLatent != 0 ? 1 : config.residualScale;
  Value downWeight = matrix("ffn_down.weight", {experts, inner, width},
                            WeightClass::Experts, downWeights);
  if (facts.expertBias)
    downBias = vector("ffn_down.bias", {experts, width}, downBiases);
  return downProjection("ffn_down", hidden, downWeight, downBias, counts,
                        width);
}

Value ModelBuilder::expertNetwork(Value input) {
  const RouterConfig &facts = config.feedForward.router;
  std::string module = ofLayer(config.names.router);
  Value weight = matrix("router.weight", {config.hidden, facts.experts},
                        WeightClass::Plain,
                        HubTensor{module + ".weight", facts.experts,
                                  /*transposed=*/true});
  Value bias, correction;
  if (facts.bias)
    bias = vector("router.bias", {facts.experts}, HubTensor{module + ".bias"});
  if (facts.correction) {
    std::string holder = config.names.correction.empty()
                             ? module
                             : ofLayer(config.names.correction);
    // Transformers keeps it in f32 whatever the model's type.
    correction =
        param("router.correction", {facts.experts}, builder.getF32Type(),
              source(HubTensor{holder + "." +
                               std::string(config.names.correctionName)},
                     /*axis=*/0, std::nullopt));
  }

  constexpr int64_t dynamic = ShapedType::kDynamic;
  Type i32 = builder.getI32Type();
  auto router = llm::RouterOp::create(
      builder, input.getType(),
      RankedTensorType::get({dynamic, facts.topK}, i32),
      RankedTensorType::get({dynamic, facts.topK}, builder.getF32Type()), input,
      weight, bias, correction,
      facts.sigmoid ? llm::Scoring::Sigmoid : llm::Scoring::Softmax, facts.topK,
      facts.normalize, facts.groups, facts.topGroups, facts.groupBest,
      APFloat(facts.scale), facts.scaleTokens, opName("router"),
      llm::DimAttr());
  int64_t width = expertWidth();
  Value tokens =
      expertLatent("latent_down", config.names.latentDown, router.getTokens(),
                   config.hidden, width, /*factor=*/1);
  auto dispatch = llm::DispatchOp::create(
      builder, rows(width), RankedTensorType::get({1, 1, facts.experts}, i32),
      RankedTensorType::get({dynamic}, i32), tokens, router.getIndices(),
      facts.scaleCopies ? router.getWeights() : Value(), facts.experts,
      opName("dispatch"), llm::DimAttr());
  Value expertRows = routedExperts(dispatch.getRows(), dispatch.getCounts());
  Value combined = llm::CombineOp::create(
      builder, rows(width), expertRows, dispatch.getCounts(),
      dispatch.getOrigins(), router.getWeights(), facts.scaleCopies,
      opName("combine"), llm::DimAttr());
  combined = expertLatent("latent_up", config.names.latentUp, combined, width,
                          config.hidden, config.residualScale);
  if (config.feedForward.sharedInner == 0)
    return combined;
  return llm::AddOp::create(builder, combined.getType(), combined,
                            sharedExperts(input));
}
