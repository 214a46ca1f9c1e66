//===- ConfigReaders.h - Readers of the parts of a config -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each reads its part from the root of a config.json. Errors stay in the
// document, and what is returned after one is harmless but means nothing: ask
// `Document::failed()` before computing with it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGREADERS_H
#define SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGREADERS_H

#include "Architecture.h"
#include "ConfigClasses.h"

namespace shardopt::hf {

/// A size in [1, maxSize], after an error too; null counts as absent where
/// `otherwise` is given.
int64_t readSize(const json::Value &value,
                 std::optional<int64_t> otherwise = std::nullopt);

/// A truth value; null is false, as Transformers takes it.
bool readFlag(const json::Value &value, bool otherwise);

/// Whether `rule` gives a bias, where `flag` is the config's word on it.
bool hasBias(const json::Value &flag, BiasRule rule);

/// Records an error unless `value` is absent, null or the string `wanted`.
void expectString(const json::Value &value, std::string_view wanted);

/// Records an error, and is false, unless `list` has an entry for each layer.
bool expectEntries(const json::Value &list, size_t found, size_t layers);

/// `rope_parameters`, or `rope_theta` and `rope_scaling`, into `rope` and
/// `localRope`.
void readRopes(const ConfigRoot &root, const Architecture &architecture,
               AttentionConfig &attention);

/// Records an error where they do not fit the heads.
void checkRopes(const ConfigRoot &root, const AttentionConfig &attention);

AttentionConfig readAttention(const ConfigRoot &root,
                              const Architecture &architecture);

/// The sizes of gated delta nets, for layers that have them.
DeltaNetConfig readDeltaNet(const ConfigRoot &root,
                            const Architecture &architecture);

/// The sizes of state spaces, for layers that have them.
Mamba2Config readMamba2(const ConfigRoot &root,
                        const Architecture &architecture);

/// Reads what `layers` need: the width of dense layers only where there are
/// some, and likewise with experts.
FeedForwardConfig readFeedForward(const ConfigRoot &root,
                                  const Architecture &architecture,
                                  const std::vector<LayerConfig> &layers);

/// One entry a layer: whether it has experts, and its window.
std::vector<LayerConfig> readLayers(const ConfigRoot &root,
                                    const Architecture &architecture);

/// Whether a model without a row, whose language model is `root`, has other
/// sizes than its keys say; records an error that names a key.
bool hasOtherSizes(const json::Value &root, const json::Value &architectures);

/// `dtype`, or `torch_dtype`; bfloat16 where there is neither.
ElementType readType(const json::Value &root);

/// Whether something here computes with the weights of a checkpoint.
bool hasReadWeights(const json::Value &root);

/// Of weights that are read (`hasReadWeights`), of `model`, whose other keys
/// are read.
QuantizationConfig readQuantization(const json::Value &root,
                                    const ModelConfig &model);

/// The same for sizes only: of more methods, and without what else they do.
QuantizationConfig readQuantizationSizes(const json::Value &root,
                                         const ModelConfig &model);

/// The classes whose matrices `quantized` excepts in all layers. Of a class
/// that it excepts in part, or by an entry that is not understood, `config`
/// says so (`mixed`).
void readExceptions(const json::Value &quantized, const ModelConfig &model,
                    QuantizationConfig &config);

} // namespace shardopt::hf

#endif // SHARDOPT_LIB_TARGET_HUGGINGFACE_CONFIGREADERS_H
