//===- ServedModel.cpp - What a serving engine runs -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServedModel.h"

#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;

double ServedNet::values(double tp) const {
  return std::ceil(heads / tp) * (valueHeads / heads) * valueDim;
}

double ServedNet::channels(double tp) const {
  return 2 * std::ceil(heads / tp) * keyDim + values(tp);
}

void ServedModel::addNetLayer(bool hasExperts) {
  (hasExperts ? expertLayers : denseLayers) += 1;
  net.layers += 1;
}

void ServedModel::addLayer(int64_t window, bool hasExperts) {
  (hasExperts ? expertLayers : denseLayers) += 1;
  auto span =
      std::find_if(spans.begin(), spans.end(), [&](const ServedSpan &known) {
        return known.window == double(window);
      });
  if (span == spans.end())
    span = spans.insert(span, {double(window), 0});
  span->layers += 1;
}

ErrorOr<ServedType> cost::servedType(const std::string &option,
                                     const std::string &name) {
  return parseChoice<ServedType>(option, name,
                                 {{"bf16", ServedType::Bf16},
                                  {"bfloat16", ServedType::Bf16},
                                  {"float16", ServedType::Bf16},
                                  {"fp16", ServedType::Bf16},
                                  {"fp8", ServedType::Fp8},
                                  {"fp8_static", ServedType::Fp8},
                                  {"fp8_block", ServedType::Fp8Block},
                                  {"fp4", ServedType::Nvfp4},
                                  {"nvfp4", ServedType::Nvfp4},
                                  {"mxfp4", ServedType::Mxfp4},
                                  {"w4a16_mxfp4", ServedType::Mxfp4},
                                  {"w4a8_mxfp4_mxfp8", ServedType::Mxfp4},
                                  {"int4", ServedType::Int4},
                                  {"int4_wo", ServedType::Int4},
                                  {"awq", ServedType::Int4},
                                  {"gptq", ServedType::Int4}});
}

ServedType cost::asServed(const ServedModel &model, ServedType asked,
                          ServedType checkpoint) {
  if (asked == ServedType::Fp8 && model.hasFp8Blocks)
    return ServedType::Fp8Block;
  // Of 4 bits are the experts of such a checkpoint, and not as nvfp4 is.
  if (asked == ServedType::Nvfp4 && model.expertType == ServedType::Mxfp4)
    return checkpoint;
  return asked;
}

bool cost::isWithFp8Cache(ServedType gemm) {
  return gemm == ServedType::Fp8 || gemm == ServedType::Fp8Block ||
         gemm == ServedType::Nvfp4;
}
