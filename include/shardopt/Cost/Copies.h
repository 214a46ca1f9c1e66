//===- Copies.h - The copies of a value and their reshards ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value lies where its op left it. A consumer that wants it elsewhere has it
// resharded, and the copy that this makes may serve later consumers. Whoever
// walks through a layer keeps the copies made so far, oldest first, as a list
// of structs with a `layout` and whatever else it knows of a copy.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_COPIES_H
#define SHARDOPT_COST_COPIES_H

#include "shardopt/Cost/TimeModel.h"

#include <cassert>

namespace shardopt::cost {

/// The reshard that a consumer pays: `rows` rows of `rowBytes` bytes into `to`.
struct ReshardRequest {
  Layout to = Layout::R;
  double rows = 0;
  double rowBytes = 0;
  Axis over = Axis::Tp; ///< the groups that both layouts are over
};

/// The one of `copies` from which `wanted` takes the fewest seconds; the oldest
/// of those that take as many. There is at least one copy.
///
/// Example: a partial sum that a norm has taken in T, tp > 1. Who wants it in R
/// gathers the copy in T instead of reducing the sum once more; who wants it in
/// H exchanges parts of the copy in T.
template <typename Copies>
const auto &cheapestCopy(const Copies &copies, const ReshardRequest &wanted,
                         const TimeModel &time, const Degrees &degrees) {
  assert(!copies.empty() && "a value without copies");
  auto seconds = [&](Layout from) {
    return time.reshard(from, wanted.to, wanted.rows, wanted.rowBytes, degrees,
                        wanted.over);
  };
  auto cheapest = copies.begin();
  double least = seconds(cheapest->layout);
  for (auto copy = copies.begin(); copy != copies.end(); ++copy)
    if (double found = seconds(copy->layout); found < least) {
      cheapest = copy;
      least = found;
    }
  return *cheapest;
}

} // namespace shardopt::cost

#endif // SHARDOPT_COST_COPIES_H
