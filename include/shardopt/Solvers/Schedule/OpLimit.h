//===- OpLimit.h - How many operators are too many --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_OPLIMIT_H
#define SHARDOPT_SOLVERS_SCHEDULE_OPLIMIT_H

#include "shardopt/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace shardopt::schedule {

/// Why a graph of so many operators, repeated so often, is too large.
std::optional<Error> checkNumOps(size_t ops, int64_t copies);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_OPLIMIT_H
