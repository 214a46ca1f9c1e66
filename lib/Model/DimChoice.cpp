//===- DimChoice.cpp - The sharding dims that an op has -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/DimChoice.h"

using namespace shardopt;
using namespace shardopt::cost;

Span<const Dim> cost::dimsBelow(unsigned count) {
  static constexpr Dim all[] = {Dim(0), Dim(1), Dim(2), Dim(3),
                                Dim(4), Dim(5), Dim(6), Dim(7)};
  static_assert(std::size(all) == maxDims, "one entry a dim");
  return {all, count};
}

unsigned cost::numDims(Span<const DimChoice> choices) {
  return unsigned(choices[choices.size() - 1].dim) + 1;
}

std::optional<Dim> cost::parseDim(std::string_view spelling,
                                  Span<const DimChoice> choices) {
  for (const DimChoice &choice : choices)
    if (spelling == choice.name ||
        spelling == std::to_string(unsigned(choice.dim)))
      return choice.dim;
  return std::nullopt;
}

std::string cost::listChoices(Span<const DimChoice> choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    text += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    text += choices[i].dim == Dim::None
                ? choices[i].name
                : std::to_string(unsigned(choices[i].dim)) + " (" +
                      choices[i].name + ")";
  }
  return text;
}
