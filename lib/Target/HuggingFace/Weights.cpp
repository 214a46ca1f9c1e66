//===- Weights.cpp - Params and the tensors that they are -----------------===//
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

std::string ModelBuilder::ofLayer(StringRef name) {
  return ("model.layers.{layer}." + name).str();
}

/// Writes into `attributes` how the checkpoint stores `tensor` if its class is
/// quantised there.
static void describeStorage(Builder &builder, const HubTensor &tensor,
                            const ModelConfig &config,
                            SmallVectorImpl<NamedAttribute> &attributes,
                            std::string &pattern, bool &transposed) {
  const QuantizationConfig &quantization = config.quantization;
  using Method = QuantizationConfig::Method;
  auto add = [&](StringRef name, Attribute value) {
    attributes.push_back(builder.getNamedAttr(name, value));
  };
  if (quantization.method == Method::Fp8) {
    add("scales", builder.getStringAttr(tensor.pattern + "_scale_inv"));
    if (quantization.blockRows != 0)
      add("block", builder.getDenseI64ArrayAttr(
                       {quantization.blockRows, quantization.blockColumns}));
    return;
  }
  // Of the families only gpt-oss is published in mxfp4: packed along the
  // inputs, hence with the outputs in front.
  if (quantization.method == Method::Mxfp4 && config.names.fusedExperts) {
    add("scales", builder.getStringAttr(tensor.pattern + "_scales"));
    pattern += "_blocks";
    transposed = true;
  }
}

DictionaryAttr ModelBuilder::part(const HubTensor &tensor, bool alone,
                                  std::optional<WeightClass> of) {
  SmallVector<NamedAttribute> attributes;
  std::string pattern = tensor.pattern;
  bool transposed = tensor.transposed;
  if (of && config.quantization.quantizes(*of))
    describeStorage(builder, tensor, config, attributes, pattern, transposed);
  auto add = [&](StringRef name, Attribute value) {
    attributes.push_back(builder.getNamedAttr(name, value));
  };
  add("pattern", builder.getStringAttr(pattern));
  if (transposed)
    add("transposed", builder.getUnitAttr());
  if (tensor.deinterleave)
    add("deinterleave", builder.getUnitAttr());
  if (!alone)
    add("size", builder.getI64IntegerAttr(tensor.size));
  return builder.getDictionaryAttr(attributes);
}

DictionaryAttr ModelBuilder::source(ArrayRef<HubTensor> tensors, int64_t axis,
                                    std::optional<WeightClass> of) {
  bool alone = tensors.size() == 1;
  SmallVector<Attribute> parts;
  for (const HubTensor &tensor : tensors)
    parts.push_back(part(tensor, alone, of));
  SmallVector<NamedAttribute> attributes;
  attributes.push_back(
      builder.getNamedAttr("parts", builder.getArrayAttr(parts)));
  if (!alone)
    attributes.push_back(
        builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis)));
  return builder.getDictionaryAttr(attributes);
}

Value ModelBuilder::param(StringRef name, ArrayRef<int64_t> shape, Type element,
                          DictionaryAttr source) {
  std::string symbol = name.str();
  DenseI64ArrayAttr layers;
  if (stack) {
    symbol = stack->paramPrefix + symbol;
    layers = builder.getDenseI64ArrayAttr(stack->layers);
  }
  return llm::ParamOp::create(builder, RankedTensorType::get(shape, element),
                              builder.getStringAttr(symbol), source, layers);
}

Value ModelBuilder::matrix(StringRef name, ArrayRef<int64_t> shape,
                           WeightClass of, ArrayRef<HubTensor> parts) {
  return param(name, shape, types.weights(of), source(parts, /*axis=*/1, of));
}

Value ModelBuilder::vector(StringRef name, ArrayRef<int64_t> shape,
                           ArrayRef<HubTensor> parts) {
  return param(name, shape, types.activations(),
               source(parts, /*axis=*/0, std::nullopt));
}
