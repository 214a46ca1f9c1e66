//===- CostModel.h - A model on a machine, ready to be costed ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_COSTMODEL_H
#define SHARDOPT_COST_COSTMODEL_H

#include "shardopt/Cost/Pipeline.h"
#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Model/BodyIndex.h"
#include "shardopt/Model/LayerIndex.h"
#include "shardopt/Model/Model.h"

namespace shardopt::cost {

/// How layers are divided over the stages of degrees that do not say it.
enum class StageDivision : uint8_t {
  Even,
  /// Tables divide them so that the throughput is the highest
  /// (`balancedCut`), for each choice of dims on its own.
  Balanced,
};

/// A model, a workload, a machine's times and the limits: everything but the
/// strategy. Immutable once made, and safe to use from several threads.
class CostModel {
public:
  /// `skew` is the systematic imbalance of the load of experts; none means an
  /// even load.
  CostModel(Model model, std::shared_ptr<const TimeModel> time,
            std::optional<double> skew, const Limits &limits,
            StageDivision division = StageDivision::Even);
  /// The same of another model.
  CostModel withModel(Model model) const {
    return {std::move(model), clock, skew, bounds, stageDivision};
  }

  const Model &model() const { return program; }
  const TimeModel &time() const { return *clock; }
  const Limits &limits() const { return bounds; }
  const LayerIndex &layers() const { return layerIndex; }
  StageDivision division() const { return stageDivision; }
  /// Whether a balanced cut is chosen for `degrees`, which fit.
  bool balancesStages(const Degrees &degrees) const {
    return stageDivision == StageDivision::Balanced && degrees.pp > 1 &&
           degrees.stages.isEmpty();
  }
  const BodyIndex &body(unsigned i) const { return bodyIndices[i]; }

  /// `Model::structuralError` under the limit on devices.
  std::optional<std::string> structuralError(const Degrees &degrees) const {
    return program.structuralError(degrees, bounds.maxDevices);
  }
  /// Whether there is no such reason; the same question, cheaper.
  bool fits(const Degrees &degrees) const;

  /// What the embedding and the head see, with a range for all of its batches.
  Context context(const Degrees &degrees,
                  const std::optional<BatchRange> &range = {}) const;
  /// What an op of the layers of `kind` sees.
  Context context(const Degrees &degrees, const LayerKind &kind,
                  const std::optional<BatchRange> &range = {}) const;
  /// The same of the first kind of layers that have `body`; other kinds differ
  /// in windows alone.
  Context contextOfBody(const Degrees &degrees, unsigned body) const;

  /// Whether a trellis can be made of `body`: whether the values that are
  /// needed at a time, and the operands of an op, are few enough.
  bool hasTrellis(unsigned body) const;
  /// Whether one can be made of every body, and these are few enough.
  bool hasTrellises() const;

  /// The way of a token id back to the first stage: in decode, if there are
  /// several stages.
  std::optional<Collective> tokenReturn(const Degrees &degrees) const;

private:
  Model program;
  std::shared_ptr<const TimeModel> clock;
  std::optional<double> skew;
  Limits bounds;
  StageDivision stageDivision;
  LayerIndex layerIndex;
  std::vector<BodyIndex> bodyIndices;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_COSTMODEL_H
