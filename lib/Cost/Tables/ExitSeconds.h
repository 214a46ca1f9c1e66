//===- ExitSeconds.h - Seconds to leave a layer -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_EXITSECONDS_H
#define SHARDOPT_COST_TABLES_EXITSECONDS_H

#include "shardopt/Cost/LayerExit.h"
#include "shardopt/Cost/TimeModel.h"

namespace shardopt::cost {

/// Seconds of all that leaving a layer can need, for a number of rows.
class ExitSeconds {
public:
  /// `rows` rows of `rowBytes` bytes.
  ExitSeconds(const TimeModel &time, double rows, double rowBytes,
              const Context &context);

  /// Seconds to add up the values of `end` and bring them into layout `to`.
  double leave(const LayerExit &end, Layout to) const;

private:
  double reshards[numLayouts][numLayouts] = {}; ///< from, to
  double joins[numLayouts] = {};
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_EXITSECONDS_H
