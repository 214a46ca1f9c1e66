//===- RawPerformance.h - The goal as a number to maximise ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_RAWPERFORMANCE_H
#define SHARDOPT_SEARCH_RAWPERFORMANCE_H

#include "shardopt/Search/Objective.h"

namespace shardopt::search {

/// The performance of a valid evaluation as rewards and energies have it, not
/// as a logarithm: tokens/s per device, or 1000/ms for latency; at most 1e12,
/// whatever a simulator answers.
double rawPerformance(const Objective &objective, const Evaluation &evaluation);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_RAWPERFORMANCE_H
