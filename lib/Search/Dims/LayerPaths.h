//===- LayerPaths.h - The best walks through one layer ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_LAYERPATHS_H
#define SHARDOPT_SEARCH_DIMS_LAYERPATHS_H

#include "shardopt/Cost/Tables/Trellis.h"
#include "shardopt/Search/Dims/OptimalDims.h"

#include <cstdint>
#include <vector>

namespace shardopt::cost {

/// The least of all walks to each exit of the trellis, over the walks in
/// `domains` (by variable) whose first dim is `anchor`.
std::vector<LeastCost> leastCosts(const Trellis &trellis, Dim anchor,
                                  Span<const DimSet> domains);

/// The least that values between ops take at the fullest moment of a walk in
/// `domains`; infinite if there is none. The trellis follows these values.
double leastLiveBytes(const Trellis &trellis, Span<const DimSet> domains);

/// The walks in `domains` whose first dim is `anchor` and that no walk to the
/// same exit beats in seconds without losing in bytes, of those that fit at
/// each moment; one of those that are equal in both. Sums are rounded in the
/// order of the ops, and rounding is monotone: what is dropped cannot win by
/// rounding either.
class LayerPaths {
public:
  struct Path {
    unsigned exit = 0;
    double seconds = 0;
    double bytes = 0;
    uint32_t label = 0; ///< for `writeDims`
  };

  LayerPaths(const Trellis &trellis, Dim anchor, Span<const DimSet> domains);

  /// By exit; those of one exit by ascending seconds, descending bytes.
  const std::vector<Path> &paths() const { return pathList; }

  /// Sets the dims of the layer's variables.
  void writeDims(const Path &path, Span<Dim> dims) const;

private:
  /// The end of a walk to some state after some op.
  struct Label {
    double seconds = 0;
    double bytes = 0;
    uint32_t parent = 0; ///< the label before the op
    Dim dim = Dim::None; ///< of the op
  };

  static void prune(std::vector<Label> &candidates);

  const Trellis &trellis;
  std::vector<Label> labels; ///< number 0 is before the first op
  std::vector<Path> pathList;
};

} // namespace shardopt::cost

#endif // SHARDOPT_SEARCH_DIMS_LAYERPATHS_H
