//===- Scenario.h - A model on a machine under limits -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SCENARIO_H
#define SHARDOPT_PLANNING_SCENARIO_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Model/StrategyJson.h"
#include "shardopt/Planning/Timing.h"
#include "shardopt/Search/BlackBox/ExternalSimulator.h"
#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Stop.h"

#include <functional>
#include <memory>
#include <string>

namespace shardopt {

/// What a scenario has in addition to its model, as users spell it.
/// Limits where none are given.
inline constexpr double defaultTpotMs = 50, defaultTtftMs = 2000;

struct ScenarioOptions {
  TimingOptions timing;
  int64_t maxDevices = 0;   ///< 0: no limit
  double sloTpotMs = 0;     ///< of decode; 0: the default, infinity: none
  double sloTtftMs = 0;     ///< of prefill; 0: the default, infinity: none
  double activationsGb = 0; ///< for values between ops, 1e9 bytes; 0: no limit
  std::string simulator = "roofline";
  std::string partition = "even"; ///< or "balanced"
  /// Throughput is per device of `maxDevices`, with as many workers as
  /// fit, and not per device that a plan takes.
  bool countIdle = false;

  // Of simulators in processes of their own.
  unsigned simulatorWorkers = 1;       ///< processes at most
  double simulatorTimeoutSeconds = 60; ///< of an evaluation
  const StopToken *stop = nullptr;     ///< ends a wait for one; may be null

  /// Told what has no effect, and what fails later without ending anything,
  /// from any thread, as long as the scenario lives; may be empty.
  std::function<void(const std::string &)> warn;
};

/// A model, a machine and limits: all that the metrics of a strategy depend on,
/// but the strategy. Immutable, and safe to use from several threads.
class Scenario {
public:
  /// `name` is that of the model, and may be empty. What is wrong with the
  /// options is an error that says what would do.
  static ErrorOr<std::shared_ptr<const Scenario>>
  create(std::string name, cost::Model model, const ScenarioOptions &options);

  const ScenarioOptions &options() const { return settings; }
  /// The name of the model; empty if it has none.
  const std::string &modelName() const { return name; }
  const cost::Model &model() const { return costModel->model(); }
  const Machine &machine() const { return cluster; }
  const cost::CostModel &costs() const { return *costModel; }
  /// What judges strategies.
  const search::Simulator &simulator() const {
    return oracle ? *oracle : *rooflineOracle;
  }
  /// The cost model as a simulator, whatever `simulator` is.
  const search::Simulator &roofline() const { return *rooflineOracle; }
  /// As the option spells it; not "auto", but which of the two.
  const std::string &simulatorName() const { return settings.simulator; }
  /// The simulator if it runs in processes of its own, else null.
  const blackbox::ExternalSimulator *external() const { return externalOracle; }
  /// The systematic imbalance of the load of experts; none: it is even.
  std::optional<double> expertSkew() const { return skew; }

  const cost::Workload &workload() const { return model().workload; }
  bool isPrefill() const { return workload().phase == cost::Phase::Prefill; }
  /// SLO on TPOT or TTFT, milliseconds; infinity: none.
  double sloMs() const { return slo; }
  /// Usable memory of a device, 1e9 bytes.
  double memoryCapacityGb() const { return cluster.memoryCapacity / 1e9; }
  /// Most devices a strategy may take; 0: no limit.
  int64_t maxDevices() const { return costModel->limits().maxDevices; }

  /// Names of the ops, in the order of Strategy::dims.
  const std::vector<std::string> &opNames() const { return names; }
  LatencyKey latencyKey() const {
    return isPrefill() ? LatencyKey::Ttft : LatencyKey::Tpot;
  }
  const search::SpaceFacts &spaceFacts() const { return facts; }
  bool hasExperts() const { return facts.experts > 0; }
  search::Objective objective(search::Goal goal) const;

  /// Latency in milliseconds that `strategy`, which is possible, has at the
  /// peaks of the data sheet (LowerBound.h); the machine has constants.
  double lowerBoundMs(const Strategy &strategy) const;

  /// The same with other limits.
  cost::CostModel costsUnder(const cost::Limits &limits) const;

private:
  Scenario() = default;

  ScenarioOptions settings;
  std::string name;
  std::vector<std::string> names;
  search::SpaceFacts facts;
  Machine cluster;
  double slo = 0;
  std::shared_ptr<const cost::TimeModel> time;
  std::optional<double> skew;
  std::unique_ptr<const cost::CostModel> costModel;
  std::unique_ptr<const search::Simulator> rooflineOracle;
  std::unique_ptr<const search::Simulator> oracle; ///< null: the roofline
  const blackbox::ExternalSimulator *externalOracle = nullptr; ///< `oracle`
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SCENARIO_H
