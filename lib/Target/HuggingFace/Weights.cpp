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

std::string ModelBuilder::ofLayer(StringRef name) const {
  return std::string(config.names.model) + ".layers.{layer}." + name.str();
}

std::string ModelBuilder::ofAttention(StringRef name) const {
  return ofLayer(std::string(config.names.attention) + "." + name.str());
}

namespace {

/// How the checkpoint stores a tensor.
struct Storage {
  std::string pattern;
  bool transposed = false;
  std::string scales; ///< pattern of the tensor with its scales, or empty
  /// Rows and columns of the stored matrix that have a scale; empty where the
  /// whole of it does.
  std::vector<int64_t> block;
};

} // namespace

/// `inputs`: the length of a row of what is transposed.
static Storage storageOf(const HubTensor &tensor, const ModelConfig &config,
                         std::optional<WeightClass> of, int64_t inputs) {
  const QuantizationConfig &quantization = config.quantization;
  using Method = QuantizationConfig::Method;
  Storage storage;
  storage.pattern = tensor.pattern;
  storage.transposed = tensor.transposed;
  if (!of || tensor.isPlain || !quantization.quantizes(*of))
    return storage;
  if (quantization.method == Method::Fp8) {
    storage.scales = tensor.pattern + std::string(quantization.scaleName);
    if (quantization.blockRows != 0)
      storage.block = {quantization.blockRows, quantization.blockColumns};
    if (quantization.hasRowScales)
      storage.block = {1, inputs};
  } else if (config.names.fusedExperts) {
    // Of the families only gpt-oss is published in mxfp4: packed along the
    // inputs, hence with the outputs in front.
    storage.pattern = tensor.pattern + "_blocks";
    storage.scales = tensor.pattern + "_scales";
    storage.transposed = true;
  }
  return storage;
}

llm::SourcePart ModelBuilder::part(const HubTensor &tensor, bool alone,
                                   std::optional<WeightClass> of,
                                   int64_t inputs) {
  Storage storage = storageOf(tensor, config, of, inputs);
  llm::SourcePart part;
  part.pattern = storage.pattern;
  part.size = alone ? 0 : tensor.size;
  part.offset = tensor.offset;
  part.isTransposed = storage.transposed;
  part.isInterleaved = tensor.deinterleave;
  part.scales = storage.scales;
  part.factor = tensor.factor;
  part.shift = tensor.shift;
  part.block = storage.block;
  return part;
}

DictionaryAttr ModelBuilder::source(ArrayRef<HubTensor> tensors, int64_t axis,
                                    std::optional<WeightClass> of,
                                    int64_t groups, int64_t inputs) {
  llm::Source source;
  source.groups = groups;
  for (const HubTensor &tensor : tensors)
    source.parts.push_back(part(tensor, tensors.size() == 1, of, inputs));
  if (tensors.size() > 1)
    source.axis = axis;
  return source.write(builder.getContext());
}

Value ModelBuilder::param(StringRef name, ArrayRef<int64_t> shape, Type element,
                          DictionaryAttr source) {
  std::string symbol = name.str();
  if (stack)
    symbol = stack->paramPrefix + symbol;
  return llm::ParamOp::create(builder, RankedTensorType::get(shape, element),
                              builder.getStringAttr(symbol), source);
}

Value ModelBuilder::matrix(StringRef name, ArrayRef<int64_t> shape,
                           WeightClass of, ArrayRef<HubTensor> parts,
                           int64_t groups) {
  return param(name, shape, types.weights(of),
               source(parts, /*axis=*/1, of, groups,
                      /*inputs=*/shape[shape.size() - 2]));
}

Value ModelBuilder::vector(StringRef name, ArrayRef<int64_t> shape,
                           ArrayRef<HubTensor> parts) {
  return param(name, shape, types.activations(),
               source(parts, /*axis=*/0, std::nullopt));
}
