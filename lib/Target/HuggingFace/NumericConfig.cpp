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
  if (method == Method::Fp8 || method == Method::Int4 ||
      method == Method::Nvfp4)
    covered = of != WeightClass::Plain;
  if (method == Method::Mxfp4)
    covered = of == WeightClass::Experts;
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
  const json::Value groups = quantized["config_groups"];
  if (!groups.isObject() || groups.members().size() != 1)
    return std::nullopt;
  return groups.members().front().second;
}

bool shardopt::hf::hasReadWeights(const json::Value &root) {
  const json::Value given = root["quantization_config"].nullAsAbsent();
  if (!given || !given["quant_method"].isString())
    return true;
  const std::string method = given["quant_method"].string();
  if (method != "compressed-tensors")
    return method == "fp8" || method == "mxfp4" || method == "fbgemm_fp8";
  // Numbers of eight bits as they are, times scales of activations that are
  // found as the program runs.
  const std::optional<json::Value> group = onlyGroup(given);
  if (!group || given["kv_cache_scheme"].nullAsAbsent())
    return false;
  const json::Value weights = (*group)["weights"];
  const json::Value inputs = (*group)["input_activations"].nullAsAbsent();
  const auto says = [](const json::Value &value, std::string_view text) {
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
  const json::Value weights = (*onlyGroup(quantized))["weights"];
  config.method = QuantizationConfig::Method::Fp8;
  config.scaleName = "_scale";
  const std::string strategy = weights["strategy"].string();
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
  const json::Value method = given["quant_method"];
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
      if (const json::Value format = given["fmt"].nullAsAbsent())
        format.choice<bool>({{"e4m3", true}, {"float8_e4m3fn", true}});
      expectString(given["activation_scheme"], "dynamic");
      readBlock(given["weight_block_size"].nullAsAbsent(), config);
    }
  }
  readExceptions(given, model, config);
  return config;
}

/// How the first group of `compressed-tensors` stores weights.
static QuantizationConfig::Method readGroups(const json::Value &groups) {
  using Method = QuantizationConfig::Method;
  const auto members = groups.members();
  if (members.empty()) {
    groups.failExpected("groups of weights");
    return Method::None;
  }
  const json::Value weights = members.front().second["weights"];
  const bool isFloat = weights["type"].choice<bool>(
      {{"int", false}, {"float", true}}, /*otherwise=*/false);
  const int64_t bits = weights["num_bits"].integer();
  if (bits == 8 && isFloat)
    return Method::Fp8;
  if (bits != 4)
    weights["num_bits"].failExpected("4, or 8 of type float");
  return isFloat ? Method::Nvfp4 : Method::Int4;
}

QuantizationConfig
shardopt::hf::readQuantizationSizes(const json::Value &root,
                                    const ModelConfig &model) {
  using Method = QuantizationConfig::Method;
  QuantizationConfig config;
  const json::Value given = root["quantization_config"].nullAsAbsent();
  if (!given)
    return config;
  const std::string name = given["quant_method"].string();
  if (name == "compressed-tensors") {
    config.method = readGroups(given["config_groups"]);
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
    if (config.method == Method::Int4 && given["bits"].integer(4) != 4)
      given["bits"].failExpected("4");
  }
  readBlock(given["weight_block_size"].nullAsAbsent(), config);
  readExceptions(given, model, config);
  return config;
}
