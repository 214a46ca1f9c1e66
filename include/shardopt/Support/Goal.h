//===- Goal.h - The metric that is optimised --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_GOAL_H
#define SHARDOPT_SUPPORT_GOAL_H

#include <cstdint>

namespace shardopt {

/// The metric that a search optimises.
enum class Goal : uint8_t {
  Throughput, ///< most tokens/s per device
  Latency,    ///< least milliseconds, ties broken by throughput
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_GOAL_H
