//===- Placement.h - How a tensor lies over a group -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_PLACEMENT_H
#define SHARDOPT_MODEL_PLACEMENT_H

#include "shardopt/Model/StageGrid.h"

#include <cstddef>
#include <cstdint>

namespace shardopt::cost {

/// Layout of an activation [rows, features] over a group. The last three are of
/// groups that have a q and a c axis (StageGrid.h), both longer than 1: rows
/// are sharded on q, and over c the layout is that of the second letter. They
/// exist between the exchange and what is on that side of it where the group is
/// the larger one. T over both axes is T.
enum class Layout : uint8_t {
  R,  ///< replicated: every rank holds all of it
  T,  ///< token-sharded: cut along rows
  H,  ///< feature-sharded: cut along the last dim
  P,  ///< partial sum: full shape on every rank, the sum is the tensor
  TR, ///< T over q, R over c
  TH, ///< T over q, H over c
  TP, ///< T over q, P over c
};

inline constexpr unsigned numLayouts = 7;
inline constexpr Layout allLayouts[] = {Layout::R, Layout::T,  Layout::H,
                                        Layout::P, Layout::TR, Layout::TH,
                                        Layout::TP};
/// Those of a group as a whole.
inline constexpr unsigned numWholeLayouts = 4;

/// Whether rows are sharded on q alone.
constexpr bool isTwoAxis(Layout layout) {
  return size_t(layout) >= numWholeLayouts;
}

/// What (T over q, `inner` over c) is on `grid`.
inline Layout cutOverQ(Layout inner, const StageGrid &grid) {
  if (grid.q() == 1)
    return inner;
  if (grid.c() == 1 || inner == Layout::T)
    return Layout::T;
  return inner == Layout::R   ? Layout::TR
         : inner == Layout::H ? Layout::TH
                              : Layout::TP;
}

/// Layout of a value over the ranks along an axis, with what its reshard costs.
struct Placement {
  Layout layout = Layout::R;
  /// Bytes of one full row of the (global) value. Not a function of its type
  /// alone: a partial sum of a gated up projection still holds gate and up.
  double rowBytes = 0;
  Axis over = Axis::Tp; ///< the groups that the layout is over

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
  return layout == Layout::T || isTwoAxis(layout) ? Layout::T : Layout::R;
}

/// "R", "T", "H", "P", "T.R", "T.H" or "T.P".
inline const char *spell(Layout layout) {
  static constexpr const char *names[] = {"R",   "T",   "H",  "P",
                                          "T.R", "T.H", "T.P"};
  return names[size_t(layout)];
}

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_PLACEMENT_H
