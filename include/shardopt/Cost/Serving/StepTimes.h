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

/// When a step works on two micro-batches
/// (docs/ServingRuns.md#two-micro-batches).
enum class Overlap : uint8_t {
  Never,
  Faster, ///< where that is faster: the engine has a threshold
  Always, ///< wherever there are two
};
/// Shares of a device that exchanges take from the compute of the other
/// micro-batch: of prompts alone, and of steps that decode.
inline constexpr double promptExchangeShare = 20.0 / 132,
                        decodeExchangeShare = 0.06 / 0.17;

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
  /// in the stages alone. Where micro-batches overlap there is one stage.
  StepTimes(std::shared_ptr<const LayerTimes> layers, const Degrees &degrees,
            Overlap overlap = Overlap::Never);

  /// Whether the dims are possible.
  bool isLegal() const { return layers && layers->isLegal(); }

  /// Of all stages, one after the other, for the mix of a micro-batch.
  StepTerms terms(const StepMix &mix) const;
  /// Whether a step of `mix` works on two micro-batches.
  bool overlaps(const StepMix &mix) const;
  /// Until each of the sequences of `mix` has its next token: stages work on
  /// as many micro-batches as there are stages.
  double seconds(const StepMix &mix) const;

  /// Of each stage; `context` tokens are cached of a sequence.
  std::vector<StageMemory> memory(double context) const;
  /// Bytes of the caches of one sequence on the devices of all stages.
  double cacheBytes(double context) const;

  const Degrees &degrees() const { return at; }
  Overlap whenOverlaps() const { return overlap; }
  const CostModel &costs() const { return model; }

private:
  /// Calls `visit(terms, repeats)` for stages in order.
  template <typename Visit>
  void visitStages(const StepMix &mix, Visit visit) const;
  StepTerms onceThrough(const StepMix &mix) const;
  /// On two halves of `mix`: of one stage.
  StepTerms inHalves(const StepMix &mix) const;
  bool takesHalves(const StepMix &mix, double once, double halves) const;

  const CostModel &model;
  std::shared_ptr<const LayerTimes> layers;
  Degrees at;
  std::vector<Stage> stages;
  Overlap overlap = Overlap::Never;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_STEPTIMES_H
