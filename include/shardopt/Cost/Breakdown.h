//===- Breakdown.h - Where time and memory of a strategy go -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_BREAKDOWN_H
#define SHARDOPT_COST_BREAKDOWN_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Model/Placement.h"

#include <array>

namespace shardopt::cost {

/// What one op costs the layers of one stage, for one micro-batch. Reshards
/// count for the op that needs them.
struct OpBreakdown {
  std::string op; ///< name; or "layer_exit", "stage_transfer", "token_return"
  int64_t stage = 0;
  int64_t layers = 1; ///< of this op in this stage; all other fields are sums
  Layout layout = Layout::R; ///< of its (first) result
  double computeUs = 0;      ///< kernels that arithmetic bounds
  double memoryUs = 0;       ///< kernels that memory bounds
  /// Names of its collectives in order, without repeats, joined by '+'; empty
  /// if it has none that take time.
  std::string collective;
  double collectiveUs = 0;
  double collectiveBytes = 0; ///< sum of Collective::bytes

  /// 80 % of measured kernels are between these, were all of them to err alike.
  double lowUs = 0, highUs = 0;
  /// Of all times above, by what stands behind them.
  std::array<double, numTimeOrigins> usByOrigin = {};

  double weightBytes = 0; ///< on a device of the stage
  double cacheBytes = 0;

  double us() const { return computeUs + memoryUs + collectiveUs; }
};

/// Memory of a device, units of 1e9 bytes. Activations live in the reserve
/// that the machine's capacity leaves out.
struct MemoryParts {
  double weightsGb = 0;
  double kvCacheGb = 0;
};

struct Breakdown {
  Evaluation evaluation;
  std::vector<OpBreakdown> ops; ///< by stage, then in program order
  std::vector<double> stageMs;  ///< for one micro-batch
  MemoryParts memory;           ///< of the fullest stage
  int64_t fullestStage = 0;

  /// By what factor latency is less and more at the ends of its band.
  double low = 1, high = 1;
  /// Shares of all time.
  std::array<double, numTimeOrigins> byOrigin = {};
};

/// Costs a strategy op by op and layer by layer, without tables. Sums of its
/// parts are the metrics of `evaluate`. A structurally invalid strategy has an
/// evaluation and nothing else.
Breakdown breakdown(const CostModel &costs, const Strategy &strategy);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_BREAKDOWN_H
