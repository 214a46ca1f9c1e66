//===- CertifiedBound.h - Bounds that rounding cannot break -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVE_CERTIFIEDBOUND_H
#define SHARDOPT_SOLVE_CERTIFIEDBOUND_H

#include "shardopt/Solve/Multipliers.h"
#include "shardopt/Solve/TreeReweighted.h"

namespace shardopt::solve {

/// A lower bound of the cost of every assignment of `network` that fits, from
/// the messages after a sweep against the order of the nodes and from the
/// multipliers, both rounded to fixed-point numbers first: all sums are those
/// of integers, so that the bound holds whatever doubles did. Costs are
/// integers, so that it is rounded up. The constant is in it.
///
/// `networkConstant` is the constant of the graph. Nothing where the numbers
/// are too large for that.
std::optional<Int128> certifyBound(const Network &network,
                                   const TreeReweighted &messages,
                                   const Multipliers &multipliers,
                                   Cost networkConstant);

/// For each strategy of the network: whether every assignment that fits and
/// takes it costs more than `upper`, by the same argument. Nothing where
/// certifyBound() says nothing.
std::optional<std::vector<char>>
findTooDear(const Network &network, const TreeReweighted &messages,
            const Multipliers &multipliers, Cost networkConstant, Int128 upper);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVE_CERTIFIEDBOUND_H
