//===- LayerExit.h - Leaving a layer ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_LAYEREXIT_H
#define SHARDOPT_COST_LAYEREXIT_H

#include "shardopt/Model/Context.h"
#include "shardopt/Model/Kernel.h"
#include "shardopt/Model/Model.h"
#include "shardopt/Support/InlineVector.h"

namespace shardopt::cost {

/// How the values are placed that are added up where a layer ends.
struct LayerExit {
  using Layouts = InlineVector<Layout, Body::maxSummands>;

  Layouts residuals;
  Layouts outputs; ///< of attention, of feed-forward blocks, of experts

  /// What brings the sum into the layout that the next layer, or the head,
  /// wants: reshards from each of `sources`, and one more read in each of the
  /// layouts `joins`: the norm that follows reads a residual and an output
  /// itself, whatever else is added is read once more. Outputs that all
  /// lie alike are added where they are, before they are moved to the residual;
  /// everything else where it is wanted.
  struct Moves {
    Layouts sources;
    Layouts joins;
  };
  Moves into(Layout wanted) const;

  /// The part of summand number `i` of `residuals` or `outputs`, in `layout`:
  /// whether it is a source, and where it is read once more, if it is.
  struct Move {
    bool isSource = true;
    std::optional<Layout> join;
  };
  static Move move(size_t i, Layout layout, bool inPlace, Layout wanted);
  /// Whether outputs are added where they are.
  bool addsInPlace() const;

  /// What dim none of the head follows: T if the rows of all outputs are cut.
  Layout outputLayout() const;
};

/// The exit of `body`, whose values lie as `layoutOf` says.
template <typename LayoutOf>
LayerExit makeExit(const Body &body, LayoutOf layoutOf) {
  LayerExit exit;
  for (ValueId value : body.exitResiduals)
    exit.residuals.push_back(layoutOf(value));
  for (ValueId value : body.exitOutputs)
    exit.outputs.push_back(layoutOf(value));
  return exit;
}

/// The extra read of `rows` rows in layout `join`. It is part of the kernel of
/// the norm that follows.
Kernel joinKernel(Layout join, double rows, double rowBytes,
                  const Context &context);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_LAYEREXIT_H
