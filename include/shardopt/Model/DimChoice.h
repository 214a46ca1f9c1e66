//===- DimChoice.h - The sharding dims that an op has -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_DIMCHOICE_H
#define SHARDOPT_MODEL_DIMCHOICE_H

#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/Span.h"

#include <optional>
#include <string>
#include <string_view>

namespace shardopt::cost {

/// A sharding dim that an op has. Lists of choices are ascending, and none is
/// empty.
struct DimChoice {
  Dim dim = Dim::None;
  const char *name = ""; ///< what is cut: "heads", "columns", …; or "none"
};

/// The dims below `count`, which is at most `maxDims`.
Span<const Dim> dimsBelow(unsigned count);

/// One more than the largest dim of `choices`.
unsigned numDims(Span<const DimChoice> choices);

/// The choice that `spelling` names: by its name, or by its number.
std::optional<Dim> parseDim(std::string_view spelling,
                            Span<const DimChoice> choices);

/// "0 (heads), 1 (head_dim) or none".
std::string listChoices(Span<const DimChoice> choices);

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_DIMCHOICE_H
