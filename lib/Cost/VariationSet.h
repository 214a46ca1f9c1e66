//===- VariationSet.h - What layers of other kinds cost more ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_VARIATIONSET_H
#define SHARDOPT_COST_VARIATIONSET_H

#include "shardopt/Cost/Trellis.h"

#include <cstdint>
#include <vector>

namespace shardopt::cost {

/// The variations of the states of a body, numbered. Number 0 is none.
class VariationSet {
public:
  /// Numbers have this many bits; more variations are a bug.
  static constexpr unsigned bits = 8;

  /// The number of `wanted`, by LayerIndex::kinds.
  uint8_t add(const std::vector<Variation> &wanted);
  /// The number of the sum of two.
  uint8_t sum(uint8_t a, uint8_t b);
  const std::vector<Variation> &operator[](uint8_t i) const { return list[i]; }

private:
  std::vector<std::vector<Variation>> list{{}};
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_VARIATIONSET_H
