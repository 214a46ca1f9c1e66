//===- StepTimes.h - What steps of an engine take ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_STEPTIMES_H
#define SHARDOPT_COST_STEPTIMES_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/LayerExit.h"

#include <array>
#include <utility>
#include <vector>

namespace shardopt::cost {

/// What a step does in each attention group: it decodes `sequences` of
/// `context` tokens, each of which verifies `drafts` tokens beside its new one,
/// and computes `tokens` of prompts of `prompt` tokens, of which a cache has
/// the share `cached`. Either part may be 0.
struct StepMix {
  double sequences = 0, context = 1, drafts = 0;
  double tokens = 0, prompt = 1, cached = 0;

  double decoded() const { return sequences * (1 + drafts); }
};

/// Seconds of a step by what takes them.
struct StepTerms {
  double gemm = 0, attention = 0, elementwise = 0, experts = 0, collectives = 0;

  double sum() const {
    return gemm + attention + elementwise + experts + collectives;
  }
  void add(const StepTerms &other, double times);
  /// All of them, by the names that reports have.
  std::array<std::pair<const char *, double>, 5> named() const {
    return {{{"products", gemm},
             {"attention", attention},
             {"experts", experts},
             {"collectives", collectives},
             {"elementwise", elementwise}}};
  }
};

/// Bytes of a device of one stage.
struct StageMemory {
  double weights = 0;
  double cache = 0; ///< of one sequence
};

/// Time and memory of steps under one strategy, as functions of what they
/// process: the cost model of the ops (docs/CostModel.md) at a mix of decode
/// and prefill, which are the two special cases.
class StepTimes {
public:
  /// `costs` outlives this; `strategy` fits it, and its batch counts for
  /// nothing. `skew` and `reach` are as in makeRouting; of the deviations that
  /// the fullest group of experts would have above the mean it has `spread`.
  StepTimes(const CostModel &costs, Strategy strategy,
            std::optional<double> skew, double reach, double spread = 0);

  /// Whether the dims are possible.
  bool isLegal() const { return legal; }

  /// Of all stages, one after the other, for the mix of a micro-batch.
  StepTerms terms(const StepMix &mix) const;
  /// Until each of the sequences of `mix` has its next token: stages work on
  /// as many micro-batches as there are stages.
  double seconds(const StepMix &mix) const;

  /// Of each stage; `context` tokens are cached of a sequence.
  std::vector<StageMemory> memory(double context) const;
  /// Bytes of the caches of one sequence on the devices of all stages.
  double cacheBytes(double context) const;

  const Degrees &degrees() const { return strategy.degrees; }
  const CostModel &costs() const { return model; }

private:
  struct Contexts;
  struct Visitor;
  struct Layer {
    StepTerms terms;
    LayerExit exit;
  };

  Contexts contexts(const StepMix &mix, const LayerKind *kind) const;
  void add(const OpCost &cost, StepTerms &to) const;
  void add(const Reshard &steps, StepTerms &to) const;
  void leave(const LayerExit &end, Layout to, double rows,
             const Context &context, StepTerms &all) const;
  std::vector<StepTerms> stageTerms(const StepMix &mix) const;

  const CostModel &model;
  Strategy strategy;
  std::optional<double> skew;
  double reach, deviations;
  std::vector<Stage> stages;
  bool legal = false;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_STEPTIMES_H
