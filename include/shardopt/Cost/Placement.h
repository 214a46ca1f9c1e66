//===- Placement.h - How a tensor lies over the TP group --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_PLACEMENT_H
#define SHARDOPT_COST_PLACEMENT_H

#include <cstdint>

namespace shardopt::cost {

/// Layout of an activation [rows, features] over the tensor-parallel group.
enum class Layout : uint8_t {
  R, ///< replicated: every rank holds all of it
  T, ///< token-sharded: cut along rows
  H, ///< feature-sharded: cut along the last dim
  P, ///< partial sum: full shape on every rank, the sum is the tensor
};

inline constexpr unsigned numLayouts = 4;

/// Which features a rank holds in layout H. Free of cost: weights are permuted
/// when they are loaded.
enum class FeatureOrder : uint8_t {
  Blocks, ///< contiguous blocks
  Heads,  ///< whole heads, each with the kv head that it reads
  Pairs,  ///< rotary pairs (i, i + headDim / 2) of every head
};

/// Layout of a value, with what its reshard costs and its slices depend on.
struct Placement {
  Layout layout = Layout::R;
  FeatureOrder order = FeatureOrder::Blocks; ///< meaningful in layout H only
  /// Bytes of one full row of the (global) value. Not a function of its type
  /// alone: a partial sum of a gated up projection still holds gate and up.
  double rowBytes = 0;

  friend bool operator==(const Placement &a, const Placement &b) {
    return a.layout == b.layout && a.order == b.order &&
           a.rowBytes == b.rowBytes;
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
