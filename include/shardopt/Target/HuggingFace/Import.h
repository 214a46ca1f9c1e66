//===- Import.h - From a Hugging Face config to the llm dialect -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TARGET_HUGGINGFACE_IMPORT_H
#define SHARDOPT_TARGET_HUGGINGFACE_IMPORT_H

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Target/HuggingFace/ModelConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>

namespace shardopt::hf {

/// What a config.json leaves open.
struct ImportOptions {
  llm::Phase phase = llm::Phase::Decode;
  /// Tokens that a decode step attends to, or tokens of each prompt.
  int64_t context = 1;
  /// What is known of requests.
  RequestLoad requests;
  /// Element type of activations, norms, biases and sinks; the checkpoint's if
  /// absent. Not Mxfp4.
  std::optional<ElementType> activations;
  /// Whether the program returns the logits in addition to the token ids.
  bool logits = false;
  /// What reports call the model (`llm.model`).
  std::string model;
};

/// Builds the module: one public function, `@decode` or `@prefill`, with an
/// `llm.repeat` for each run of adjacent layers of one kind. Weights and caches
/// have the types of the checkpoint; Retype.h gives them others.
///
/// Arguments: tokens and positions `[rows]`, then for each repeat its caches,
/// `[layers, sequences, positions, …]`. Results: token ids `[prompts]`, logits
/// if asked for, then the caches. `llm.role` says which is which.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext *context,
                                              const ModelConfig &config,
                                              const ImportOptions &options);

/// What reports call the model of the config at `path`: the file's name without
/// ".json" and "_config", or the folder's name for a plain "config.json".
std::string modelName(const std::string &path);

} // namespace shardopt::hf

#endif // SHARDOPT_TARGET_HUGGINGFACE_IMPORT_H
