//===- ServedModel.h - The sizes that serving engines run -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TARGET_HUGGINGFACE_SERVEDMODEL_H
#define SHARDOPT_TARGET_HUGGINGFACE_SERVEDMODEL_H

#include "shardopt/Cost/ServedModel.h"
#include "shardopt/Target/HuggingFace/ModelConfig.h"

#include <string>

namespace shardopt::hf {

/// What the time of a serving engine's step is composed of.
cost::ServedModel servedModel(const ModelConfig &config);

/// Reads the config at `path`.
ErrorOr<cost::ServedModel> readServedModel(const std::string &path);

/// Reads the config of the model called `name` ("Qwen/Qwen3-32B") in `folder`,
/// where it is "Qwen--Qwen3-32B_config.json". Weights are of the types that the
/// config names, else of those that the model's name does ("FP8", "NVFP4").
ErrorOr<cost::ServedModel> loadServedModel(const std::string &folder,
                                           const std::string &name);

} // namespace shardopt::hf

#endif // SHARDOPT_TARGET_HUGGINGFACE_SERVEDMODEL_H
