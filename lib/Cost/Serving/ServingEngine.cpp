//===- ServingEngine.cpp - How serving engines run a model ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/ServingEngine.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

using namespace shardopt;
using namespace shardopt::cost;

/// The numbers that `version` begins with: 0.12.0 of "v0.12.0rc3".
static std::vector<long> numbersOf(const std::string &version) {
  std::vector<long> numbers;
  size_t at = !version.empty() && version[0] == 'v' ? 1 : 0;
  while (at < version.size() && std::isdigit(version[at]) != 0) {
    long number = 0;
    for (; at < version.size() && std::isdigit(version[at]) != 0; ++at)
      number = std::min(number * 10 + (version[at] - '0'), 1000000L);
    numbers.push_back(number);
    if (at == version.size() || version[at] != '.')
      break;
    ++at;
  }
  return numbers;
}

bool cost::isOlder(const std::string &left, const std::string &right) {
  std::vector<long> numbers = numbersOf(left);
  return !numbers.empty() && numbers < numbersOf(right);
}

void ServingEngine::widenBands(const std::string &architecture, double rowBytes,
                               const Machine &machine) {
  double power = (isMeasured(architecture, rowBytes) ? 1 : 1.5) *
                 (isMeasured(machine) ? 1 : 1.5);
  for (ServingBand *band :
       {&denseTpot, &expertTpot, &ttft, &apartTpot, &apartTtft}) {
    band->low = std::pow(band->low, power);
    band->high = std::pow(band->high, power);
  }
}

bool cost::isMeasured(const Machine &machine) {
  if (!machine.calibration)
    return false;
  const std::vector<CalibratedGroup> &groups = machine.calibration->groups;
  return std::any_of(
      groups.begin(), groups.end(),
      [](const CalibratedGroup &group) { return !group.isInherited; });
}

bool cost::isMeasured(const std::string &architecture, double rowBytes) {
  constexpr double least = 8192; // of Llama-3.1-8B, the smallest
  if (rowBytes < least / 2)
    return false;
  static constexpr const char *known[] = {
      "LlamaForCausalLM",     "Qwen3ForCausalLM",
      "Qwen3MoeForCausalLM",  "DeepseekV3ForCausalLM",
      "GlmMoeDsaForCausalLM", "KimiK25ForConditionalGeneration"};
  return std::find(std::begin(known), std::end(known), architecture) !=
         std::end(known);
}

ErrorOr<ServingEngine> cost::findEngine(const std::string &name,
                                        const std::string &version,
                                        bool isTuned) {
  ErrorOr<Engine> kind = parseEngine(name, "backend");
  if (!kind)
    return kind.error();
  ServingEngine engine;
  engine.kind = *kind;
  // Lengths of recipes are drawn from a range below what they say.
  engine.lengthShare = isTuned ? 0.9 : 1;
  engine.hasEqualLengths = !isTuned;
  // On Hopper they have no kernel that multiplies with an fp8 cache (SGLang:
  // with a latent one), and take the time of bf16.
  engine.readsFp8AsBf16 = *kind != Engine::Trtllm;
  // Bands hold for models, machines and versions that are left out in turn
  // (bench/serving_bands.py). Few runs are disaggregated: one band for all.
  engine.apartTpot = {0.76, 1.36};
  engine.apartTtft = {0.75, 15.3};
  switch (*kind) {
  case Engine::Trtllm:
    // From 1.1 on the next step is prepared while one runs.
    engine.isCpuBound = isOlder(version, "1.1") && !isTuned;
    engine.hasSmallExperts = !version.empty() && !isOlder(version, "1.2");
    // Later versions pack the scales of weights when they load them, and fuse
    // what is left.
    // Tags of Dynamo's images, which some runs name, are below 1.0.
    engine.hasPassesOfExperts =
        isOlder(version, "1.2") && !isOlder(version, "1.0");
    engine.stepUs = 360;
    engine.eagerLayerUs = 640;
    engine.firstTokenMs = engine.isCpuBound ? 106 : 20;
    engine.burstShare = 0.12;
    engine.denseTpot = {0.93, 1.06};
    engine.expertTpot = {0.9, 1.15};
    engine.ttft = {0.76, 2.59};
    break;
  case Engine::Vllm:
    engine.isCpuBound = isOlder(version, "0.14") && !isTuned;
    engine.hasSmallExperts = true;
    engine.stepUs = 520;
    engine.sequenceUs = 20;
    engine.alwaysUs = 14;
    engine.firstTokenMs = 31;
    engine.burstShare = 0.15;
    engine.denseTpot = {0.94, 1.11};
    engine.expertTpot = {0.9, 1.14};
    engine.ttft = {0.76, 1.42};
    break;
  case Engine::Sglang:
    engine.isCpuBound = !isTuned;
    engine.readsApart = true; // unless --enable-mixed-chunk
    // Recipes had them before they became the default.
    engine.hasSmallExperts =
        !version.empty() && (isTuned || !isOlder(version, "0.5.9"));
    engine.stepUs = 430;
    engine.sequenceUs = 12;
    engine.firstTokenMs = 155;
    engine.burstShare = 0.15;
    engine.denseTpot = {0.79, 1.09};
    engine.expertTpot = {0.9, 1.22};
    engine.ttft = {0.76, 7.59};
    // Runs of these were one burst of requests each.
    engine.isOneBurst = !isTuned && (version.rfind("0.5.1.", 0) == 0 ||
                                     version.rfind("0.5.8.", 0) == 0);
    if (engine.isOneBurst) {
      engine.firstTokenMs = 50;
      engine.burstShare = 1;
    }
    break;
  }
  return engine;
}
