//===- ServingOptions.cpp - Constants of engines by name ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/ServingEngine.h"

#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace shardopt;
using namespace shardopt::cost;

namespace {
struct Number {
  const char *name;
  double ServingEngine::*field;
  double least;
};
struct Switch {
  const char *name;
  bool ServingEngine::*field;
};
} // namespace

static constexpr Number numbers[] = {
    {"step_us", &ServingEngine::stepUs, 0},
    {"sequence_us", &ServingEngine::sequenceUs, 0},
    {"always_us", &ServingEngine::alwaysUs, 0},
    {"eager_layer_us", &ServingEngine::eagerLayerUs, 0},
    {"first_token_ms", &ServingEngine::firstTokenMs, 0},
    {"burst_share", &ServingEngine::burstShare, 0},
    {"held_steps", &ServingEngine::heldSteps, 0},
    {"balance_steps", &ServingEngine::balanceSteps, 0},
    {"pass_us", &ServingEngine::passUs, 0},
    {"rank_skew_us", &ServingEngine::rankSkewUs, 0},
    {"collective_times", &ServingEngine::collectiveTimes, 0},
    {"expert_layer_us", &ServingEngine::expertLayerUs, 0},
    {"expert_reach", &ServingEngine::expertReach, 0},
    {"expert_spread", &ServingEngine::expertSpread, 0},
    {"chunk", &ServingEngine::chunkTokens, 1},
    {"length_share", &ServingEngine::lengthShare, 1e-3},
    {"cache_bytes", &ServingEngine::cacheBytes, 0},
};

static constexpr Switch switches[] = {
    {"cpu_bound", &ServingEngine::isCpuBound},
    {"small_experts", &ServingEngine::hasSmallExperts},
    {"expert_passes", &ServingEngine::hasPassesOfExperts},
    {"one_burst", &ServingEngine::isOneBurst},
    {"prompts_apart", &ServingEngine::readsApart},
    {"equal_lengths", &ServingEngine::hasEqualLengths},
    {"static_scales", &ServingEngine::hasStaticScales},
    {"fused_quantization", &ServingEngine::hasFusedQuantization},
    {"latent_fp8", &ServingEngine::keepsLatentFp8},
    {"custom_all_reduce", &ServingEngine::hasCustomAllReduce},
    {"fp8_as_bf16", &ServingEngine::readsFp8AsBf16},
};

/// Why `option` cannot be; empty where it can.
static std::string wrongOption(const ServingOption &option,
                               const std::string &value) {
  std::vector<std::string> known;
  for (const Number &number : numbers) {
    if (number.name == option.name)
      return option.value >= number.least && option.value <= 1e9
                 ? ""
                 : option.name + " is '" + value +
                       "', expected a number from " +
                       (number.least < 1 ? "0" : "1") + " to 1e9";
    known.emplace_back(number.name);
  }
  for (const Switch &on : switches) {
    if (on.name == option.name)
      return option.value == 0 || option.value == 1
                 ? ""
                 : option.name + " is '" + value + "', expected 0 or 1";
    known.emplace_back(on.name);
  }
  return unknownChoice("engine option", option.name, known).message;
}

ErrorOr<std::vector<ServingOption>>
cost::parseServingOptions(const std::string &text) {
  std::vector<ServingOption> options;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string entry = text.substr(at, end - at);
    at = end + 1;
    size_t sign = entry.find('=');
    if (sign == std::string::npos || sign + 1 == entry.size())
      return Error{"'" + entry + "' is no engine option, expected name=value"};
    std::string value = entry.substr(sign + 1);
    char *rest = nullptr;
    ServingOption option = {entry.substr(0, sign),
                            std::strtod(value.c_str(), &rest)};
    if (*rest != 0 || !std::isfinite(option.value))
      option.value = -1;
    if (std::string why = wrongOption(option, value); !why.empty())
      return Error{why};
    options.push_back(option);
  }
  return options;
}

void cost::apply(const std::vector<ServingOption> &options,
                 ServingEngine &engine) {
  for (const ServingOption &option : options) {
    for (const Number &number : numbers)
      if (number.name == option.name)
        engine.*number.field = option.value;
    for (const Switch &on : switches)
      if (on.name == option.name)
        engine.*on.field = option.value != 0;
  }
}
