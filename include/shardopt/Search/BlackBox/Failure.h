//===- Failure.h - How a simulator fails ------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BLACKBOX_FAILURE_H
#define SHARDOPT_SEARCH_BLACKBOX_FAILURE_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace shardopt::blackbox {

/// How a simulator process fails. Each costs one evaluation, but for a refused
/// start, which is tried again.
enum class Failure : uint8_t {
  Crash,        ///< it ended
  Timeout,      ///< it did not answer in time
  Nonsense,     ///< it answered something else than the protocol says
  NotANumber,   ///< a metric is NaN or infinite
  Error,        ///< it said that it could not evaluate the strategy
  RefusedStart, ///< it could not be started again, or did not greet
};
constexpr size_t numFailures = 6;

/// The key in reports: "crash", "timeout", "nonsense", "not_a_number", "error",
/// "refused_start".
const char *spell(Failure failure);

/// How often each happened.
struct FailureCounts {
  std::array<uint64_t, numFailures> counts = {};

  uint64_t &operator[](Failure failure) { return counts[size_t(failure)]; }
  uint64_t operator[](Failure failure) const { return counts[size_t(failure)]; }
  uint64_t total() const;
};

/// "2 crash, 1 timeout"; empty if nothing failed.
std::string describe(const FailureCounts &failures);

} // namespace shardopt::blackbox

#endif // SHARDOPT_SEARCH_BLACKBOX_FAILURE_H
