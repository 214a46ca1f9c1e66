//===- ElementTypes.cpp - Element types of an imported model --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"

using namespace mlir;
using namespace shardopt::hf;

static Type elementType(MLIRContext *context, ElementType type) {
  switch (type) {
  case ElementType::F32:
    return Float32Type::get(context);
  case ElementType::F16:
    return Float16Type::get(context);
  case ElementType::BF16:
    return BFloat16Type::get(context);
  case ElementType::Fp8:
    return Float8E4M3FNType::get(context);
  case ElementType::Mxfp4:
    return Float4E2M1FNType::get(context);
  }
  llvm_unreachable("unknown element type");
}

ElementTypes::ElementTypes(MLIRContext *context, const ModelConfig &config,
                           const ImportOptions &options)
    : quantization(config.quantization) {
  using Method = QuantizationConfig::Method;
  plainType = elementType(context, config.type);
  // Of four bits there is one type, with which other methods are planned.
  quantizedType =
      elementType(context, quantization.method == Method::Fp8 ||
                                   quantization.method == Method::Int8
                               ? ElementType::Fp8
                               : ElementType::Mxfp4);
  activationType =
      elementType(context, options.activations.value_or(config.type));
  cacheType = elementType(context, quantization.hasFp8Caches ? ElementType::Fp8
                                                             : config.type);
}

Type ElementTypes::weights(WeightClass of) const {
  return quantization.quantizes(of) ? quantizedType : plainType;
}

std::optional<shardopt::cost::WeightType> ElementTypes::storage() const {
  using Method = QuantizationConfig::Method;
  using cost::WeightType;
  switch (quantization.method) {
  case Method::None:
    return std::nullopt;
  case Method::Fp8:
    return quantization.blockRows > 0 ? WeightType::Fp8Block : WeightType::Fp8;
  case Method::Mxfp4:
    return WeightType::Mxfp4;
  case Method::Int4:
    return quantization.groupSize == 0 || quantization.groupSize >= 128
               ? WeightType::Int4
           : quantization.groupSize >= 64 ? WeightType::Int4Of64
                                          : WeightType::Int4Of32;
  case Method::Int8:
    return WeightType::Int8;
  case Method::Nvfp4:
    return WeightType::Nvfp4;
  }
  return std::nullopt;
}
