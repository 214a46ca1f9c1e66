//===- CertifiedBound.h - Bounds that rounding cannot break -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_CERTIFIEDBOUND_H
#define SHARDOPT_SOLVERS_SELECTION_CERTIFIEDBOUND_H

#include "shardopt/Solvers/Selection/Multipliers.h"
#include "shardopt/Solvers/Selection/TreeReweighted.h"

namespace shardopt::solve {

/// What assignments of a network that fit cost at least. Constants are in it.
struct Certificate {
  Int128 bound;
  /// The same of those that take a strategy, for each strategy.
  std::vector<Int128> bounds;
};

/// Bounds from the messages after a sweep against the order of the nodes and
/// from the multipliers, both rounded to fixed-point numbers first: all sums
/// are those of integers, so that the bounds hold whatever doubles did. Costs
/// are integers, so that they are rounded up.
///
/// `networkConstant` is the constant of the graph. Nothing where the numbers
/// are too large for that.
std::optional<Certificate> certify(const Network &network,
                                   const TreeReweighted &messages,
                                   const Multipliers &multipliers,
                                   Cost networkConstant);

/// Drops the strategies of `graph`, which `network` was made of, whose bound is
/// more than `upper`. Returns their number.
size_t dropTooDear(Graph &graph, const Network &network,
                   const Certificate &certificate, Int128 upper);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_CERTIFIEDBOUND_H
