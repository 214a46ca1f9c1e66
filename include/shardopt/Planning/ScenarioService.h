//===- ScenarioService.h - Our simulators for others ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SCENARIOSERVICE_H
#define SHARDOPT_PLANNING_SCENARIOSERVICE_H

#include "shardopt/Planning/Scenario.h"
#include "shardopt/Search/BlackBox/Server.h"
#include "shardopt/Search/DegreeMask.h"

#include <optional>

namespace shardopt {

/// Offers the simulator of a scenario, which must outlive it, to the clients of
/// the protocol of external simulators (docs/BlackBox.md).
///
/// The greeting carries the search space as `space`: a list for each degree and
/// for the batch, `max_devices` (null: no limit), and the dims of every op that
/// are not illegal everywhere. Answers carry `"masked": true` where the degrees
/// alone rule out every strategy.
class ScenarioService final : public blackbox::Service {
public:
  explicit ScenarioService(const Scenario &scenario);

  /// Refuses a problem that says something else than the scenario.
  std::optional<Error> greet(const blackbox::Hello &hello) override;
  std::string name() const override;
  void describe(json::Writer &writer) const override;
  std::vector<Degree> degrees() const override;
  bool readsStages() const override;
  const std::vector<std::string> &opNames() const override;
  LatencyKey latencyKey() const override;
  ErrorOr<blackbox::Answer> evaluate(const Strategy &strategy) override;

private:
  const Scenario &scenario;
  /// Of all dims; none for a black box.
  std::optional<search::DegreeMask> mask;
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SCENARIOSERVICE_H
