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
  if (method == Method::Fp8)
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
