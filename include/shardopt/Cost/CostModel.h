//===- CostModel.h - A model on a machine, ready to be costed ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_COSTMODEL_H
#define SHARDOPT_COST_COSTMODEL_H

#include "shardopt/Cost/LayerIndex.h"
#include "shardopt/Cost/Model.h"
#include "shardopt/Cost/TimeModel.h"

namespace shardopt::cost {

/// What makes a strategy invalid beside its structure.
struct Limits {
  int64_t maxDevices = 0;    ///< budget; 0: none
  double memoryBytes = 0;    ///< usable memory of a device
  double latencySeconds = 0; ///< SLO on TPOT (decode) or TTFT (prefill)
};

/// A model, a workload, a machine's times and the limits: everything but the
/// strategy. Immutable once made, and safe to use from several threads.
class CostModel {
public:
  /// `skew` is the systematic imbalance of the load of experts; none means an
  /// even load (the option imbalance=none).
  CostModel(Model model, std::shared_ptr<const TimeModel> time,
            std::optional<double> skew, const Limits &limits);

  const Model &model() const { return program; }
  const TimeModel &time() const { return *clock; }
  const Limits &limits() const { return bounds; }
  const LayerIndex &layers() const { return index; }

  /// Why no dims can make `degrees` valid (a phrase with the values found), or
  /// none: more devices than the budget, more stages than layers, more expert
  /// groups than experts.
  std::optional<std::string> structuralError(const Degrees &degrees) const;

  /// Whether there is no such reason; the same question, cheaper.
  bool fits(const Degrees &degrees) const;

  /// What an op of the layers of `kind` sees.
  Context context(const Degrees &degrees, const LayerKind &kind) const;
  /// What the embedding and the head see.
  Context context(const Degrees &degrees) const;

private:
  Model program;
  std::shared_ptr<const TimeModel> clock;
  std::optional<double> skew;
  Limits bounds;
  LayerIndex index;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_COSTMODEL_H
