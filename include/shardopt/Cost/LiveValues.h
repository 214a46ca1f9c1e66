//===- LiveValues.h - Values between ops, as they live ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A *moment* is an op of a body that runs. A device then holds the values that
// this op, a later one or the layer's exit reads: as their ops left them, and
// in the copies that readers have made. A copy that later readers may take is
// kept until the last of them; one that only its reader has is there while that
// one runs. Where a copy is whole, it replaces the others.
//
// Values are those of a micro-batch. What an op needs while it runs is not
// counted, nor are embedding and head.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_LIVEVALUES_H
#define SHARDOPT_COST_LIVEVALUES_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Model/LayerState.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::cost {

/// Lives and sizes of the values of a body. Refers to `costs`.
class LiveValues {
public:
  /// `context` is that of a layer of `body`; kinds of one body differ in
  /// windows alone, which no value depends on.
  LiveValues(const CostModel &costs, unsigned body, const Context &context);

  /// How an op leaves `value` in `layout`; none if none does.
  const std::optional<Placement> &placement(ValueId value,
                                            Layout layout) const {
    return places[value][size_t(layout)];
  }
  /// Bytes that a device holds of `value` in `layout`.
  double bytes(ValueId value, Layout layout) const {
    return sizes[value][size_t(layout)];
  }
  /// The same of a copy in each of `layouts`.
  double bytes(ValueId value, LayoutSet layouts) const;

  /// Bytes of a copy for one reader alone, which wants it as `to` says.
  double copied(ValueId value, const Placement &to) const {
    return context.heldBytes(to, rows[value] > 0 ? rows[value] : context.rows);
  }

  /// The last op that reads `value`; if it leaves the layer, one behind all
  /// ops.
  size_t lastRead(ValueId value) const { return last[value]; }
  /// From when on copies of `value` are not those of the value that it passes
  /// on.
  size_t ownFrom(ValueId value) const {
    ValueId root = index.values[value].root;
    return root == value ? 0 : last[root] + 1;
  }

  /// Bytes that a device holds while op number `op` runs from `before`, as its
  /// rule wants its operands and leaves its results. The first op finds the
  /// residual.
  double held(size_t op, const LayerState &before,
              Span<const OperandRule> takes,
              Span<const ResultRule> leaves) const;

private:
  void findPlaces(double residualBytes);
  void addOp(const Node &node, std::vector<Placement> &incoming);
  void findSizes();
  double shared(ValueId value, const Node &node, const LayerState &before,
                Span<const OperandRule> takes) const;
  double unshared(ValueId value, const Node &node, const LayerState &before,
                  Span<const OperandRule> takes) const;

  const Body &body;
  const BodyIndex &index;
  const Context context;
  std::vector<size_t> last;
  std::vector<double> rows; ///< that readers want; 0: all of the context
  std::vector<std::array<std::optional<Placement>, numLayouts>> places;
  std::vector<std::array<double, numLayouts>> sizes;
  /// By op: the values made before that count at its moment.
  std::vector<std::vector<ValueId>> liveAt;
};

/// What a device holds at a moment.
struct LiveMoment {
  std::string op;
  double bytes = 0;
};

/// The moments of all bodies under `strategy`, in order; none if it is
/// structurally invalid.
std::vector<LiveMoment> liveMoments(const CostModel &costs,
                                    const Strategy &strategy);

/// The first of the moments that hold the most; without an op if there is none.
LiveMoment livePeak(const CostModel &costs, const Strategy &strategy);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_LIVEVALUES_H
