//===- StepTimes.h - What steps of an engine take ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_STEPTIMES_H
#define SHARDOPT_COST_SERVING_STEPTIMES_H

#include "shardopt/Cost/Serving/LayerTimes.h"

#include <memory>
#include <vector>

namespace shardopt::cost {

/// Time and memory of steps under one strategy, as functions of what they
/// process: the cost model of the ops (docs/CostModel.md) at a mix of decode
/// and prefill, which are the two special cases. Of one thread, as
/// `LayerTimes`.
class StepTimes {
public:
  /// `costs` outlives this; `strategy` fits it, and its batch counts for
  /// nothing. `skew` and `reach` are as in makeRouting; of the deviations that
  /// the fullest group of experts would have above the mean it has `spread`.
  StepTimes(const CostModel &costs, const Strategy &strategy,
            std::optional<double> skew, double reach, double spread = 0,
            const DraftHead &drafter = {});
  /// With layers that other strategies have, too: `degrees` differ from theirs
  /// in the stages alone.
  StepTimes(std::shared_ptr<const LayerTimes> layers, const Degrees &degrees);

  /// Whether the dims are possible.
  bool isLegal() const { return layers && layers->isLegal(); }

  /// Of all stages, one after the other, for the mix of a micro-batch.
  StepTerms terms(const StepMix &mix) const;
  /// Until each of the sequences of `mix` has its next token: stages work on
  /// as many micro-batches as there are stages.
  double seconds(const StepMix &mix) const;

  /// Of each stage; `context` tokens are cached of a sequence.
  std::vector<StageMemory> memory(double context) const;
  /// Bytes of the caches of one sequence on the devices of all stages.
  double cacheBytes(double context) const;

  const Degrees &degrees() const { return at; }
  const CostModel &costs() const { return model; }

private:
  /// Calls `visit(terms, repeats)` for stages in order.
  template <typename Visit>
  void visitStages(const StepMix &mix, Visit visit) const;

  const CostModel &model;
  std::shared_ptr<const LayerTimes> layers;
  Degrees at;
  std::vector<Stage> stages;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_STEPTIMES_H
