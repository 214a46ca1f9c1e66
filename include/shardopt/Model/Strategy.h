//===- Strategy.h - The vocabulary of simulators and searchers --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy, and what a simulator answers when asked about one. Search,
// cost model and agents exchange these plain structs and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_STRATEGY_H
#define SHARDOPT_MODEL_STRATEGY_H

#include "shardopt/Model/Degrees.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shardopt {

/// The sharding dim of an op, by number in the op's list of choices: which dim
/// of its weight (weight ops) or of its activation (others) is sharded on the
/// tensor-parallel group, or none. An op may lack one of these, and have more.
enum class Dim : uint8_t { Zero = 0, One = 1, None = 2 };

/// Of weights that can be sharded on both of their dims: the input over one
/// axis of a tp group, the output over the other (StageGrid.h).
constexpr Dim dimBoth = Dim(3);

/// All dims of all ops are below this.
constexpr unsigned maxDims = 8;

/// One point of the search space: degrees, and a dim for every op in the order
/// of the module.
struct Strategy {
  Degrees degrees;
  std::vector<Dim> dims;

  friend bool operator==(const Strategy &a, const Strategy &b) {
    return a.degrees == b.degrees && a.dims == b.dims;
  }
};

/// Why a strategy is not valid; the first that applies, in this order. `Failed`
/// is a black box that gave no answer: nothing is known of the strategy.
enum class Reason : uint8_t {
  None,
  Structural,
  Memory,
  Activations,
  Slo,
  Failed
};

/// The spelling of `reason` in every report: "", "structural", "memory",
/// "activations", "slo", "failed".
const char *spell(Reason reason);

/// What a simulator says of a strategy. A structurally invalid strategy, and
/// one on which the simulator failed, has zero metrics; one that exceeds a
/// limit has true ones.
struct Evaluation {
  bool valid = false;
  Reason reason = Reason::Structural;
  double throughput = 0; ///< tokens/s per device (prompt tokens in prefill)
  double latencyMs = 0;  ///< TPOT (decode) or TTFT (prefill), milliseconds
  double memoryGb = 0;   ///< the fullest device, in units of 1e9 bytes
  /// The most that values between ops take at a moment, the same; 0 where they
  /// are not limited.
  double activationsGb = 0;

  bool hasMetrics() const {
    return reason != Reason::Structural && reason != Reason::Failed;
  }
};

} // namespace shardopt

#endif // SHARDOPT_MODEL_STRATEGY_H
