//===- CalibratedKernels.cpp - Forms with the constants of a machine ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Calibrated/CalibratedKernels.h"

#include "shardopt/Support/Choice.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

std::pair<double, std::string>
calibrated::distance(const CalibratedGroup &group, const Key &key) {
  double sum = 0;
  std::string differs;
  auto differ = [&](const std::string &name, double by) {
    sum += by;
    differs += (differs.empty() ? "" : " ") + name;
  };
  // Earlier keys weigh more, so that the type goes before the kernel's name.
  double weight = 1e6;
  for (const auto &[name, value] : key.names) {
    weight /= 10;
    auto at = group.names.find(name);
    if (at != group.names.end() && at->second != value)
      differ(name, weight);
  }
  for (const auto &[name, value] : key.numbers) {
    auto at = group.numbers.find(name);
    if (at != group.numbers.end() && at->second != value)
      differ(name, std::abs(std::log((1 + at->second) / (1 + value))));
  }
  return {sum, std::move(differs)};
}

/// Adds `group` with the constants of a Form; says which one is missing.
template <typename Form>
static std::string add(Groups<Form> &groups, const CalibratedGroup &group) {
  Fitted<Form> fitted;
  fitted.group = &group;
  std::string missing;
  fitted.form.constants(
      [&](const std::string &name, double &member, bool mayMiss) {
        auto at = group.constants.find(name);
        if (at != group.constants.end())
          member = at->second;
        else if (!mayMiss && missing.empty())
          missing = name;
      });
  groups.all.push_back(fitted);
  return missing;
}

ErrorOr<CalibratedKernels> CalibratedKernels::create(const Machine &machine) {
  if (!machine.calibration)
    return Error{"machine '" + machine.name +
                 "' has no constants of measured kernels ('calibration')"};
  CalibratedKernels kernels;
  kernels.constants = machine.calibration;
  kernels.device = Device(machine.calibration->sheet);
  for (const CalibratedGroup &group : machine.calibration->groups) {
    std::string missing;
    const std::string &name = group.kernel;
    if (name == "gemm")
      missing = add(kernels.gemm, group);
    else if (name == "fp8_scale")
      missing = add(kernels.quantizationScale, group);
    else if (name == "attn_context")
      missing = add(kernels.promptAttention, group);
    else if (name == "attn_generation")
      missing = add(kernels.tokenAttention, group);
    else if (name == "mla_context")
      missing = add(kernels.latentPrompt, group);
    else if (name == "mla_generation")
      missing = add(kernels.latentToken, group);
    else if (name == "moe")
      missing = add(kernels.experts, group);
    else if (name == "nccl")
      missing = add(kernels.nccl, group);
    else if (name == "custom_allreduce")
      missing = add(kernels.customAllReduce, group);
    else if (name == "deepep_ll")
      missing = add(kernels.lowLatencyExchange, group);
    else if (name == "deepep_normal")
      missing = add(kernels.normalExchange, group);
    else
      return Error{"machine '" + machine.name + "': unknown kernel '" + name +
                   "' under /calibration/kernels"};
    if (!missing.empty())
      return Error{"machine '" + machine.name + "': a group of kernel '" +
                   name + "' lacks the constant '" + missing + "'"};
  }
  return kernels;
}

ErrorOr<Element> calibrated::elementOfGemm(const std::string &dtype) {
  return parseChoice<Element>("dtype", dtype,
                              {{"bfloat16", {2, 2, Peak::Bf16}},
                               {"fp8", {1, 1, Peak::Fp8}},
                               {"fp8_block", {1, 1, Peak::Fp8}},
                               {"nvfp4", {0.5625, 0.5, Peak::Fp4}}});
}

ErrorOr<Element> calibrated::elementOfExperts(const std::string &dtype) {
  return parseChoice<Element>("dtype", dtype,
                              {{"bfloat16", {2, 2, Peak::Bf16}},
                               {"fp8", {1, 1, Peak::Fp8}},
                               {"fp8_block", {1, 1, Peak::Fp8}},
                               {"nvfp4", {0.5625, 0.5625, Peak::Fp4}},
                               {"w4a16_mxfp4", {0.53125, 2, Peak::Bf16}},
                               {"w4a8_mxfp4_mxfp8", {0.53125, 1, Peak::Fp8}},
                               {"int4_wo", {0.53125, 2, Peak::Bf16}}});
}

bool calibrated::isShortWindow(double window) {
  return window > 0 && window < 1024;
}

double calibrated::headsOfGroup(double heads, double kvHeads) {
  double group = heads / kvHeads;
  return group <= 1 ? 1 : group <= 16 ? 16 : group <= 32 ? 32 : 128;
}
