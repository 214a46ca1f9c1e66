//===- StateRows.h - Mixers with a state, row by row ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of a prompt follow each other, so that what one leaves is what the
// next one finds.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_STATEROWS_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_STATEROWS_H

#include "AttentionRows.h"

namespace shardopt::llm {

/// A row that is not padding, of a mixer whose caches are the last rows of its
/// convolution's channels and a state.
struct StateRow {
  Value row;
  Value kept, state; ///< what its sequence finds, zeros at position 0
};

/// What such a row leaves, and its own part of the mixer's result.
struct NewState {
  Value kept, state, result;
};

/// New caches and all rows' results; those of padding are zeros as
/// `results` has them.
struct MixedRows {
  Value convState, state, results;
};
MixedRows
mixRows(LoopBuilder &b, Value positions, int64_t sequence, Value convState,
        Value state, Value results,
        llvm::function_ref<NewState(LoopBuilder &, const StateRow &)> mix);

/// The channels of a row [channels] behind those that are kept, as `taps`
/// [rows, channels] weigh them, plus the bias, which may be null, and silu of
/// that; and what is kept then.
struct Convolved {
  Value channels, kept;
};
Convolved convolveRow(LoopBuilder &b, Value kept, Value row, Value taps,
                      Value bias);

/// x * sigmoid(x) of every element.
Value siluOf(LoopBuilder &b, Value x);

/// x * y of all elements.
Value timesEach(LoopBuilder &b, Value x, Value y);

/// log(1 + exp(x)) of an element, which does not overflow.
Value softplus(LoopBuilder &b, Value x);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_STATEROWS_H
