//===- Engines.h - What serving engines can run -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ENGINES_H
#define SHARDOPT_PLANNING_ENGINES_H

#include "shardopt/Model/Model.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Engine.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shardopt {

/// The engine whose rules a plan keeps; none: a plan that no engine has to run.
using Runner = std::optional<Engine>;
/// In place of an engine: none, and of a service the one that serves best.
inline constexpr const char *noEngine = "none", *anyEngine = "any";
/// "vllm", "sglang", "trtllm" or "none".
const char *spell(Runner runner);
/// What `text`, which was given as 'engine', is; an error says what there is.
ErrorOr<Runner> parseRunner(const std::string &text);

/// What the engines' rules ask of a model.
struct EngineFacts {
  explicit EngineFacts(const cost::Model &model);

  std::vector<std::string> ops;
  /// Of each op, the kind of stack that it is in: whether that has experts.
  std::vector<bool> isInDenseStack;
  bool isPrefill = false;
  int64_t heads = 0;
  int64_t kvHeads = 0; ///< 0: latent attention, or none
  int64_t experts = 0;
  bool hasStates = false; ///< some layers have states in place of caches
  /// Columns of feed-forward blocks whose weights are fp8 in blocks; else 0.
  int64_t denseFp8 = 0, sharedFp8 = 0, expertFp8 = 0;
  cost::WeightType expertWeights = cost::WeightType::Bf16; ///< of routed ones
};

/// Why `runner` sends no caches from prefill workers with the first degrees to
/// decode workers with the second; none: it does.
std::optional<std::string> whyNoTransfer(Runner runner, const Degrees &prefill,
                                         const Degrees &decode,
                                         const EngineFacts &facts);

/// The first reason why `runner` cannot run `degrees`; none: it can.
std::optional<std::string> whyNotRun(Runner runner, const Degrees &degrees,
                                     const EngineFacts &facts);
/// Why a step of `runner` does not work on two micro-batches whose exchange
/// hides behind compute; none: it can.
std::optional<std::string> whyNotOverlap(Runner runner, const Degrees &degrees,
                                         const EngineFacts &facts);
/// The dim that `runner` gives to op number `op`; without an engine Megatron's.
Dim engineDim(Runner runner, const Degrees &degrees, size_t op,
              const EngineFacts &facts);
/// Those of all ops.
std::vector<Dim> engineDims(Runner runner, const Degrees &degrees,
                            const EngineFacts &facts);
/// `whyNotRun` of a whole strategy, its dims after its degrees.
std::optional<std::string> whyNotRun(Runner runner, const Strategy &strategy,
                                     const EngineFacts &facts);

/// A simulator to which what an engine cannot run is structurally invalid.
/// Refers to `simulator`, which must outlive it.
class EngineSimulator final : public search::Simulator,
                              public search::Decomposition {
public:
  EngineSimulator(const search::Simulator &simulator, Engine engine,
                  EngineFacts facts)
      : simulator(simulator), engine(engine), facts(std::move(facts)) {}

  /// The part of `space` that may hold what the engine runs; an error names the
  /// first reason why there is none, or a pinned dim that it cannot run.
  ErrorOr<search::StrategySpace>
  narrowed(const search::StrategySpace &space) const;

  Evaluation evaluate(const Strategy &strategy) const override;
  const search::Decomposition *decomposition() const override {
    return simulator.decomposition() ? this : nullptr;
  }
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
  std::optional<double> missedBound(search::Goal goal) const override {
    return simulator.decomposition()->missedBound(goal);
  }

private:
  /// `domains` with the engine's dims alone; none if one lacks its dim, or it
  /// cannot run `degrees`.
  std::optional<search::DimDomains>
  dimsOf(const Degrees &degrees, const search::DimDomains &domains) const;

  const search::Simulator &simulator;
  const Engine engine;
  const EngineFacts facts;
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_ENGINES_H
