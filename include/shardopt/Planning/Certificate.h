//===- Certificate.h - What a search found, recomputed ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search asks tables that share work between millions of strategies. Before
// anything is called proved, what it found is computed once more by the naive
// model, op by op and layer by layer (`cost::breakdown`), which shares neither
// the tables nor the states of the trellis.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_CERTIFICATE_H
#define SHARDOPT_PLANNING_CERTIFICATE_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Search/Driver.h"

#include <optional>

namespace shardopt {

/// Recomputes what `plan` says of its strategy. Metrics may differ by 1e-9 of
/// themselves, because sums are rounded in another order, and so a limit may be
/// met by one of the two alone where a metric is that close to it. The error
/// names a metric and both values; it is a bug of the model.
std::optional<Error> verifyPlan(const cost::CostModel &costs,
                                const search::Plan &plan);

/// Whether what `result` claims agrees with itself: its best strategy stands
/// `verifyPlan`, is valid and no better than the bound, and if it is proved to
/// be the optimum, is that bound. The error is a bug of the search or the
/// model.
std::optional<Error> verifyResult(const cost::CostModel &costs,
                                  const search::SearchResult &result,
                                  search::Goal goal);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_CERTIFICATE_H
