//===- OtherMethod.h - Methods to compare the solver with -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_OTHERMETHOD_H
#define SHARDOPT_SOLVERS_SELECTION_OTHERMETHOD_H

#include "shardopt/Solvers/Selection/Incumbent.h"
#include "shardopt/Support/ModuleFiles.h"

#include <functional>
#include <memory>

namespace shardopt::solve {

/// A search in place of multipliers and all that builds on them. It bounds
/// nothing and goes on until it is stopped.
class OtherMethod {
public:
  virtual ~OtherMethod() = default;

  virtual void step(Incumbent &incumbent) = 0;
  /// Table entries visited so far.
  virtual uint64_t work() const = 0;
};

/// Builds one over a network, which outlives it.
struct MethodMaker {
  const char *name = "multipliers"; ///< of its phase
  std::function<std::unique_ptr<OtherMethod>(const Network &network,
                                             uint64_t seed)>
      make = {};

  explicit operator bool() const { return bool(make); }
};

/// What the research module (Support/ResearchFile.h) has of them.
struct ResearchMethods {
  uint32_t version; ///< never moves

  /// Without `polishes`, no single strategies are exchanged afterwards.
  std::unique_ptr<OtherMethod> (*penalties)(const Network &network,
                                            uint64_t seed, bool polishes);

  static constexpr const char *entry = "shardoptResearchMethods";
  static constexpr uint32_t layout =
      layoutVersion(1, {sizeof(Network), sizeof(Incumbent)});
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_OTHERMETHOD_H
