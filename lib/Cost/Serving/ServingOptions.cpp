//===- ServingOptions.cpp - Constants of engines by name ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/ServingEngine.h"

#include "shardopt/Cost/Calibrated/CsvLines.h"
#include "shardopt/Model/Model.h"
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
/// An end of a band; that of aggregated TPOT is of both kinds of models.
struct BandEnd {
  const char *name;
  ServingBand ServingEngine::*band;
  double ServingBand::*end;
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
    {"launch_us", &ServingEngine::launchUs, 0},
    {"compute_scale", &ServingEngine::computeScale, 1e-3},
    {"memory_scale", &ServingEngine::memoryScale, 1e-3},
    {"link_scale", &ServingEngine::linkScale, 1e-3},
};

static constexpr BandEnd bandEnds[] = {
    {"tpot_low", &ServingEngine::denseTpot, &ServingBand::low},
    {"tpot_high", &ServingEngine::denseTpot, &ServingBand::high},
    {"ttft_low", &ServingEngine::ttft, &ServingBand::low},
    {"ttft_high", &ServingEngine::ttft, &ServingBand::high},
    {"disagg_tpot_low", &ServingEngine::apartTpot, &ServingBand::low},
    {"disagg_tpot_high", &ServingEngine::apartTpot, &ServingBand::high},
    {"disagg_ttft_low", &ServingEngine::apartTtft, &ServingBand::low},
    {"disagg_ttft_high", &ServingEngine::apartTtft, &ServingBand::high},
};

static constexpr Switch switches[] = {
    {"cpu_bound", &ServingEngine::isCpuBound},
    {"small_experts", &ServingEngine::hasSmallExperts},
    {"expert_passes", &ServingEngine::hasPassesOfExperts},
    {"few_token_experts", &ServingEngine::hasFewTokenExperts},
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
  std::string found = option.name + " is '" + value + "', expected ";
  for (const Number &number : numbers) {
    if (number.name == option.name)
      return option.value >= number.least && option.value <= 1e9
                 ? ""
                 : found + "a number from " + threeDigits(number.least) +
                       " to 1e9";
    known.emplace_back(number.name);
  }
  for (const Switch &on : switches) {
    if (on.name == option.name)
      return option.value == 0 || option.value == 1 ? "" : found + "0 or 1";
    known.emplace_back(on.name);
  }
  for (const BandEnd &end : bandEnds) {
    if (end.name == option.name)
      return option.value > 0 && option.value <= 1e9
                 ? ""
                 : found + "a number above 0, to 1e9";
    known.emplace_back(end.name);
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
    for (const BandEnd &end : bandEnds)
      if (end.name == option.name) {
        (engine.*end.band).*end.end = option.value;
        if (end.band == &ServingEngine::denseTpot)
          engine.expertTpot.*end.end = option.value;
      }
  }
}

std::map<std::string, double> cost::constantsOf(const ServingEngine &engine) {
  std::map<std::string, double> values;
  for (const Number &number : numbers)
    values[number.name] = engine.*number.field;
  return values;
}

std::optional<Error> cost::applyCalibration(const Machine &machine,
                                            ServingEngine &engine) {
  if (!machine.calibration)
    return std::nullopt;
  auto fitted = machine.calibration->engines.find(spell(engine.kind));
  if (fitted == machine.calibration->engines.end())
    return std::nullopt;
  std::vector<ServingOption> options;
  for (const auto &[name, value] : fitted->second) {
    options.push_back({name, value});
    if (std::string why = wrongOption(options.back(), threeDigits(value));
        !why.empty())
      return Error{"machine '" + machine.name + "': /calibration/engines/" +
                   fitted->first + ": " + why};
  }
  cost::apply(options, engine);
  return std::nullopt;
}

std::optional<Error> cost::applyCalibration(const Machine &machine,
                                            const Model &model,
                                            ServingEngine &engine) {
  engine.widenBands(model.architecture, model.rowBytes, machine);
  return applyCalibration(machine, engine);
}
