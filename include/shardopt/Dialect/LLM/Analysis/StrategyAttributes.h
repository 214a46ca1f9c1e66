//===- StrategyAttributes.h - Strategies as attributes ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy on a module: `llm.strategy` for the degrees and the batch, and
// `sharding` on every shardable op.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_ANALYSIS_STRATEGYATTRIBUTES_H
#define SHARDOPT_DIALECT_LLM_ANALYSIS_STRATEGYATTRIBUTES_H

#include "shardopt/Dialect/LLM/Analysis/ModuleModel.h"
#include "shardopt/Model/Strategy.h"

#include <optional>
#include <vector>

namespace shardopt {

/// What a module says of its strategy: all of it, or the part that a search
/// has to honour.
struct Annotation {
  PartialDegrees degrees;
  std::vector<std::optional<Dim>> dims; ///< by variable

  Annotation() = default;
  explicit Annotation(const Strategy &strategy);

  /// The strategy, if nothing is missing.
  std::optional<Strategy> strategy() const;
  /// What is missing: "'batch' of llm.strategy" or "'sharding' of embed".
  /// Empty if nothing is.
  std::string firstMissing(const ModuleModel &model) const;
};

/// Reads the annotation of `module`, whose model is `model`. Ops of one name
/// have one sharding: the verifier checks that.
Annotation readAnnotation(mlir::ModuleOp module, const ModuleModel &model);

/// Writes `annotation` on `module`, whose model is `model`; what it lacks is
/// removed, and so are stages that have as many layers as if none were given,
/// and a service that was planned with another strategy.
void writeAnnotation(mlir::ModuleOp module, const ModuleModel &model,
                     const Annotation &annotation);

/// Removes `llm.strategy`, `llm.service` and every `sharding` in `module`;
/// returns how many attributes that were.
unsigned dropAnnotation(mlir::ModuleOp module);

/// "0", "1" or "none".
const char *spell(Dim dim);

} // namespace shardopt

#endif // SHARDOPT_DIALECT_LLM_ANALYSIS_STRATEGYATTRIBUTES_H
