//===- LayerState.cpp - Where the values of a layer are -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/LayerState.h"

using namespace shardopt;
using namespace shardopt::cost;

LayerState::LayerState(const BodyIndex &index)
    : index(index), places(index.values.size()), sets(index.values.size()) {}

void LayerState::leave(ValueId value, const Placement &placement) {
  restore(value, placement, bit(placement.layout));
}

void LayerState::take(ValueId value, Layout to) {
  sets[value] |= bit(to);
  sets[index.values[value].root] |= bit(to);
}

void LayerState::take(ValueId value, const OperandRule &rule) {
  if (rule.copy == OperandRule::Copy::Required)
    take(value, rule.required.layout);
  else if (rule.copy == OperandRule::Copy::Whole)
    take(value, Layout::R);
}

void LayerState::restore(ValueId value, const Placement &placement,
                         LayoutSet copies) {
  places[value] = placement;
  sets[value] = copies;
}
