//===- ExitSeconds.cpp - Seconds to leave a layer -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExitSeconds.h"

#include "shardopt/Support/Span.h"

using namespace shardopt;
using namespace shardopt::cost;

ExitSeconds::ExitSeconds(const TimeModel &time, double rows, double rowBytes,
                         const Context &context) {
  unsigned known = context.grid.q() == 1 ? numWholeLayouts : numLayouts;
  for (Layout from : Span<const Layout>(allLayouts, known)) {
    auto f = int(from);
    for (Layout to : {Layout::R, Layout::T, Layout::H})
      reshards[f][int(to)] =
          time.reshard(from, to, rows, rowBytes, context.degrees);
    joins[f] = time.seconds(joinKernel(from, rows, rowBytes, context));
  }
}

double ExitSeconds::leave(const LayerExit &end, Layout to) const {
  LayerExit::Moves moves = end.into(to);
  double seconds = 0;
  for (Layout join : moves.joins)
    seconds += joins[int(join)];
  for (Layout from : moves.sources)
    seconds += reshards[int(from)][int(to)];
  return seconds;
}
