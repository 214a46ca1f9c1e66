//===- Evaluate.h - Metrics of one strategy ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_EVALUATE_H
#define SHARDOPT_COST_TABLES_EVALUATE_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/Tables/Tables.h"

namespace shardopt::cost {

/// The metrics of the strategy with the degrees of `tables` and `dims`, one for
/// each variable. Allocates nothing.
Evaluation evaluate(const Tables &tables, Span<const Dim> dims);

/// The same for a single strategy, whose tables are built first.
Evaluation evaluate(const CostModel &costs, const Strategy &strategy);

/// The layers of each stage of `strategy` as `evaluate` divides them; empty if
/// that is evenly, as it always is where there are no trellises to say better,
/// or the strategy is structurally invalid.
StageCut chooseStages(const CostModel &costs, const Strategy &strategy);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_EVALUATE_H
