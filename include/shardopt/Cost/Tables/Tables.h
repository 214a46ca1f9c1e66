//===- Tables.h - All that strategies of given degrees can cost -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_TABLES_H
#define SHARDOPT_COST_TABLES_TABLES_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/Tables/BalancedCut.h"
#include "shardopt/Cost/Tables/Trellis.h"

namespace shardopt::cost {

/// One layer of a body as its dims make it.
struct LayerChoice {
  Layout anchor = Layout::R;           ///< of the residual that enters it
  const Trellis::Exit *exit = nullptr; ///< its last state
  double seconds = 0;   ///< of the body's first kind, until its exit
  double bytes = 0;     ///< of the body's first kind
  double liveBytes = 0; ///< at its fullest moment, if that is limited
};

/// The costs of every op under every dim and layout, for given degrees. Made
/// once, then asked for millions of choices of dims. Refers to `costs`, which
/// must outlive it.
class Tables {
public:
  Tables(const CostModel &costs, const Degrees &degrees)
      : Tables(costs, TableRequest{degrees, std::nullopt, {}, nullptr}) {}
  Tables(const CostModel &costs, const TableRequest &request);

  const CostModel &costs() const { return *model; }
  /// What embedding and head see; the degrees are here.
  const Context &context() const { return outer; }

  /// Whether the degrees alone are invalid; there is nothing more then.
  bool isStructurallyInvalid() const { return trellises.empty(); }

  /// Of `body` of the model.
  const Trellis &trellis(size_t body) const { return trellises[body]; }

  /// Seconds and bytes of the stages; `layers` has one choice a body.
  Pipeline assemble(Dim embed, Dim head, Span<const LayerChoice> layers) const;

  /// The balanced cut for these dims, where one is chosen.
  StageCut balance(Dim embed, Dim head, Span<const LayerChoice> layers) const;

private:
  Pipeline sumStages(const std::vector<Stage> &stages, Dim embed, Dim head,
                     Span<const LayerChoice> layers) const;

  const CostModel *model;
  Context outer;
  std::vector<Trellis> trellises;
  std::vector<Stage> stages;
  double embedSeconds[maxDims][numLayouts] = {}; ///< by dim and anchor
  double embedBytes[maxDims] = {};
  double headBytes[maxDims] = {};
  double transferSeconds[numLayouts] = {}; ///< to the next stage, by anchor
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_TABLES_H
