//===- LayerExit.cpp - Leaving a layer ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/LayerExit.h"

using namespace shardopt;
using namespace shardopt::cost;

LayerExit::Moves LayerExit::into(Layout wanted) const {
  Moves moves;
  moves.sources.push_back(residual);
  moves.sources.push_back(main);
  if (!shared)
    return moves;
  const bool alike = *shared == main;
  if (!alike)
    moves.sources.push_back(*shared);
  moves.join = alike ? main : wanted;
  return moves;
}

Layout LayerExit::outputLayout() const {
  const bool cut = passThrough(main) == Layout::T &&
                   (!shared || passThrough(*shared) == Layout::T);
  return cut ? Layout::T : Layout::R;
}

Kernel cost::joinKernel(Layout join, double rows, double rowBytes,
                        const Context &context) {
  double bytes = context.localRows(join, rows) * rowBytes;
  if (join == Layout::H)
    bytes /= context.tp();
  return memoryKernel(bytes, /*launch=*/false);
}
