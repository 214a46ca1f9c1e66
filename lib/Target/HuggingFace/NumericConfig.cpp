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

/// The class of matrices that `entry` of `modules_to_not_convert` names: what
/// stands after its last dot. "mlp" is the network of a dense layer; experts
/// have names of their own.
static std::optional<WeightClass> exceptedClass(const std::string &entry) {
  std::string name = entry.substr(entry.rfind('.') + 1);
  if (name == "self_attn")
    return WeightClass::Attention;
  if (name == "mlp")
    return WeightClass::Dense;
  if (name == "experts")
    return WeightClass::Experts;
  if (name == "shared_experts")
    return WeightClass::Shared;
  return std::nullopt;
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

QuantizationConfig shardopt::hf::readQuantization(const json::Value &root) {
  using Method = QuantizationConfig::Method;
  QuantizationConfig config;
  json::Value given = root["quantization_config"].nullAsAbsent();
  if (!given)
    return config;
  config.method = given["quant_method"].choice<Method>(
      {{"fp8", Method::Fp8}, {"mxfp4", Method::Mxfp4}});
  if (config.method == Method::Fp8) {
    expectString(given["fmt"], "e4m3");
    expectString(given["activation_scheme"], "dynamic");
    readBlock(given["weight_block_size"].nullAsAbsent(), config);
  }
  if (json::Value kept = given["modules_to_not_convert"].nullAsAbsent())
    for (const json::Value &entry : kept.elements())
      if (auto excepted = exceptedClass(entry.string()))
        config.exceptions.push_back(*excepted);
  return config;
}

/// The class of matrices that a pattern of `ignore` names
/// ("re:.*self_attn.*", "model.layers.0.mlp.gate_proj").
static std::optional<WeightClass> ignoredClass(const std::string &pattern) {
  const auto names = [&](const char *part) {
    return pattern.find(part) != std::string::npos;
  };
  if (names("self_attn"))
    return WeightClass::Attention;
  if (names("shared_expert"))
    return WeightClass::Shared;
  if (names("experts"))
    return WeightClass::Experts;
  if (names("mlp") && names("_proj"))
    return WeightClass::Dense;
  return std::nullopt;
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
shardopt::hf::readQuantizationSizes(const json::Value &root) {
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
                                              {"mxfp4", Method::Mxfp4},
                                              {"awq", Method::Int4},
                                              {"gptq", Method::Int4},
                                              {"compressed-tensors", {}},
                                              {"modelopt", {}}});
    if (config.method == Method::Int4 && given["bits"].integer(4) != 4)
      given["bits"].failExpected("4");
  }
  readBlock(given["weight_block_size"].nullAsAbsent(), config);
  for (const char *list : {"modules_to_not_convert", "ignore"})
    if (const json::Value kept = given[list].nullAsAbsent())
      for (const json::Value &entry : kept.elements())
        if (auto excepted = ignoredClass(entry.string()))
          config.exceptions.push_back(*excepted);
  return config;
}
