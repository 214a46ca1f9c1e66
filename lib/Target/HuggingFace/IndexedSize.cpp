//===- IndexedSize.cpp - What a checkpoint's index says of its size -------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A family that is read by its keys alone has the sizes that they say. Where
// the index of a checkpoint lies next to its config, that counts parameters or
// bytes, and both have to agree.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Target/HuggingFace/ModelConfig.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::hf;
using llvm::StringRef;

/// Of the parameters: biases and weights of norms that no key says.
static constexpr double tolerance = 5e-3;

/// Scales of weights of few bits, one for 16 numbers at most.
static constexpr double mostScales = 0.15;

/// Whether `tensor` is of a part that a program does not have: what sees
/// images or hears sound, and layers that predict further tokens.
static bool isLeftOut(StringRef tensor, int64_t numLayers) {
  for (StringRef part : {"vision", "visual", "vit.", "audio", "image", "speech",
                         "multi_modal", "projector", "connector", "aligner",
                         "perceiver", "resampler", "patch", "mtp", "eh_proj"})
    if (tensor.contains(part))
      return true;
  auto [before, after] = tensor.split("layers.");
  int64_t layer = 0;
  return !after.consumeInteger(10, layer) && layer >= numLayers;
}

static double bytesOf(ElementType type) {
  return type == ElementType::F32 ? 4 : 2;
}

std::optional<Error>
shardopt::hf::checkIndexedSize(const std::string &configPath,
                               const ModelConfig &config) {
  llvm::SmallString<128> path(llvm::sys::path::parent_path(configPath));
  llvm::sys::path::append(path, "model.safetensors.index.json");
  if (!config.isByKeys || !llvm::sys::fs::exists(path))
    return std::nullopt;
  ErrorOr<json::Document> index = json::Document::parseFile(path.str().str());
  if (!index)
    return index.error();
  json::Value root = index->root(), metadata = root["metadata"];
  bool isAll = true; // of what is stored
  if (json::Value files = root["weight_map"].nullAsAbsent())
    for (const auto &[tensor, file] : files.members())
      isAll = isAll && !isLeftOut(tensor, int64_t(config.layers.size()));

  double parameters = countParameters(config);
  double least = parameters, most = parameters;
  json::Value said = metadata["total_parameters"].nullAsAbsent();
  bool isQuantised =
      config.quantization.method != QuantizationConfig::Method::None;
  // Packed weights are counted as they are packed.
  if (!said || isQuantised) {
    said = metadata["total_size"].nullAsAbsent();
    least *= isQuantised ? .5 : bytesOf(config.type);
    most *= bytesOf(config.type) * (isQuantised ? 1 + mostScales : 1);
  }
  double found = said ? said.positiveNumber() : least;
  if (index->failed())
    return index->error();
  // What is left out takes any part of what is stored.
  if (least <= found * (1 + tolerance) &&
      (!isAll || found <= most * (1 + tolerance)))
    return std::nullopt;
  said.fail("is " + said.found() + ", yet the keys of the config make " +
            std::to_string(int64_t(std::llround(parameters))) +
            " parameters: nothing here knows '" + config.architecture +
            "', and its sizes are other ones");
  return index->error();
}
