//===- LayerState.h - Where the values of a layer are -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_LAYERSTATE_H
#define SHARDOPT_MODEL_LAYERSTATE_H

#include "shardopt/Model/BodyIndex.h"

namespace shardopt::cost {

/// The layouts in which a value can be had, a bit for each (1 << Layout).
using LayoutSet = uint8_t;

constexpr LayoutSet bit(Layout layout) {
  return static_cast<LayoutSet>(1 << int(layout));
}

/// `copies` of a value without those that a whole copy gives for nothing.
constexpr LayoutSet withoutNeedless(LayoutSet copies) {
  return copies & bit(Layout::R) ? bit(Layout::R) : copies;
}

/// Between two ops of a layer: how the op that made it left each value, and
/// the copies that reshards for consumers have added. A consumer of dim `none`
/// follows the former; what it pays is the cheapest reshard from the latter.
class LayerState {
public:
  explicit LayerState(const BodyIndex &index);

  /// `value` is made, with no copies yet.
  void leave(ValueId value, const Placement &placement);
  /// `value` is resharded to `to`. The copy is one of its root as well, while
  /// copies of the root are not its own.
  void take(ValueId value, Layout to);
  /// An op takes `value` as `rule` says, and leaves the copy that it says.
  void take(ValueId value, const OperandRule &rule);

  const Placement &placement(ValueId value) const { return places[value]; }
  Layout layout(ValueId value) const { return places[value].layout; }
  LayoutSet copies(ValueId value) const { return sets[value]; }

  /// Sets what a packed state says of `value`.
  void restore(ValueId value, const Placement &placement, LayoutSet copies);

private:
  const BodyIndex &index;
  std::vector<Placement> places;
  std::vector<LayoutSet> sets;
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_LAYERSTATE_H
