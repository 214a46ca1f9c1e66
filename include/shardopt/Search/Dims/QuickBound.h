//===- QuickBound.h - Bounds without a trellis ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_QUICKBOUND_H
#define SHARDOPT_SEARCH_DIMS_QUICKBOUND_H

#include "shardopt/Search/Dims/OptimalDims.h"

namespace shardopt::cost {

/// Bounds the goal over all dims in the domains of `request`, as
/// `boundDims` does: every op takes and holds the least that it can with any of
/// its dims and layouts, and nothing is resharded. Costs a small part of what
/// tables cost, and is looser. With `walksLayers`, layers pay for what they
/// reshard within themselves, and keep to the limit on values between ops.
DimsBound boundQuickly(const CostModel &costs, const TableRequest &request,
                       Goal goal, bool walksLayers = false);

} // namespace shardopt::cost

#endif // SHARDOPT_SEARCH_DIMS_QUICKBOUND_H
