//===- OpEntries.h - An op under every dim and layout -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_OPENTRIES_H
#define SHARDOPT_COST_TABLES_OPENTRIES_H

#include "shardopt/Model/OpModel.h"

#include <cstdint>
#include <vector>

namespace shardopt::cost {

/// An op with one dim and given placements of its operands.
struct OpEntry {
  InlineVector<Placement, maxOperands> incoming;
  bool legal = false;
  uint16_t variation = 0;
  double seconds = 0; ///< without reshards
  double bytes = 0;
  InlineVector<OperandRule, maxOperands> operands;
  InlineVector<ResultRule, 3> results;
  /// Seconds of the reshard of an operand, by the layout of the copy that it
  /// starts from; negative: not asked yet.
  double reshards[maxOperands][numLayouts];
};

/// Those that were asked for.
struct OpEntries {
  /// 1 + where in `filled`, by dim and layouts; 0: nowhere.
  std::vector<uint16_t> places;
  std::vector<OpEntry *> filled; ///< held by whoever holds these

  /// With room for an op of `numDims` and `numOperands`.
  void reserve(size_t numDims, size_t numOperands) {
    size_t size = numDims;
    for (size_t i = 0; i < numOperands; ++i)
      size *= numLayouts;
    if (places.size() != size)
      places.assign(size, 0);
  }
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_OPENTRIES_H
