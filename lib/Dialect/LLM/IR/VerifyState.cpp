//===- VerifyState.cpp - Verifiers of mixers with a state -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// A cache without positions: its sizes after the sequences are `wanted`.
static LogicalResult expectState(Operation *op, StringRef what, Value state,
                                 ArrayRef<int64_t> wanted, Value back) {
  auto type = cast<ShapedType>(state.getType());
  if (type.getShape().drop_front() != wanted) {
    InFlightDiagnostic error = op->emitOpError();
    error << "'" << what << "' must be [sequences";
    for (int64_t size : wanted)
      error << ", " << size;
    return error << "], found " << type;
  }
  return expectType(op, ("new_" + what).str(), state.getType(), "the cache",
                    back.getType());
}

int64_t GatedDeltaNetOp::getGroupChannels() {
  int64_t ofEach = getValueHeads() / std::max<int64_t>(getHeads(), 1);
  return plus(times(2, getKeyDim()), times(ofEach, getValueDim()));
}

int64_t GatedDeltaNetOp::getGroupWidth() {
  int64_t ofEach = getValueHeads() / std::max<int64_t>(getHeads(), 1);
  return plus(getGroupChannels(), times(ofEach, plus(getValueDim(), 2)));
}

LogicalResult GatedDeltaNetOp::verify() {
  Operation *op = getOperation();
  int64_t heads = getHeads(), valueHeads = getValueHeads();
  int64_t keyDim = getKeyDim(), valueDim = getValueDim();
  // (C1)
  if (failed(expectAllPositive(op, {{"heads", heads},
                                    {"value_heads", valueHeads},
                                    {"key_dim", keyDim},
                                    {"value_dim", valueDim},
                                    {"sequence", getSequence()}})) ||
      failed(expectDivides(op, "heads", heads, "value_heads", valueHeads)))
    return failure();
  // (C2)
  if (failed(
          expectSize(op, "input", "columns", times(heads, getGroupWidth()),
                     "2 * heads * key_dim + 2 * value_heads * (value_dim + 1)",
                     columns(getInput()))) ||
      failed(expectSize(op, "result", "columns", times(valueHeads, valueDim),
                        "value_heads * value_dim", columns(getResult()))))
    return failure();
  // (C3)
  int64_t channels = times(heads, getGroupChannels());
  auto convState = cast<ShapedType>(getConvState().getType());
  int64_t kept = convState.getRank() == 3 ? convState.getDimSize(1) : 1;
  if (kept < 1)
    return emitOpError() << "'conv_state' must keep at least one row of each "
                            "sequence, found "
                         << kept;
  if (failed(expectState(op, "conv_state", getConvState(), {kept, channels},
                         getNewConvState())) ||
      failed(expectState(op, "state", getState(),
                         {valueHeads, keyDim, valueDim}, getNewState())))
    return failure();
  // (C4)
  if (failed(expectSize(op, "conv", "rows", plus(kept, 1),
                        "one more than 'conv_state' keeps",
                        sizeOf(getConv(), 0))) ||
      failed(expectSize(op, "conv", "columns", channels,
                        "2 * heads * key_dim + value_heads * value_dim",
                        columns(getConv()))))
    return failure();
  // (C5)
  if (failed(expectSize(op, "decay", "entries", valueHeads, "one a value head",
                        sizeOf(getDecay(), 0))) ||
      failed(expectSize(op, "step_bias", "entries", valueHeads,
                        "one a value head", sizeOf(getStepBias(), 0))) ||
      failed(expectSize(op, "norm", "entries", valueDim, "value_dim",
                        sizeOf(getNorm(), 0))))
    return failure();
  // (C6)
  if (failed(expectPositive(op, "epsilon", getEpsilon())))
    return failure();
  // (C7)
  return expectPositions(op, getPositions());
}
