//===- ExpertShares.cpp - How uneven the load of experts is ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/ExpertShares.h"

#include "shardopt/Support/Rng.h"
#include "shardopt/Support/Suggest.h"

#include <cmath>
#include <cstdlib>
#include <numeric>

using namespace shardopt;
using namespace shardopt::cost;

std::vector<double> cost::boundedChances(const std::vector<double> &weights,
                                         double total) {
  std::vector<double> chances(weights.size(), 0);
  std::vector<bool> full(weights.size(), false);
  while (true) {
    double left = total, open = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      full[i] ? left -= 1 : open += weights[i];
    bool isFinal = true;
    for (size_t i = 0; i < weights.size(); ++i) {
      chances[i] = full[i] ? 1 : open > 0 ? left * weights[i] / open : 0;
      if (chances[i] > 1) {
        full[i] = true;
        isFinal = false;
      }
    }
    if (isFinal)
      return chances;
  }
}

ErrorOr<ExpertShares> ExpertShares::zipf(double exponent) {
  constexpr double most = 4;
  if (!(exponent >= 0 && exponent <= most))
    return Error{"the exponent of expert loads is " + formatNumber(exponent) +
                 ", expected a number from 0 (even) to " + formatNumber(most)};
  ExpertShares shares;
  shares.exponent = exponent;
  return shares;
}

ErrorOr<ExpertShares>
ExpertShares::measured(std::vector<std::vector<double>> rows) {
  if (rows.empty())
    return Error{"there are no shares of experts, expected a row for each "
                 "layer with experts, or one for all"};
  for (size_t layer = 0; layer < rows.size(); ++layer) {
    std::string place =
        "the expert loads of layer " + std::to_string(layer + 1);
    double sum = 0;
    for (size_t expert = 0; expert < rows[layer].size(); ++expert) {
      double share = rows[layer][expert];
      if (!(share >= 0 && share <= 1))
        return Error{place + " have " + formatNumber(share) + " for expert " +
                     std::to_string(expert + 1) +
                     ", expected a share from 0 to 1"};
      sum += share;
    }
    constexpr double rounding = 1e-3;
    if (!(std::abs(sum - 1) <= rounding))
      return Error{place + " add up to " + formatNumber(sum) +
                   ", expected shares that add up to 1"};
    for (double &share : rows[layer])
      share /= sum;
  }
  ExpertShares shares;
  shares.rows = std::move(rows);
  return shares;
}

ErrorOr<ExpertShares> ExpertShares::parse(const std::string &text) {
  std::string law = "zipf:";
  char *end = nullptr;
  if (text.rfind(law, 0) == 0 && text.size() > law.size()) {
    double exponent = std::strtod(text.c_str() + law.size(), &end);
    if (*end == 0)
      return zipf(exponent);
  }
  return Error{"'" + abbreviate(text) +
               "' is no load of experts, expected zipf: and an exponent, such "
               "as zipf:0.8"};
}

std::optional<std::string> ExpertShares::whyNot(int64_t experts,
                                                int64_t layers) const {
  if (experts == 0)
    return "loads of experts are given, and the model has no experts";
  if (rows.size() > 1 && int64_t(rows.size()) != layers)
    return "the expert loads have " + std::to_string(rows.size()) +
           " layers, expected 1 or " + std::to_string(layers) +
           ", as the model has with experts";
  for (size_t layer = 0; layer < rows.size(); ++layer)
    if (int64_t(rows[layer].size()) != experts)
      return "the expert loads of layer " + std::to_string(layer + 1) +
             " are of " + std::to_string(rows[layer].size()) +
             " experts, expected " + std::to_string(experts);
  return std::nullopt;
}

/// Orders of Zipf's experts that stand for those of all layers.
static constexpr int numOrders = 32;

std::vector<std::vector<double>>
ExpertShares::chances(int64_t experts, int64_t topK, bool isOrdered) const {
  std::vector<std::vector<double>> all;
  auto total = double(std::min(topK, experts));
  for (const std::vector<double> &row : rows)
    all.push_back(boundedChances(row, total));
  if (!rows.empty())
    return all;
  std::vector<double> weights(size_t(experts), 1);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = std::pow(double(i + 1), -exponent);
  std::vector<double> sorted = boundedChances(weights, total);
  if (!isOrdered)
    return {sorted};
  Rng rng(/*seed=*/1);
  for (int order = 0; order < numOrders; ++order) {
    all.push_back(sorted);
    rng.shuffle(all.back());
  }
  return all;
}
