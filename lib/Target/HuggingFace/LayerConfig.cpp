//===- LayerConfig.cpp - What differs from layer to layer -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigReaders.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::hf;

/// The window of windowed layers, 0 if there are none.
static int64_t readWindow(const json::Value &root, WindowRule rule) {
  bool asked = rule == WindowRule::LastLayers || rule == WindowRule::AllIfUsed;
  if (rule == WindowRule::ByKeys)
    asked = root["use_sliding_window"].nullAsAbsent().present();
  if (rule == WindowRule::Never ||
      (asked && !readFlag(root["use_sliding_window"], /*otherwise=*/false)))
    return 0;
  json::Value window = root["sliding_window"];
  bool optional = rule == WindowRule::Always || rule == WindowRule::ByKeys;
  return window.isNull() || (optional && !window) ? 0 : readSize(window);
}

/// Records an error unless `list` has an entry for each layer.
static bool expectEntries(const json::Value &list, size_t found,
                          size_t layers) {
  if (found == layers)
    return true;
  list.fail("expected an entry for each of the " + std::to_string(layers) +
            " layers, found " + std::to_string(found));
  return false;
}

/// `layer_types`: which layers have the window.
static void readLayerTypes(const json::Value &types, int64_t window,
                           std::vector<LayerConfig> &layers) {
  std::vector<json::Value> elements = types.elements();
  if (!expectEntries(types, elements.size(), layers.size()))
    return;
  for (size_t i = 0; i < layers.size(); ++i)
    layers[i].window = elements[i].choice<int64_t>(
        {{"full_attention", 0}, {"sliding_attention", window}});
}

/// Which layers have a gated delta net.
static void readMixers(const json::Value &root,
                       std::vector<LayerConfig> &layers) {
  json::Value types = root["layer_types"].nullAsAbsent();
  if (!types) {
    const size_t interval =
        readSize(root["full_attention_interval"], /*otherwise=*/4);
    for (size_t i = 0; i < layers.size(); ++i)
      if ((i + 1) % interval != 0)
        layers[i].mixer = Mixer::DeltaNet;
    return;
  }
  std::vector<json::Value> elements = types.elements();
  if (!expectEntries(types, elements.size(), layers.size()))
    return;
  for (size_t i = 0; i < layers.size(); ++i)
    layers[i].mixer =
        elements[i].choice<Mixer>({{"full_attention", Mixer::Attention},
                                   {"linear_attention", Mixer::DeltaNet}});
}

static void readWindows(const json::Value &root, WindowRule rule,
                        std::vector<LayerConfig> &layers) {
  int64_t window = readWindow(root, rule);
  json::Value types = root["layer_types"].nullAsAbsent();
  if (types)
    return readLayerTypes(types, window, layers);
  if (window == 0)
    return;
  size_t first = 0, step = 1;
  if (rule == WindowRule::LastLayers)
    first = root["max_window_layers"].integer(/*otherwise=*/28, 0, maxSize);
  if (rule == WindowRule::Alternating)
    step = 2;
  // Every layer but one in so many.
  size_t full = maxSize;
  if (rule == WindowRule::ByKeys)
    full = readSize(root["sliding_window_pattern"], maxSize);
  if (rule == WindowRule::AllButEveryNth)
    full = readSize(root["sliding_window_pattern"], /*otherwise=*/6);
  for (size_t i = first; i < layers.size(); i += step)
    if ((i + 1) % full != 0)
      layers[i].window = window;
}

static void readSparseLayers(const json::Value &root,
                             std::vector<LayerConfig> &layers) {
  const int64_t step =
      readSize(root["decoder_sparse_step"],
               readSize(root["interleave_moe_layer_step"], /*otherwise=*/1));
  for (size_t i = 0; i < layers.size(); ++i)
    layers[i].experts = (int64_t(i) + 1) % step == 0;
  json::Value dense = root["mlp_only_layers"].nullAsAbsent();
  if (!dense)
    return;
  int64_t last = int64_t(layers.size()) - 1;
  for (const json::Value &layer : dense.elements())
    layers[layer.integer(std::nullopt, 0, last)].experts = false;
}

static void readExperts(const json::Value &root, ExpertLayers rule,
                        std::vector<LayerConfig> &layers) {
  if (rule == ExpertLayers::None)
    return;
  if (rule == ExpertLayers::Sparse)
    return readSparseLayers(root, layers);
  size_t first = 0;
  if (rule == ExpertLayers::FromFirst) {
    first = root["first_k_dense_replace"].integer(/*otherwise=*/std::nullopt, 0,
                                                  maxSize);
    json::Value frequency = root["moe_layer_freq"].nullAsAbsent();
    if (frequency && frequency.integer() != 1)
      frequency.failExpected("1: experts in every layer from "
                             "first_k_dense_replace on");
  }
  for (size_t i = first; i < layers.size(); ++i)
    layers[i].experts = true;
}

/// `no_rope_layers`, in which 0 says that a layer does not turn its heads, or
/// every `no_rope_layer_interval`-th.
static void readLayersWithoutRope(const json::Value &root,
                                  std::vector<LayerConfig> &layers) {
  json::Value given = root["no_rope_layers"].nullAsAbsent();
  if (!given) {
    const size_t interval =
        readSize(root["no_rope_layer_interval"], /*otherwise=*/4);
    for (size_t i = interval - 1; i < layers.size(); i += interval)
      layers[i].rope = LayerRope::None;
    return;
  }
  std::vector<json::Value> elements = given.elements();
  if (!expectEntries(given, elements.size(), layers.size()))
    return;
  for (size_t i = 0; i < layers.size(); ++i)
    if (elements[i].integer(std::nullopt, 0, 1) == 0)
      layers[i].rope = LayerRope::None;
}

static void readLayerRopes(const json::Value &root, LayerRopes rule,
                           std::vector<LayerConfig> &layers) {
  if (rule == LayerRopes::NoneInSome) {
    readLayersWithoutRope(root, layers);
    // Where `layer_types` does not say which layers have the window, these do.
    for (LayerConfig &layer : layers)
      if (!root["layer_types"].nullAsAbsent() && layer.rope != LayerRope::None)
        layer.window = 0;
    return;
  }
  if (rule == LayerRopes::LocalInWindows)
    for (LayerConfig &layer : layers)
      if (layer.window != 0)
        layer.rope = LayerRope::Local;
}

std::vector<LayerConfig>
shardopt::hf::readLayers(const json::Value &root,
                         const Architecture &architecture) {
  int64_t count = root["num_hidden_layers"].integer(std::nullopt, 1, maxLayers);
  std::vector<LayerConfig> layers(std::clamp<int64_t>(count, 1, maxLayers));
  readExperts(root, architecture.expertLayers, layers);
  if (architecture.deltaNet)
    readMixers(root, layers);
  else
    readWindows(root, architecture.windows, layers);
  readLayerRopes(root, architecture.layerRopes, layers);
  return layers;
}
