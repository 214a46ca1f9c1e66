//===- Placement.h - How a tensor lies over a group -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_PLACEMENT_H
#define SHARDOPT_COST_PLACEMENT_H

#include "shardopt/Support/GridAxis.h"

#include <cstdint>

namespace shardopt::cost {

/// Layout of an activation [rows, features] over a group.
enum class Layout : uint8_t {
  R, ///< replicated: every rank holds all of it
  T, ///< token-sharded: cut along rows
  H, ///< feature-sharded: cut along the last dim
  P, ///< partial sum: full shape on every rank, the sum is the tensor
};

inline constexpr unsigned numLayouts = 4;

/// Layout of a value over the ranks along an axis, with what its reshard costs.
struct Placement {
  Layout layout = Layout::R;
  /// Bytes of one full row of the (global) value. Not a function of its type
  /// alone: a partial sum of a gated up projection still holds gate and up.
  double rowBytes = 0;
  GridAxis over = GridAxis::Tp; ///< the groups that the layout is over

  friend bool operator==(const Placement &a, const Placement &b) {
    return a.layout == b.layout && a.rowBytes == b.rowBytes && a.over == b.over;
  }
  friend bool operator!=(const Placement &a, const Placement &b) {
    return !(a == b);
  }
};

/// What dim `none` makes of an operand in `layout`: rows stay cut where they
/// are, everything else is gathered.
inline Layout passThrough(Layout layout) {
  return layout == Layout::T ? Layout::T : Layout::R;
}

/// The letter of `layout`: 'R', 'T', 'H' or 'P'.
inline char letter(Layout layout) { return "RTHP"[static_cast<int>(layout)]; }

} // namespace shardopt::cost

#endif // SHARDOPT_COST_PLACEMENT_H
