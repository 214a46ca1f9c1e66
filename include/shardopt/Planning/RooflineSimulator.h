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

/// How dims are optimised where the model has no trellises, as
/// `cost::CostModel::hasTrellises` says, but has some once layers that are
/// alike share their dims.
enum class DimSearch : uint8_t {
  /// The optimum of shared dims, then strategy selection for better ones.
  Best,
  /// The optimum of shared dims alone, which is quick.
  Shared,
  /// Strategy selection, where there are trellises too.
  Selection,
};

/// `simulator=roofline`: the cost model, which can be opened (see
/// `search::Decomposition`). Dims are optimised over trellises where the model
/// has them, else by strategy selection (`selection::optimalChoice`). Refers to
/// `costs`, which must outlive it.
class RooflineSimulator final : public search::Simulator,
                                public search::Decomposition {
public:
  explicit RooflineSimulator(const cost::CostModel &costs,
                             DimSearch dimSearch = DimSearch::Best);
  ~RooflineSimulator() override;

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

  /// The least that values between ops take at the fullest moment, in bytes, of
  /// any dims in `domains`, for degrees that fit. None where nothing limits
  /// these values, or no trellises tell it.
  std::optional<double>
  leastActivations(const Degrees &degrees,
                   const search::DimDomains &domains) const;

  /// `domains` as the cost library spells them.
  static std::vector<cost::DimSet> setsOf(const search::DimDomains &domains);

private:
  /// What a thread shares between degrees while it has it.
  class Lease;
  /// The model with layers that share dims.
  struct Alike;

  std::optional<search::Plan> solveAlike(const Degrees &degrees,
                                         Span<const cost::DimSet> domains,
                                         search::Goal goal,
                                         std::optional<double> incumbent) const;
  std::optional<search::Plan> select(const Degrees &degrees,
                                     Span<const cost::DimSet> domains,
                                     search::Goal goal,
                                     std::optional<double> incumbent) const;

  const cost::CostModel &costs;
  const bool usesTrellises, selects;
  std::unique_ptr<const Alike> alike; ///< null where trellises are used
  TableCache tables;
  mutable std::mutex mutex;                      ///< guards what follows
  mutable std::map<search::Goal, double> missed; ///< bounds that were left
  mutable std::vector<std::unique_ptr<cost::SharedCosts>> unused;
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_ROOFLINESIMULATOR_H
