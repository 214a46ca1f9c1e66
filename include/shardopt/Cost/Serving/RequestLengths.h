//===- RequestLengths.h - How long requests are -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_REQUESTLENGTHS_H
#define SHARDOPT_COST_SERVING_REQUESTLENGTHS_H

#include <optional>
#include <string>
#include <vector>

namespace shardopt::cost {

/// Requests of one length, and their share of all.
struct LengthShare {
  double inputTokens = 1, outputTokens = 1, share = 1;
};

/// Why `shares` are no distribution of lengths, as a phrase with what was
/// found; none: they are one.
std::optional<std::string> whyNoLengths(const std::vector<LengthShare> &shares);

/// Tokens of requests: means where times are linear in them, and what second
/// moments say where they are not (docs/ServingRuns.md).
class RequestLengths {
public:
  RequestLengths() = default;
  /// Of a distribution.
  explicit RequestLengths(const std::vector<LengthShare> &shares);

  double inputTokens = 1, outputTokens = 1; ///< in the mean

  /// Of the prompt that a token of prompts is of, in the mean over tokens.
  double prompt() const { return spread ? spread->prompt : inputTokens; }
  /// In the cache of a sequence that decodes, in the mean over its time: half
  /// of an answer stands.
  double context() const {
    return spread ? spread->context : inputTokens + outputTokens / 2;
  }
  double longestInput() const {
    return spread ? spread->longestInput : inputTokens;
  }
  /// The most of a request, of whose answer half stands.
  double longestContext() const {
    return spread ? spread->longestContext : context();
  }
  /// The standard deviation of prompts, as a share of their mean.
  double deviation() const;

private:
  struct Spread {
    double prompt = 0, context = 0, longestInput = 0, longestContext = 0;
  };
  std::optional<Spread> spread; ///< none: all are as long as the mean
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_REQUESTLENGTHS_H
