//===- NumericConfig.cpp - Element types of a config ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigReaders.h"

#include <algorithm>
#include <optional>

using namespace shardopt;
using namespace shardopt::hf;

ElementType shardopt::hf::readType(const json::Value &root) {
  json::Value name = root["dtype"].nullAsAbsent();
  if (!name)
    name = root["torch_dtype"].nullAsAbsent();
  return name.choice<ElementType>({{"bfloat16", ElementType::BF16},
                                   {"float16", ElementType::F16},
                                   {"float32", ElementType::F32}},
                                  /*otherwise=*/ElementType::BF16);
}

bool QuantizationConfig::quantizes(WeightClass of) const {
  bool covered = false;
  if (method == Method::Mxfp4)
    covered = of == WeightClass::Experts;
  else if (method != Method::None)
    covered = of != WeightClass::Plain;
  return covered && std::find(exceptions.begin(), exceptions.end(), of) ==
                        exceptions.end();
}

/// `weight_block_size`, `[rows, columns]`; absent if a matrix has one scale.
static void readBlock(const json::Value &block, QuantizationConfig &config) {
  if (!block)
    return;
  std::vector<json::Value> sizes = block.elements();
  if (sizes.size() != 2) {
    block.fail("expected [rows, columns], found " +
               std::to_string(sizes.size()) + " entries");
    return;
  }
  config.blockRows = readSize(sizes[0]);
  config.blockColumns = readSize(sizes[1]);
}

/// The only group of modules that `compressed-tensors` quantises, if there is
/// one.
static std::optional<json::Value> onlyGroup(const json::Value &quantized) {
  json::Value groups = quantized["config_groups"];
  if (!groups.isObject() || groups.members().size() != 1)
    return std::nullopt;
  return groups.members().front().second;
}

bool shardopt::hf::hasReadWeights(const json::Value &root) {
  json::Value given = root["quantization_config"].nullAsAbsent();
  if (!given || !given["quant_method"].isString())
    return true;
  std::string method = given["quant_method"].string();
  // Static scales of activations are numbers of the checkpoint.
  json::Value scheme = given["activation_scheme"];
  if (method == "fp8" && scheme.isString() && scheme.string() == "static")
    return false;
  if (method != "compressed-tensors")
    return method == "fp8" || method == "mxfp4" || method == "fbgemm_fp8";
  // Numbers of eight bits as they are, times scales of activations that are
  // found as the program runs.
  std::optional<json::Value> group = onlyGroup(given);
  if (!group || given["kv_cache_scheme"].nullAsAbsent())
    return false;
  json::Value weights = (*group)["weights"];
  json::Value inputs = (*group)["input_activations"].nullAsAbsent();
  auto says = [](const json::Value &value, std::string_view text) {
    return value.isString() && value.string() == text;
  };
  return says(weights["type"], "float") && weights["num_bits"].isNumber() &&
         weights["num_bits"].integer() == 8 &&
         (says(weights["strategy"], "channel") ||
          says(weights["strategy"], "tensor") ||
          says(weights["strategy"], "block")) &&
         readFlag(weights["symmetric"], /*otherwise=*/true) &&
         (!inputs || readFlag(inputs["dynamic"], /*otherwise=*/false));
}

/// Eight bits by `compressed-tensors`.
static void readCompressed(const json::Value &quantized,
                           QuantizationConfig &config) {
  json::Value weights = (*onlyGroup(quantized))["weights"];
  config.method = QuantizationConfig::Method::Fp8;
  config.scaleName = "_scale";
  std::string strategy = weights["strategy"].string();
  config.hasRowScales = strategy == "channel";
  if (strategy == "block")
    readBlock(weights["block_structure"], config);
}

QuantizationConfig shardopt::hf::readQuantization(const json::Value &root,
                                                  const ModelConfig &model) {
  using Method = QuantizationConfig::Method;
  QuantizationConfig config;
  json::Value given = root["quantization_config"].nullAsAbsent();
  if (!given)
    return config;
  json::Value method = given["quant_method"];
  if (method.isString() && method.string() == "compressed-tensors") {
    readCompressed(given, config);
  } else if (method.isString() && method.string() == "fbgemm_fp8") {
    config.method = Method::Fp8;
    config.scaleName = "_scale";
    config.hasRowScales = true;
  } else {
    config.method = method.choice<Method>({{"fp8", Method::Fp8},
                                           {"mxfp4", Method::Mxfp4},
                                           {"fbgemm_fp8", {}},
                                           {"compressed-tensors", {}}});
    if (config.method == Method::Fp8) {
      if (json::Value format = given["fmt"].nullAsAbsent())
        format.choice<bool>({{"e4m3", true}, {"float8_e4m3fn", true}});
      given["activation_scheme"].choice<bool>(
          {{"dynamic", true}, {"static", false}}, /*otherwise=*/true);
      readBlock(given["weight_block_size"].nullAsAbsent(), config);
    }
  }
  readExceptions(given, model, config);
  return config;
}

/// Inputs that share a scale; -1, which is all, and null are 0.
static int64_t readGroupSize(const json::Value &size) {
  int64_t given = size.nullAsAbsent().integer(0, -1, maxSize);
  return given < 0 ? 0 : given;
}

/// How the first group of `compressed-tensors` stores weights.
static QuantizationConfig::Method readGroups(const json::Value &groups,
                                             QuantizationConfig &config) {
  using Method = QuantizationConfig::Method;
  auto members = groups.members();
  if (members.empty()) {
    groups.failExpected("groups of weights");
    return Method::None;
  }
  json::Value weights = members.front().second["weights"];
  config.groupSize = readGroupSize(weights["group_size"]);
  bool isFloat = weights["type"].choice<bool>({{"int", false}, {"float", true}},
                                              /*otherwise=*/false);
  int64_t bits = weights["num_bits"].integer();
  if (bits == 8)
    return isFloat ? Method::Fp8 : Method::Int8;
  if (bits != 4)
    weights["num_bits"].failExpected("4 or 8");
  return isFloat ? Method::Nvfp4 : Method::Int4;
}

/// Whether the checkpoint has scales of keys and values in fp8.
static bool hasFp8Caches(const json::Value &quantized) {
  json::Value algorithm = quantized["kv_cache_quant_algo"].nullAsAbsent();
  if (algorithm.isString() && algorithm.string() == "FP8")
    return true;
  json::Value scheme = quantized["kv_cache_scheme"].nullAsAbsent();
  return scheme.isObject() && scheme["num_bits"].isNumber() &&
         scheme["num_bits"].integer() == 8 &&
         scheme["type"].string("float") == "float";
}

QuantizationConfig
shardopt::hf::readQuantizationSizes(const json::Value &root,
                                    const ModelConfig &model) {
  using Method = QuantizationConfig::Method;
  QuantizationConfig config;
  json::Value given = root["quantization_config"].nullAsAbsent();
  if (!given)
    return config;
  std::string name = given["quant_method"].string();
  if (name == "compressed-tensors") {
    config.method = readGroups(given["config_groups"], config);
  } else if (name == "modelopt") {
    config.method = given["quant_algo"].choice<Method>(
        {{"FP8", Method::Fp8}, {"NVFP4", Method::Nvfp4}});
  } else {
    config.method =
        given["quant_method"].choice<Method>({{"fp8", Method::Fp8},
                                              {"fbgemm_fp8", Method::Fp8},
                                              {"mxfp4", Method::Mxfp4},
                                              {"awq", Method::Int4},
                                              {"gptq", Method::Int4},
                                              {"compressed-tensors", {}},
                                              {"modelopt", {}}});
    config.groupSize = readGroupSize(given["group_size"]);
    if (config.method == Method::Int4 && given["bits"].integer(4) != 4)
      given["bits"].failExpected("4");
  }
  config.hasFp8Caches = hasFp8Caches(given);
  readBlock(given["weight_block_size"].nullAsAbsent(), config);
  readExceptions(given, model, config);
  return config;
}
