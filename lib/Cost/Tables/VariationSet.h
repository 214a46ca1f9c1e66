//===- VariationSet.h - What layers of other kinds cost more ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_VARIATIONSET_H
#define SHARDOPT_COST_TABLES_VARIATIONSET_H

#include "shardopt/Cost/Tables/Trellis.h"

#include <cstdint>
#include <vector>

namespace shardopt::cost {

/// The variations of the states of a body, numbered. Number 0 is none.
class VariationSet {
public:
  /// The number of `wanted`, by LayerIndex::kinds.
  uint16_t add(const std::vector<Variation> &wanted);
  /// The number of the sum of two.
  uint16_t sum(uint16_t a, uint16_t b);
  const std::vector<Variation> &operator[](uint16_t i) const { return list[i]; }

private:
  std::vector<std::vector<Variation>> list{{}};
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_VARIATIONSET_H
