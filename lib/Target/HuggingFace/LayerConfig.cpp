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

bool shardopt::hf::expectEntries(const json::Value &list, size_t found,
                                 size_t layers) {
  if (found == layers)
    return true;
  list.fail("expected an entry for each of the " + std::to_string(layers) +
            " layers, found " + std::to_string(found));
  return false;
}

/// Calls `visit` for the layers whose numbers `list` has. As in Transformers,
/// numbers of layers that are not there say nothing.
template <typename Visit>
static void visitListed(const json::Value &list,
                        std::vector<LayerConfig> &layers, Visit visit) {
  for (const json::Value &number : list.elements()) {
    int64_t layer = number.integer(std::nullopt, 0, maxSize);
    if (layer >= 0 && layer < int64_t(layers.size()))
      visit(layers[layer]);
  }
}

/// The window of windowed layers, 0 if there are none.
static int64_t readWindow(const ConfigRoot &root, WindowRule rule) {
  bool asked = rule == WindowRule::LastLayers ||
               rule == WindowRule::AlternatingFirst ||
               rule == WindowRule::AllIfUsed;
  if (rule == WindowRule::ByKeys)
    asked = root["use_sliding_window"].nullAsAbsent().present();
  if (rule == WindowRule::Never ||
      (asked && !readFlag(root["use_sliding_window"], /*otherwise=*/false)))
    return 0;
  if (rule == WindowRule::Chunks) {
    json::Value chunk = root["attention_chunk_size"];
    return chunk.isNull() ? 0 : readSize(chunk);
  }
  json::Value window = root["sliding_window"];
  bool optional = rule == WindowRule::Always || rule == WindowRule::ByKeys;
  return window.isNull() || (optional && !window) ? 0 : readSize(window);
}

/// `layer_types`: which layers have the window.
static void readLayerTypes(const json::Value &types, WindowRule rule,
                           int64_t window, const json::Value &chunk,
                           std::vector<LayerConfig> &layers) {
  std::vector<json::Value> elements = types.elements();
  if (!expectEntries(types, elements.size(), layers.size()))
    return;
  // Classes that list windows by the flag have no width for others.
  bool off = window == 0 && (rule == WindowRule::LastLayers ||
                             rule == WindowRule::AlternatingFirst);
  for (size_t i = 0; i < layers.size(); ++i)
    if (rule == WindowRule::ByKeys &&
        elements[i].string() == "chunked_attention")
      layers[i].window = readSize(chunk);
    else if (off && elements[i].string() == "sliding_attention")
      elements[i].failExpected(
          "full_attention, since use_sliding_window or sliding_window is off");
    else
      layers[i].window = elements[i].choice<int64_t>(
          {{"full_attention", 0},
           {rule == WindowRule::Chunks ? "chunked_attention"
                                       : "sliding_attention",
            window}});
}

/// Which layers have `state`, a gated delta net or a state space.
static void readMixers(const ConfigRoot &root, Mixer state,
                       std::vector<LayerConfig> &layers) {
  json::Value types = root["layer_types"].nullAsAbsent();
  if (!types && state == Mixer::Mamba2) {
    for (LayerConfig &layer : layers)
      layer.mixer = state;
    json::Value full = root["attn_layer_indices"].nullAsAbsent();
    if (full)
      visitListed(full, layers,
                  [](LayerConfig &layer) { layer.mixer = Mixer::Attention; });
    return;
  }
  if (!types) {
    size_t interval = readSize(root["full_attention_interval"]);
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
        state == Mixer::Mamba2
            ? elements[i].choice<Mixer>({{"full_attention", Mixer::Attention},
                                         {"attention", Mixer::Attention},
                                         {"linear_attention", state},
                                         {"mamba", state}})
            : elements[i].choice<Mixer>({{"full_attention", Mixer::Attention},
                                         {"linear_attention", state}});
}

/// What a layer that is one of four things is.
enum class OneOf : uint8_t { Space, Attention, Network, Experts };

static LayerConfig layerOf(OneOf one) {
  LayerConfig layer;
  layer.experts = one == OneOf::Experts;
  layer.network = one == OneOf::Network || one == OneOf::Experts;
  layer.mixer = one == OneOf::Space       ? Mixer::Mamba2
                : one == OneOf::Attention ? Mixer::Attention
                                          : Mixer::None;
  return layer;
}

/// Layers by words, or by letters: M, *, - and E.
static std::vector<LayerConfig> readLayersOfOne(const ConfigRoot &root) {
  std::vector<LayerConfig> layers;
  json::Value types = root["layers_block_type"].nullAsAbsent();
  if (!types)
    types = root["layer_types"].nullAsAbsent();
  json::Value pattern = root["hybrid_override_pattern"];
  if (types) {
    for (const json::Value &type : types.elements())
      layers.push_back(
          layerOf(type.choice<OneOf>({{"linear_attention", OneOf::Space},
                                      {"mamba", OneOf::Space},
                                      {"full_attention", OneOf::Attention},
                                      {"attention", OneOf::Attention},
                                      {"mlp", OneOf::Network},
                                      {"moe", OneOf::Experts}})));
  } else {
    static constexpr std::string_view letters = "M*-E";
    for (char letter : pattern.string()) {
      size_t one = letters.find(letter);
      if (one == letters.npos) {
        pattern.failExpected("a letter of M, *, - and E for each layer");
        break;
      }
      layers.push_back(layerOf(OneOf(one)));
    }
  }
  if (layers.empty() || layers.size() > size_t(hf::maxLayers)) {
    (types ? types : pattern)
        .failExpected("from 1 to " + std::to_string(hf::maxLayers) + " layers");
    return std::vector<LayerConfig>(1);
  }
  if (json::Value count = root.file()["num_hidden_layers"].nullAsAbsent())
    if (count.integer(std::nullopt, 1, hf::maxLayers) != int64_t(layers.size()))
      count.failExpected(std::to_string(layers.size()) +
                         ", the layers that are listed");
  return layers;
}

static void readWindows(const ConfigRoot &root, WindowRule rule,
                        std::vector<LayerConfig> &layers) {
  int64_t window = readWindow(root, rule);
  json::Value types = root["layer_types"].nullAsAbsent();
  if (types)
    return readLayerTypes(types, rule, window, root["attention_chunk_size"],
                          layers);
  if (window == 0)
    return;
  size_t first = 0, step = 1;
  auto bound = [&] {
    return root["max_window_layers"].integer(std::nullopt, 0, maxSize);
  };
  if (rule == WindowRule::LastLayers || rule == WindowRule::FromLayer)
    first = bound();
  size_t end = layers.size();
  if (rule == WindowRule::AlternatingFirst)
    end = std::min<size_t>(end, bound());
  if (rule == WindowRule::Alternating || rule == WindowRule::AlternatingFirst)
    step = 2;
  // Every layer but one in so many.
  size_t full = maxSize;
  if (rule == WindowRule::ByKeys)
    full = readSize(root["sliding_window_pattern"], maxSize);
  if (rule == WindowRule::AllButEveryNth)
    full = readSize(root["sliding_window_pattern"], /*otherwise=*/6);
  if (rule == WindowRule::AllButEveryFourth)
    full = readSize(root["sliding_window_pattern"], /*otherwise=*/4);
  if (rule == WindowRule::AllButFourthFromFirst)
    full = 4;
  size_t counted = rule == WindowRule::AllButFourthFromFirst ? 0 : 1;
  for (size_t i = first; i < end; i += step)
    if ((i + counted) % full != 0)
      layers[i].window = window;
}

static void readSparseLayers(const ConfigRoot &root,
                             std::vector<LayerConfig> &layers) {
  int64_t step =
      readSize(root["decoder_sparse_step"],
               readSize(root["interleave_moe_layer_step"], /*otherwise=*/1));
  for (size_t i = 0; i < layers.size(); ++i)
    layers[i].experts = (int64_t(i) + 1) % step == 0;
  if (json::Value dense = root["mlp_only_layers"].nullAsAbsent())
    visitListed(dense, layers,
                [](LayerConfig &layer) { layer.experts = false; });
}

static void readListedLayers(const ConfigRoot &root,
                             std::vector<LayerConfig> &layers) {
  if (json::Value listed = root["moe_layers"].nullAsAbsent())
    return visitListed(listed, layers,
                       [](LayerConfig &layer) { layer.experts = true; });
  int64_t step = readSize(root["interleave_moe_layer_step"], /*otherwise=*/1);
  for (size_t i = step - 1; i < layers.size(); i += step)
    layers[i].experts = true;
}

/// Records an error if `moe_layer_freq` leaves layers out from
/// `first_k_dense_replace` on.
static void expectEveryLayer(const ConfigRoot &root) {
  json::Value frequency = root.file()["moe_layer_freq"].nullAsAbsent();
  if (frequency && frequency.integer() != 1)
    frequency.failExpected("1: experts in every layer from "
                           "first_k_dense_replace on");
}

static void readTypedLayers(const ConfigRoot &root,
                            std::vector<LayerConfig> &layers) {
  json::Value types = root["mlp_layer_types"].nullAsAbsent();
  if (!types) {
    int64_t first = root["first_k_dense_replace"].nullAsAbsent().integer(
        /*otherwise=*/1, 0, maxSize);
    expectEveryLayer(root);
    for (int64_t i = first; i < int64_t(layers.size()); ++i)
      layers[i].experts = true;
    return;
  }
  std::vector<json::Value> elements = types.elements();
  if (!expectEntries(types, elements.size(), layers.size()))
    return;
  for (size_t i = 0; i < layers.size(); ++i)
    layers[i].experts =
        elements[i].choice<bool>({{"dense", false}, {"sparse", true}});
}

static void readIntervals(const ConfigRoot &root,
                          std::vector<LayerConfig> &layers) {
  auto read = [&](const char *key, int64_t otherwise, int64_t least) {
    return root[key].nullAsAbsent().integer(otherwise, least, maxSize);
  };
  int64_t interval = readSize(root["moe_layer_interval"], 1);
  int64_t first = read("moe_layer_start_index", 1, 0);
  int64_t last = read("moe_layer_end_index", -1, -1);
  if (last < 0)
    last = int64_t(layers.size()) - 1;
  for (int64_t i = 0; i < int64_t(layers.size()); ++i)
    layers[i].experts = first <= i && i <= last && (i + 1) % interval == 0;
}

static void readExperts(const ConfigRoot &root,
                        const Architecture &architecture,
                        std::vector<LayerConfig> &layers) {
  ExpertLayers rule = architecture.expertLayers;
  if (rule == ExpertLayers::None || rule == ExpertLayers::ByMixers ||
      (rule == ExpertLayers::AllIfAny &&
       root["num_local_experts"].integer(std::nullopt, 0, maxSize) == 0))
    return;
  if (rule == ExpertLayers::Listed)
    return readListedLayers(root, layers);
  if (rule == ExpertLayers::Sparse)
    return readSparseLayers(root, layers);
  if (rule == ExpertLayers::Interval)
    return readIntervals(root, layers);
  if (rule == ExpertLayers::Typed)
    return readTypedLayers(root, layers);
  size_t first = 0;
  if (rule == ExpertLayers::FromFirst) {
    json::Value dense = root["first_k_dense_replace"];
    if (architecture.isByKeys && !dense)
      dense = root["num_dense_layers"];
    first = dense.integer(/*otherwise=*/std::nullopt, 0, maxSize);
    expectEveryLayer(root);
  }
  for (size_t i = first; i < layers.size(); ++i)
    layers[i].experts = true;
}

/// `no_rope_layers`, in which 0 says that a layer does not turn its heads, or
/// every `no_rope_layer_interval`-th.
static void readLayersWithoutRope(const ConfigRoot &root,
                                  std::vector<LayerConfig> &layers) {
  json::Value given = root["no_rope_layers"].nullAsAbsent();
  if (!given || (given.isArray() && given.elements().empty())) {
    size_t interval = readSize(root["no_rope_layer_interval"], /*otherwise=*/4);
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

static void readLayerRopes(const ConfigRoot &root, LayerRopes rule,
                           WindowRule windows,
                           std::vector<LayerConfig> &layers) {
  if (rule == LayerRopes::NoneInSome) {
    readLayersWithoutRope(root, layers);
    // Where `layer_types` does not say which layers have the window, these do;
    // of chunks, the others.
    bool isOfTurned = windows == WindowRule::Chunks;
    for (LayerConfig &layer : layers)
      if (!root["layer_types"].nullAsAbsent() &&
          (layer.rope == LayerRope::None) == isOfTurned)
        layer.window = 0;
    return;
  }
  if (rule == LayerRopes::None ||
      (rule == LayerRopes::NoneUnlessAsked &&
       !root["position_embedding_type"].nullAsAbsent().choice<bool>(
           {{"rope", true}, {"nope", false}}, /*otherwise=*/false)))
    for (LayerConfig &layer : layers)
      layer.rope = LayerRope::None;
  if (rule == LayerRopes::LocalInWindows)
    for (LayerConfig &layer : layers)
      if (layer.window != 0)
        layer.rope = LayerRope::Local;
  if (rule == LayerRopes::OnlyInWindows ||
      (rule == LayerRopes::OnlyInWindowsIfAny &&
       !root["sliding_window"].isNull()))
    for (LayerConfig &layer : layers)
      if (layer.window == 0)
        layer.rope = LayerRope::None;
}

std::vector<LayerConfig>
shardopt::hf::readLayers(const ConfigRoot &root,
                         const Architecture &architecture) {
  std::vector<LayerConfig> layers;
  if (architecture.mixers == MixerRule::OneEach) {
    layers = readLayersOfOne(root);
  } else {
    int64_t count =
        root["num_hidden_layers"].integer(std::nullopt, 1, maxLayers);
    layers.resize(std::clamp<int64_t>(count, 1, maxLayers));
  }
  readExperts(root, architecture, layers);
  if (architecture.mixers == MixerRule::Attention) {
    // Of an indexer, `layer_types` says nothing else.
    if (!architecture.indexer)
      readWindows(root, architecture.windows, layers);
  } else if (architecture.mixers != MixerRule::OneEach)
    readMixers(root,
               architecture.mixers == MixerRule::DeltaNet ? Mixer::DeltaNet
                                                          : Mixer::Mamba2,
               layers);
  readLayerRopes(root, architecture.layerRopes, architecture.windows, layers);
  return layers;
}
