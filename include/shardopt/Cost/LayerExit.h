//===- LayerExit.h - Leaving a layer ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_LAYEREXIT_H
#define SHARDOPT_COST_LAYEREXIT_H

#include "shardopt/Cost/Context.h"
#include "shardopt/Cost/Kernel.h"
#include "shardopt/Support/InlineVector.h"

namespace shardopt::cost {

/// How the values are placed that are added up where a layer ends.
struct LayerExit {
  Layout residual = Layout::R;  ///< of the last norm
  Layout main = Layout::R;      ///< output of the feed-forward block
  std::optional<Layout> shared; ///< output of shared experts, if there are any

  /// What brings the sum into the layout that the next layer, or the head,
  /// wants: reshards from each of `sources`, and one more read, in layout
  /// `join`, to add the two outputs. They are added where they are if they lie
  /// alike, else where they are wanted.
  struct Moves {
    InlineVector<Layout, 3> sources;
    std::optional<Layout> join;
  };
  Moves into(Layout wanted) const;

  /// What dim none of the head follows: T if the rows of all of the output are
  /// cut.
  Layout outputLayout() const;
};

/// The extra read of `rows` rows in layout `join`. It is part of the kernel of
/// the norm that follows.
Kernel joinKernel(Layout join, double rows, double rowBytes,
                  const Context &context);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_LAYEREXIT_H
