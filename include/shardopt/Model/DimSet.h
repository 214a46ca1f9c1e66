//===- DimSet.h - Sets of sharding dims -------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_DIMSET_H
#define SHARDOPT_MODEL_DIMSET_H

#include "shardopt/Model/Strategy.h"

#include <cstdint>

namespace shardopt::cost {

/// The dims that a variable may take, a bit for each (1 << Dim).
using DimSet = uint8_t;
static_assert(maxDims <= 8 * sizeof(DimSet), "a bit for each dim");

constexpr DimSet only(Dim dim) { return static_cast<DimSet>(1 << int(dim)); }
constexpr bool contains(DimSet set, Dim dim) { return set & only(dim); }

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_DIMSET_H
