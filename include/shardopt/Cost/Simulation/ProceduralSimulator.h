//===- ProceduralSimulator.h - Simulated decode steps -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SIMULATION_PROCEDURALSIMULATOR_H
#define SHARDOPT_COST_SIMULATION_PROCEDURALSIMULATOR_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/Simulation/ExpertLoads.h"
#include "shardopt/Cost/Simulation/SequenceLengths.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Search/Simulator.h"

#include <optional>
#include <vector>

namespace shardopt::simulation {

/// What a procedural simulator takes for granted.
struct ProceduralSettings {
  /// The runtime executes each strategy by the best of its schedules; else by
  /// the one that it has.
  bool picksSchedule = true;
  /// Exponent of Zipf's law for the load of experts; none: an even load.
  std::optional<double> routingExponent;
  /// Standard deviation of the logarithm of the context of a sequence.
  double contextSpread = 0;

  /// `procedural:runtime`: the best schedule, mild skew, contexts alike.
  static ProceduralSettings runtime();
  /// `procedural:fixed`: one schedule, strong skew, ragged contexts.
  static ProceduralSettings fixed();
};

/// `simulator=procedural:…`, version 1: an event simulation of one decode step
/// on the slowest rank of every stage. Compute and communication overlap,
/// transfers share links, tokens are routed to sampled experts, and memory
/// depends on the schedule; so a strategy costs more, or less, than the sum of
/// its ops, and there is no decomposition. See docs/ProceduralSimulator.md.
///
/// For decode only. Refers to `costs`, which must outlive it.
class ProceduralSimulator final : public search::Simulator {
public:
  ProceduralSimulator(const cost::CostModel &costs, const Machine &machine,
                      const ProceduralSettings &settings);

  Evaluation evaluate(const Strategy &strategy) const override;

private:
  class Step;

  const cost::CostModel &costs;
  const int64_t domainSize;
  const ProceduralSettings settings;
  std::vector<std::optional<ExpertLoads>> loads; ///< by body; none: dense
  std::vector<SequenceLengths> lengths;          ///< by LayerIndex::kinds
};

} // namespace shardopt::simulation

#endif // SHARDOPT_COST_SIMULATION_PROCEDURALSIMULATOR_H
