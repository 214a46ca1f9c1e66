//===- Rope.h - Rotary position embedding -----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_ROPE_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_ROPE_H

#include "Building.h"
#include "shardopt/Dialect/LLM/IR/LLMDialect.h"

#include <vector>

namespace shardopt::llm {

/// Rotations a token, in radians, of the `dim / 2` rotary pairs.
std::vector<double> ropeFrequencies(RopeAttr rope);

/// What turns the heads of a row: its cosine and sine for every pair.
struct Rotation {
  Value cosines; ///< f32 [rows, pairs]
  Value sines;   ///< f32 [rows, pairs]
  RopeStyle style;
};

/// The rotation of rows at `positions`.
Rotation makeRotation(LoopBuilder &b, Value positions, RopeAttr rope);

/// The same for `pairs` pairs from `first` on, an index; those beyond the
/// rotary ones are padding and come out as zeros.
Rotation makeRotation(LoopBuilder &b, Value positions, RopeAttr rope,
                      Value first, int64_t pairs);

/// Turns the first features of x [rows, heads, size], as many as the rotation
/// has; first halves of the pairs come first in the result.
Value rotate(LoopBuilder &b, Value x, const Rotation &rotation);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_ROPE_H
