//===- Targets.h - What is learned of a strategy -------------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_TARGETS_H
#define SHARDOPT_SEARCH_BAYESIAN_TARGETS_H

#include <array>
#include <cstddef>

namespace shardopt::search {

/// What is learned of a strategy, finite numbers all; see `TargetEncoder` for
/// the meaning.
constexpr size_t numTargets = 3;
using Targets = std::array<double, numTargets>;

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_TARGETS_H
