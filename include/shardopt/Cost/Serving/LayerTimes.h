//===- LayerTimes.h - What layers take in a step ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_LAYERTIMES_H
#define SHARDOPT_COST_SERVING_LAYERTIMES_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/LayerExit.h"
#include "shardopt/Model/ExpertPlacement.h"

#include <array>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shardopt::cost {

/// What a step does in each attention group: it decodes `sequences` of
/// `context` tokens, and each verifies `drafts` tokens and its new one,
/// and computes `tokens` of prompts of `prompt` tokens, with the
/// share `cached` in a cache. Either part may be 0.
struct StepMix {
  double sequences = 0, context = 1, drafts = 0;
  double tokens = 0, prompt = 1, cached = 0;

  double decoded() const { return sequences * (1 + drafts); }
  double rows() const { return decoded() + tokens; }
  std::array<double, 6> fields() const {
    return {sequences, context, drafts, tokens, prompt, cached};
  }
};

/// What takes time in a step, by its key in reports and its name in tables: the
/// terms, and last what the engine adds.
struct StepPart {
  const char *key, *label;
};
inline constexpr StepPart stepParts[] = {
    {"gemms", "GEMMs"},
    {"attention", "attention"},
    {"experts", "experts"},
    {"collectives", "collectives"},
    {"elementwise", "elementwise"},
    {"cpu_launch_overhead", "CPU launch overhead"}};

/// What makes the tokens that steps verify, one pass a token, and each in turn:
/// layers that are like the last of the model, with a projection of embedding
/// and hidden state in front (MTP), or a dense head (EAGLE). One of them, or
/// none.
struct DraftHead {
  double layers = 0;
  double parameters = 0;

  bool isNone() const { return layers <= 0 && parameters <= 0; }
};

/// Seconds of a step by what takes them.
struct StepTerms {
  double gemm = 0, attention = 0, elementwise = 0, experts = 0, collectives = 0;

  double sum() const {
    return gemm + attention + elementwise + experts + collectives;
  }
  void add(const StepTerms &other, double times);
  /// All of them, in the order of `stepParts`.
  std::array<double, std::size(stepParts) - 1> all() const {
    return {gemm, attention, experts, collectives, elementwise};
  }
};

/// Bytes of a device of one stage, or of one layer.
struct StageMemory {
  double weights = 0;
  double cache = 0; ///< of one sequence
};

/// Time and memory of the layers of each kind, and of what is around them,
/// under the dims of a strategy. Its stages count for nothing: strategies that
/// differ in them alone share one of these. Of one thread, as it keeps what was
/// asked for.
class LayerTimes {
public:
  /// `costs` outlives this; `strategy` fits it, and its batch counts for
  /// nothing. `placements` say what the fullest rank has in the place of
  /// `skew`; null: the load is even but for it. `domain` devices are a domain;
  /// 0: all are. The others are as in StepTimes.
  LayerTimes(const CostModel &costs, Strategy strategy,
             std::optional<double> skew, double reach, double spread,
             const DraftHead &drafter = {},
             std::shared_ptr<ExpertPlacements> placements = nullptr,
             int64_t domain = 0);

  /// Whether the dims are possible.
  bool isLegal() const { return legal; }

  /// Seconds that are added to a term, in the order of the ops.
  using Charges = std::vector<std::pair<double StepTerms::*, double>>;
  /// Of a layer: seconds of its exchange to the experts and back, and between.
  struct Exchange {
    double dispatch = 0, experts = 0, combine = 0;
  };
  /// Of a micro-batch.
  struct Step {
    std::vector<StepTerms> kinds;       ///< as LayerIndex::kinds
    std::vector<Exchange> exchanges;    ///< of each kind, parts of its terms
    std::vector<StepTerms> transitions; ///< as LayerIndex::transitions
    Charges embed, head;                ///< of the first stage and the last
    StepTerms drafts; ///< of the last stage: tokens for the next step
  };
  /// At `mix`; valid until the next call.
  const Step &at(const StepMix &mix) const;

  struct Bytes {
    std::vector<StageMemory> kinds; ///< of a layer, as LayerIndex::kinds
    double embed = 0, head = 0;     ///< of their weights
    StageMemory drafts;             ///< of what makes them
    bool isShared = false;          ///< one table is both
  };
  /// `context` tokens are cached of a sequence. Valid until the next call.
  const Bytes &memory(double context) const;

  static void add(const Charges &charges, StepTerms &to);

  /// How the residual is placed where a layer of `body` begins.
  Layout entering(unsigned body) const { return anchors[body]; }

  const CostModel &costs() const { return model; }

private:
  struct Contexts;
  struct Visitor;
  struct MixHash {
    size_t operator()(const std::array<double, 6> &fields) const;
  };

  Contexts contexts(const StepMix &mix, const LayerKind *kind) const;
  /// Of what a step of `mix` exchanges with experts, the share that is sent.
  double sentShare(const StepMix &mix, const Body &body) const;
  template <typename Sink> void add(const OpCost &cost, Sink &to) const;
  template <typename Sink> void add(const Reshard &steps, Sink &to) const;
  template <typename Sink>
  void leave(const LayerExit &end, Layout to, const Context &context,
             Sink &all) const;
  /// Without kinds where the dims are not possible.
  Step make(const StepMix &mix) const;
  StepTerms draftsBehind(const Step &step, const StepMix &mix) const;
  /// A pass of the head over `rows`, without layers that the model has.
  void addHead(double rows, StepTerms &to) const;
  Bytes sum(double context) const;

  const CostModel &model;
  Strategy strategy;
  std::optional<double> skew;
  double reach, deviations;
  DraftHead drafter;
  std::shared_ptr<ExpertPlacements> placements;
  int64_t domain;
  std::vector<Layout> anchors; ///< by body
  bool legal = false;
  mutable std::unordered_map<std::array<double, 6>, Step, MixHash> known;
  mutable std::vector<std::pair<double, Bytes>> knownBytes;
};

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_LAYERTIMES_H
