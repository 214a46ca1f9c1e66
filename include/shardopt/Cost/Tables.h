//===- Tables.h - All that strategies of given degrees can cost -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_H
#define SHARDOPT_COST_TABLES_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/Trellis.h"

namespace shardopt::cost {

/// One layer of a body as its dims make it.
struct LayerChoice {
  Layout anchor = Layout::R; ///< of the residual that enters it
  unsigned exit = 0;         ///< state after its last op
  double seconds = 0;        ///< of the body's first kind, without its exit
  double bytes = 0;          ///< of the body's first kind
  /// What other kinds cost more, by kind; null: nothing.
  const Variation *variation = nullptr;
};

/// Times and bytes of a pipeline.
struct Pipeline {
  double sumSeconds = 0;     ///< of all stages, one micro-batch
  double slowestSeconds = 0; ///< of the slowest stage, one micro-batch
  double maxBytes = 0;       ///< on a device of the fullest stage
};

/// The costs of every op under every dim and layout, for given degrees. Made
/// once, then asked for millions of choices of dims. Refers to `costs`, which
/// must outlive it.
class Tables {
public:
  Tables(const CostModel &costs, const Degrees &degrees);

  const CostModel &costs() const { return *model; }
  const Degrees &degrees() const { return tuple; }

  /// Whether the degrees alone are invalid; everything below is empty then.
  bool isStructurallyInvalid() const { return bodyTrellises.empty(); }

  /// By body of the model.
  const std::vector<Trellis> &trellises() const { return bodyTrellises; }
  const std::vector<Stage> &stages() const { return stageList; }

  /// Seconds and bytes of the stages; `layers` has one choice a body.
  Pipeline assemble(Dim embed, Dim head, Span<const LayerChoice> layers) const;

  /// TPOT or TTFT in seconds.
  double latencySeconds(const Pipeline &pipeline) const;
  /// Metrics and validity, for dims that are structurally valid.
  Evaluation judge(const Pipeline &pipeline) const;

private:
  const CostModel *model;
  Degrees tuple;
  Context context;
  std::vector<Trellis> bodyTrellises;
  std::vector<Stage> stageList;
  double embedSeconds[3][numLayouts] = {}; ///< by dim and anchor
  double embedBytes[3] = {};
  double headBytes[3] = {};
  double transferSeconds[numLayouts] = {}; ///< to the next stage, by anchor
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_H
