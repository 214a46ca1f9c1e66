//===- RequestLengths.cpp - How long requests are -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/RequestLengths.h"

#include "shardopt/Model/RequestLoad.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;

std::optional<std::string>
cost::whyNoLengths(const std::vector<LengthShare> &shares) {
  double sum = 0;
  for (const auto &[input, output, share] : shares) {
    for (auto [name, tokens] : {std::pair("isl", input), {"osl", output}})
      if (!(tokens >= 1 && tokens <= double(maxContext)))
        return std::string("'") + name + "' of the lengths has " +
               spell(RequestField::Isl, tokens) +
               ", expected tokens from 1 to " + std::to_string(maxContext);
    if (!(share > 0 && share <= 1))
      return "a share of the lengths is " +
             spell(RequestField::PrefixCacheHitRate, share) +
             ", expected a number above 0, and at most 1";
    sum += share;
  }
  if (!(std::abs(sum - 1) <= 1e-6))
    return "the shares of the lengths sum to " +
           spell(RequestField::PrefixCacheHitRate, sum) + ", expected 1";
  return std::nullopt;
}

RequestLengths::RequestLengths(const std::vector<LengthShare> &shares) {
  double all = 0, in = 0, out = 0, square = 0, context = 0;
  Spread found;
  for (const auto &[input, output, share] : shares) {
    double standing = input + output / 2;
    all += share;
    in += share * input;
    out += share * output;
    square += share * input * input;
    context += share * output * standing;
    found.longestInput = std::max(found.longestInput, input);
    found.longestContext = std::max(found.longestContext, standing);
  }
  inputTokens = in / all;
  outputTokens = out / all;
  found.prompt = square / in;
  found.context = context / out;
  if (shares.size() > 1)
    spread = found;
}

double RequestLengths::deviation() const {
  return std::sqrt(std::max(0.0, prompt() / inputTokens - 1));
}
