//===- ElementTypes.h - Element types of an imported model ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_TARGET_HUGGINGFACE_ELEMENTTYPES_H
#define SHARDOPT_LIB_TARGET_HUGGINGFACE_ELEMENTTYPES_H

#include "shardopt/Model/Kernel.h"
#include "shardopt/Target/HuggingFace/Import.h"

namespace shardopt::hf {

/// The element types of a program, from what its checkpoint has and what the
/// user asks for.
class ElementTypes {
public:
  ElementTypes(mlir::MLIRContext *context, const ModelConfig &config,
               const ImportOptions &options);

  /// Of activations, norm weights, biases and sinks.
  mlir::Type activations() const { return activationType; }
  mlir::Type caches() const { return cacheType; }
  /// Of weight matrices of class `of`.
  mlir::Type weights(WeightClass of) const;
  /// How quantized weights are stored; none where no weight is.
  std::optional<cost::WeightType> storage() const;

private:
  QuantizationConfig quantization;
  mlir::Type activationType, cacheType, plainType, quantizedType;
};

} // namespace shardopt::hf

#endif // SHARDOPT_LIB_TARGET_HUGGINGFACE_ELEMENTTYPES_H
