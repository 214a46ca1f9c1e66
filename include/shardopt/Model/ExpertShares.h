//===- ExpertShares.h - How uneven the load of experts is -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_EXPERTSHARES_H
#define SHARDOPT_MODEL_EXPERTSHARES_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::cost {

/// Which share of the visits of tokens each expert of a layer gets: Zipf's law
/// with one exponent, in an order that is unknown and another one in each
/// layer, or measured shares.
class ExpertShares {
public:
  /// The n-th most popular expert has a share proportional to n^-exponent.
  static ErrorOr<ExpertShares> zipf(double exponent);
  /// One row a layer with experts, or one for all of them; the shares of a row
  /// add up to 1 (to a thousandth) and are scaled to do so.
  static ErrorOr<ExpertShares> measured(std::vector<std::vector<double>> rows);
  /// "zipf:0.8".
  static ErrorOr<ExpertShares> parse(const std::string &text);

  /// Whether all experts have the same share.
  bool isEven() const { return rows.empty() && exponent == 0; }
  /// Why these are not the shares of a model with as many experts in each of
  /// `layers` layers, as a phrase; none: they can be.
  std::optional<std::string> whyNot(int64_t experts, int64_t layers) const;

  /// The chance that a token visits an expert, by expert, in layers that stand
  /// for all: they add up to `topK`, and none is above 1. Without `isOrdered`,
  /// the order of the experts does not matter to the caller.
  std::vector<std::vector<double>> chances(int64_t experts, int64_t topK,
                                           bool isOrdered) const;

private:
  double exponent = 0;
  std::vector<std::vector<double>> rows; ///< empty: Zipf's
};

/// Chances proportional to `weights` that add up to `total`, none above 1: what
/// exceeds 1 goes to the others.
std::vector<double> boundedChances(const std::vector<double> &weights,
                                   double total);

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_EXPERTSHARES_H
