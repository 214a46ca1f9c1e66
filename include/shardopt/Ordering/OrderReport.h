//===- OrderReport.h - What was ordered, for people and programs -*- C++
//-*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_ORDERING_ORDERREPORT_H
#define SHARDOPT_ORDERING_ORDERREPORT_H

#include "shardopt/Ordering/RingOrder.h"
#include "shardopt/Ordering/StepOrder.h"

namespace shardopt::ordering {

/// A table, a row for each number of chunks; the one that is `best` has a mark.
std::string orderTable(const std::vector<OrderedStep> &steps, size_t best);

/// The same and more as JSON, with a line break at its end.
std::string orderJson(const std::vector<OrderedStep> &steps, size_t best);

/// The same of turns of a ring, a row for each number of groups.
std::string ringTable(const std::vector<OrderedRing> &rings, size_t best);
std::string ringJson(const std::vector<OrderedRing> &rings, size_t best);

} // namespace shardopt::ordering

#endif // SHARDOPT_ORDERING_ORDERREPORT_H
