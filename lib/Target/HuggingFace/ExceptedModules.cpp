//===- ExceptedModules.cpp - Modules that are not quantised ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checkpoints list modules that they leave as they are, by their paths, by
// parts of paths or by regular expressions. Here every such entry is held
// against the names of all matrices, since a weight of the program has one
// type: that of its whole class, in all layers.
//
//===----------------------------------------------------------------------===//

#include "ConfigReaders.h"

#include "shardopt/Support/Suggest.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

#include <algorithm>
#include <initializer_list>
#include <map>

using namespace shardopt;
using namespace shardopt::hf;
using llvm::SmallVector;
using llvm::StringRef;

namespace {

/// A matrix of a layer, or what is no matrix of a class and never quantised.
struct Module {
  std::string name; ///< "layers.0.self_attn.q_proj"
  WeightClass of = WeightClass::Plain;
  bool excepted = false;
};

class Modules {
public:
  explicit Modules(const ModelConfig &config);

  /// Marks what `entry` names. False if it names nothing that is known.
  bool except(const std::string &entry);

  std::vector<Module> all;

private:
  void addLayer(const LayerConfig &layer, size_t index);
  void add(size_t layer, WeightClass of, std::string_view module,
           std::initializer_list<std::string_view> names);
  bool exceptPattern(StringRef pattern);
  bool exceptPath(StringRef path);

  const ModelConfig &config;
};

} // namespace

Modules::Modules(const ModelConfig &config) : config(config) {
  all.push_back({"lm_head"});
  all.push_back({"embed_tokens"});
  all.push_back({"norm"});
  for (size_t i = 0; i < config.layers.size(); ++i)
    addLayer(config.layers[i], i);
  // Layers that predict further tokens are counted on.
  size_t stack = all.size();
  addLayer(config.layers.back(), config.layers.size());
  for (size_t i = stack; i < all.size(); ++i)
    all[i].of = WeightClass::Plain;
}

void Modules::add(size_t layer, WeightClass of, std::string_view module,
                  std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    if (!name.empty())
      all.push_back({"layers." + std::to_string(layer) + "." +
                         std::string(module) + "." + std::string(name),
                     of});
}

void Modules::addLayer(const LayerConfig &layer, size_t index) {
  const HubNames &names = config.names;
  const FeedForwardConfig &facts = config.feedForward;
  bool gated = facts.activation.gated;
  auto addNetwork = [&](WeightClass of, std::string_view module) {
    if (names.fusedUp.empty())
      add(index, of, module, {gated ? "gate_proj" : "", names.denseUp});
    add(index, of, module, {names.fusedUp, names.denseDown});
  };

  if (layer.mixer == Mixer::Mamba2) {
    add(index, WeightClass::Attention, names.mamba, {"in_proj", "out_proj"});
    add(index, WeightClass::Plain, names.mamba, {"conv1d", "norm"});
  } else if (layer.mixer == Mixer::DeltaNet) {
    if (config.deltaNet.isSplit)
      add(index, WeightClass::Attention, "linear_attn",
          {"in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"});
    else
      add(index, WeightClass::Attention, "linear_attn",
          {"in_proj_qkvz", "in_proj_ba"});
    add(index, WeightClass::Attention, "linear_attn", {"out_proj"});
    add(index, WeightClass::Plain, "linear_attn", {"conv1d", "norm"});
  } else if (layer.mixer == Mixer::Attention) {
    const AttentionConfig &attention = config.attention;
    if (!attention.latent && names.fusedQkv.empty())
      add(index, WeightClass::Attention, names.attention,
          {"q_proj", "k_proj", "v_proj"});
    else if (!attention.latent)
      add(index, WeightClass::Attention, names.attention, {names.fusedQkv});
    else if (attention.queryRank != 0)
      add(index, WeightClass::Attention, names.attention,
          {"q_a_proj", "q_b_proj"});
    else
      add(index, WeightClass::Attention, names.attention, {"q_proj"});
    if (attention.latent)
      add(index, WeightClass::Attention, names.attention,
          {"kv_a_proj_with_mqa", "kv_b_proj"});
    add(index, WeightClass::Attention, names.attention, {"o_proj"});
  }
  if (!layer.network)
    return;
  if (!layer.experts) {
    addNetwork(WeightClass::Dense, names.dense);
    return;
  }
  // Of the experts the first and the last stand for all.
  std::string module(names.experts.empty() ? "mlp.experts" : names.experts);
  auto orElse = [](std::string_view name, std::string_view otherwise) {
    return name.empty() ? otherwise : name;
  };
  std::string_view up = orElse(names.up, "up_proj");
  std::string_view down = orElse(names.down, "down_proj");
  if (names.fusedExperts)
    add(index, WeightClass::Experts, module, {up, down});
  else
    for (int64_t expert : {int64_t(0), facts.router.experts - 1})
      add(index, WeightClass::Experts, module + "." + std::to_string(expert),
          {gated ? orElse(names.gate, "gate_proj") : "", up, down});
  if (facts.sharedInner != 0)
    addNetwork(WeightClass::Shared, names.shared);
  all.push_back({"layers." + std::to_string(index) + "." +
                 std::string(orElse(names.router, "mlp.gate"))});
}

/// Whether `path` is of what is never quantised, or no part of the program.
static bool isNeverQuantised(StringRef path) {
  for (StringRef part :
       {"norm", "router", "conv1d", "vision", "visual", "projector", "mtp",
        "lm_head", "embed", "audio", "sinks", "shared_head", "eh_proj",
        "e_score_correction_bias"})
    if (path.contains(part))
      return true;
  // Anchors and escapes may follow the last name.
  StringRef last = path.rsplit('.').second.rtrim("$*");
  return last == "gate" || last == "shared_expert_gate" || path == "gate";
}

bool Modules::except(const std::string &entry) {
  StringRef text = entry;
  return text.consume_front("re:") ? exceptPattern(text) : exceptPath(text);
}

/// `pattern` is Python's and holds from the start of a name.
bool Modules::exceptPattern(StringRef pattern) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    StringRef rest = pattern.substr(i);
    if (rest.starts_with("(?:")) {
      text += '(';
      i += 2;
    } else if (rest.starts_with("\\d")) {
      text += "[0-9]";
      ++i;
    } else if (rest.size() > 1 && rest[0] == '\\' && llvm::isAlnum(rest[1])) {
      return false; // a class that is not read
    } else {
      text += rest[0];
    }
  }
  llvm::Regex regex("^(" + text + ")");
  if (!regex.isValid())
    return false;
  bool found = false;
  for (Module &module : all)
    for (StringRef prefix :
         {StringRef(config.names.model), StringRef(""), StringRef("model"),
          StringRef("model.language_model"), StringRef("language_model.model")})
      if (regex.match(prefix.empty() ? module.name
                                     : (prefix + "." + module.name).str())) {
        module.excepted = found = true;
        break;
      }
  return found || isNeverQuantised(pattern);
}

bool Modules::exceptPath(StringRef path) {
  if (isNeverQuantised(path))
    return true;
  // What is in front of the layers is spelled in several ways.
  size_t at = path.find("layers.");
  if (at != StringRef::npos)
    path = path.substr(at);
  SmallVector<StringRef> wanted, parts;
  path.split(wanted, '.');
  unsigned number = 0;
  if (at != StringRef::npos && wanted.size() > 1 &&
      !wanted[1].getAsInteger(10, number) && number >= config.layers.size())
    return true;
  // Of many layers such lists are long: what is said in full is compared first.
  bool isWhole = at != StringRef::npos && !path.contains('*');
  bool found = false;
  for (Module &module : all) {
    if (isWhole && !StringRef(module.name).starts_with(path))
      continue;
    // The name of a network alone is that of a dense layer; experts have names
    // of their own.
    if (path == StringRef(config.names.dense) &&
        module.of != WeightClass::Dense)
      continue;
    parts.clear();
    StringRef(module.name).split(parts, '.');
    auto same = [](StringRef part, StringRef want) {
      return part == want || (want.consume_back("*") && part.starts_with(want));
    };
    if (std::search(parts.begin(), parts.end(), wanted.begin(), wanted.end(),
                    same) != parts.end())
      module.excepted = found = true;
  }
  return found || path == StringRef(config.names.dense);
}

void shardopt::hf::readExceptions(const json::Value &quantized,
                                  const ModelConfig &model,
                                  QuantizationConfig &config) {
  Modules modules(model);
  for (const char *list : {"modules_to_not_convert", "ignore", "ignored_layers",
                           "exclude_modules"})
    if (json::Value kept = quantized[list].nullAsAbsent())
      for (const json::Value &entry : kept.elements())
        if (std::string name = entry.string();
            !modules.except(name) && config.mixed.empty())
          config.mixed = "what '" + abbreviate(name) +
                         "' leaves as it is, is not known here";
  struct Count {
    size_t kept = 0, all = 0;
    std::string first;
  };
  std::map<WeightClass, Count> counts;
  for (const Module &module : modules.all) {
    Count &count = counts[module.of];
    ++count.all;
    count.kept += module.excepted;
    if (module.excepted && count.first.empty())
      count.first = module.name;
  }
  for (const auto &[of, count] : counts) {
    if (!config.quantizes(of) || count.kept == 0)
      continue;
    if (count.kept == count.all)
      config.exceptions.push_back(of);
    else if (config.mixed.empty())
      config.mixed = "'" + std::string(model.names.model) + "." + count.first +
                     "' is not quantised, where others of its kind are";
  }
}
