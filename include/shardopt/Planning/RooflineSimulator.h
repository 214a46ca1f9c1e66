//===- RooflineSimulator.h - The cost library as a simulator ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ROOFLINESIMULATOR_H
#define SHARDOPT_PLANNING_ROOFLINESIMULATOR_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Planning/TableCache.h"
#include "shardopt/Search/Dims/OptimalDims.h"
#include "shardopt/Search/Simulator.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace shardopt {

/// `simulator=roofline`: the cost model, which can be opened (see
/// `search::Decomposition`). Dims are optimised over trellises where the model
/// has them (`cost::CostModel::hasTrellises`), else by strategy selection
/// (`selection::optimalChoice`). Refers to `costs`, which must outlive it.
class RooflineSimulator final : public search::Simulator,
                                public search::Decomposition {
public:
  /// `selects` asks for strategy selection where there are trellises, too.
  explicit RooflineSimulator(const cost::CostModel &costs, bool selects = false)
      : costs(costs), usesTrellises(!selects && costs.hasTrellises()),
        tables(costs) {}

  Evaluation evaluate(const Strategy &strategy) const override;
  const search::Decomposition *decomposition() const override { return this; }

  search::DegreeBound bound(const Degrees &degrees,
                            const search::DimDomains &domains,
                            search::Goal goal) const override;
  std::optional<search::DegreeBound>
  boundBatches(const Degrees &least, int64_t most,
               const search::DimDomains &domains, search::Goal goal,
               bool isQuick) const override;
  std::optional<search::Plan>
  solve(const Degrees &degrees, const search::DimDomains &domains,
        search::Goal goal, std::optional<double> incumbent) const override;
  std::optional<double> missedBound(search::Goal goal) const override;

  /// `domains` as the cost library spells them.
  static std::vector<cost::DimSet> setsOf(const search::DimDomains &domains);

private:
  /// What a thread shares between degrees while it has it.
  class Lease;

  const cost::CostModel &costs;
  const bool usesTrellises;
  TableCache tables;
  mutable std::mutex mutex;                      ///< guards what follows
  mutable std::map<search::Goal, double> missed; ///< bounds that were left
  mutable std::vector<std::unique_ptr<cost::SharedCosts>> unused;
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_ROOFLINESIMULATOR_H
