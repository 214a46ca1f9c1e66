//===- LayerExit.cpp - Leaving a layer ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/LayerExit.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

bool LayerExit::addsInPlace() const {
  return outputs.size() > 1 && !residuals.empty() &&
         std::all_of(outputs.begin(), outputs.end(),
                     [&](Layout layout) { return layout == outputs[0]; });
}

LayerExit::Move LayerExit::move(size_t i, Layout layout, bool inPlace,
                                Layout wanted) {
  Move move;
  move.isSource = i == 0 || !inPlace;
  if (i > 0)
    move.join = inPlace ? layout : wanted;
  return move;
}

LayerExit::Moves LayerExit::into(Layout wanted) const {
  Moves moves;
  auto add = [&](const Layouts &summands, bool inPlace) {
    for (size_t i = 0; i < summands.size(); ++i) {
      Move part = move(i, summands[i], inPlace, wanted);
      if (part.isSource)
        moves.sources.push_back(summands[i]);
      if (part.join)
        moves.joins.push_back(*part.join);
    }
  };
  add(residuals, false);
  add(outputs, addsInPlace());
  return moves;
}

Layout LayerExit::outputLayout() const {
  const Layouts &followed = outputs.empty() ? residuals : outputs;
  bool cut = std::all_of(followed.begin(), followed.end(), [](Layout layout) {
    return passThrough(layout) == Layout::T;
  });
  return cut ? Layout::T : Layout::R;
}

Kernel cost::joinKernel(Layout join, double rows, double rowBytes,
                        const Context &context) {
  double bytes = context.localRows(join, rows) * rowBytes;
  if (join == Layout::H)
    bytes /= context.tp();
  return memoryKernel(bytes, /*launch=*/false);
}
