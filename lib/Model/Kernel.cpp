//===- Kernel.cpp - Kernels and collectives of one device -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Kernel.h"
#include "shardopt/Support/Choice.h"

#include <iterator>

using namespace shardopt;
using namespace shardopt::cost;

const char *cost::spell(WeightType type) {
  static constexpr const char *names[] = {
      "f32",   "bf16", "fp8",     "fp8_block", "mxfp4",
      "nvfp4", "int4", "int4_64", "int4_32",   "int8"};
  static_assert(std::size(names) == numWeightTypes);
  return names[size_t(type)];
}

ErrorOr<WeightType> cost::parseWeightStorage(const std::string &option,
                                             const std::string &name) {
  std::vector<std::pair<std::string, WeightType>> choices;
  for (WeightType type :
       {WeightType::Fp8, WeightType::Fp8Block, WeightType::Mxfp4,
        WeightType::Nvfp4, WeightType::Int4, WeightType::Int4Of64,
        WeightType::Int4Of32, WeightType::Int8})
    choices.emplace_back(spell(type), type);
  return parseChoice<WeightType>(option, name, choices);
}

const char *cost::spell(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  case CollectiveKind::Send:
    return "send";
  }
  return "";
}
