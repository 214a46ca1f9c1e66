//===- AlikeLayers.h - Layers that may share their dims ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_ALIKELAYERS_H
#define SHARDOPT_MODEL_ALIKELAYERS_H

#include "shardopt/Model/Model.h"

#include <optional>
#include <vector>

namespace shardopt::cost {

/// A model in which layers that are alike share the dims of their ops.
struct AlikeLayers {
  Model model;
  /// Of `model`, by variable of the one that it was made of.
  std::vector<unsigned> variables;
};

/// `model` with the first of several bodies that are alike in the place of the
/// others: their ops have the same models, and read and make the same values.
/// None if no two bodies are alike.
std::optional<AlikeLayers> joinAlikeLayers(const Model &model);

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_ALIKELAYERS_H
