//===- Latents.h - Latent attention, in pieces ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_LATENTS_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_LATENTS_H

#include "AttentionRows.h"

namespace shardopt::llm {

/// Each head's features of x [rows, heads, in] times its weight [in, out],
/// where element (i, o) of head h's is up[i, h, o], or up[o, h, i] if
/// `transposed`.
Value headProducts(LoopBuilder &b, Value x, Value up, bool transposed);

/// x [rows, heads, size], turned where there is a rope.
template <typename Op> Value turn(LoopBuilder &b, Value x, Op op) {
  if (!op.getRope())
    return x;
  return rotate(b, x, makeRotation(b, op.getPositions(), *op.getRope()));
}

/// The queries `input` [rows, heads, nope + rotary] in the space of latents.
template <typename Op>
Value latentQueries(LoopBuilder &b, Op op, Value input, Value up, int64_t nope,
                    int64_t rotary) {
  return beside(b, {headProducts(b, columns(b, input, 0, nope),
                                 columns(b, up, 0, nope), /*transposed=*/true),
                    turn(b, columns(b, input, nope, rotary), op)});
}

/// The keys of an indexer, normed and turned, [rows, dim].
Value indexKeys(LoopBuilder &b, AttentionOp op);

/// What the indexer chooses of a written `cache`: 0 where a row reads a
/// position, -inf elsewhere, [rows, positions].
Value chosenPositions(LoopBuilder &b, AttentionOp op, Value cache,
                      const RowPlaces &places);

/// The scores [count] of what a row sees, -inf where it is not `chosen`.
Value onlyChosen(LoopBuilder &b, Value scores, Value chosen,
                 const Visit &visit);

/// What a row adds to the cache: its normed latent, its turned rotary features,
/// and the key of an indexer where there is one.
Value latentRows(LoopBuilder &b, AttentionOp op);
Value latentRows(LoopBuilder &b, PartialAttentionOp op);
Value latentRows(LoopBuilder &b, WriteCacheOp op);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_LATENTS_H
