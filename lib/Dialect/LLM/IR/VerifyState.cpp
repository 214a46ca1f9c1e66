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

/// Constraints of an op with a short convolution of `channels`, which are
/// `reason`, and a state of the sizes `ofState`: (C3) and (C4).
template <typename OpTy>
static LogicalResult verifyStates(OpTy net, int64_t channels, StringRef reason,
                                  ArrayRef<int64_t> ofState) {
  Operation *op = net;
  auto convState = cast<ShapedType>(net.getConvState().getType());
  int64_t kept = convState.getRank() == 3 ? convState.getDimSize(1) : 1;
  if (kept < 1)
    return net.emitOpError()
           << "'conv_state' must keep at least one row of each sequence, found "
           << kept;
  if (failed(expectState(op, "conv_state", net.getConvState(), {kept, channels},
                         net.getNewConvState())) ||
      failed(expectState(op, "state", net.getState(), ofState,
                         net.getNewState())) ||
      failed(expectSize(op, "conv", "rows", plus(kept, 1),
                        "one more than 'conv_state' keeps",
                        sizeOf(net.getConv(), 0))))
    return failure();
  return expectSize(op, "conv", "columns", channels, reason,
                    columns(net.getConv()));
}

//===----------------------------------------------------------------------===//
// Gated delta nets
//===----------------------------------------------------------------------===//

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
  // (C3), (C4)
  if (failed(verifyStates(*this, times(heads, getGroupChannels()),
                          "2 * heads * key_dim + value_heads * value_dim",
                          {valueHeads, keyDim, valueDim})))
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

//===----------------------------------------------------------------------===//
// Mamba-2
//===----------------------------------------------------------------------===//

/// Every size is positive, and groups have whole heads.
static LogicalResult verifyHeads(Operation *op, int64_t heads, int64_t headDim,
                                 int64_t groups, int64_t stateDim) {
  if (failed(expectAllPositive(op, {{"heads", heads},
                                    {"head_dim", headDim},
                                    {"groups", groups},
                                    {"state_dim", stateDim}})))
    return failure();
  return expectDivides(op, "groups", groups, "heads", heads);
}

/// Columns of what `llm.mamba2_proj` gives.
static int64_t projectedWidth(int64_t heads, int64_t headDim, int64_t groups,
                              int64_t stateDim) {
  return plus(times(plus(times(2, headDim), 1), heads),
              times(times(2, groups), stateDim));
}

static constexpr StringLiteral projected =
    "(2 * head_dim + 1) * heads + 2 * groups * state_dim";

LogicalResult Mamba2ProjOp::verify() {
  Operation *op = getOperation();
  // (C3)
  if (failed(verifyHeads(op, getHeads(), getHeadDim(), getGroups(),
                         getStateDim())))
    return failure();
  // (C1)
  if (failed(expectSize(op, "weight", "rows", columns(getInput()),
                        "the width of the input", sizeOf(getWeight(), 0))))
    return failure();
  // (C2)
  int64_t width =
      projectedWidth(getHeads(), getHeadDim(), getGroups(), getStateDim());
  if (failed(expectSize(op, "weight", "columns", width, projected,
                        columns(getWeight()))) ||
      (getBias() && failed(expectSize(op, "bias", "entries", width, projected,
                                      sizeOf(getBias(), 0)))))
    return failure();
  return expectSize(op, "result", "columns", width, projected,
                    columns(getResult()));
}

int64_t Mamba2Op::getChannels() {
  return plus(times(getHeads(), getHeadDim()),
              times(times(2, getGroups()), getStateDim()));
}

LogicalResult Mamba2Op::verify() {
  Operation *op = getOperation();
  int64_t heads = getHeads(), headDim = getHeadDim();
  int64_t groups = getGroups(), stateDim = getStateDim();
  int64_t values = times(heads, headDim);
  // (C1)
  if (failed(verifyHeads(op, heads, headDim, groups, stateDim)) ||
      failed(expectPositive(op, "sequence", getSequence())))
    return failure();
  // (C2)
  if (failed(expectSize(op, "input", "columns",
                        projectedWidth(heads, headDim, groups, stateDim),
                        projected, columns(getInput()))) ||
      failed(expectSize(op, "result", "columns", values, "heads * head_dim",
                        columns(getResult()))))
    return failure();
  // (C3), (C4)
  constexpr StringLiteral ofChannels =
      "heads * head_dim + 2 * groups * state_dim";
  if (failed(verifyStates(*this, getChannels(), ofChannels,
                          {heads, headDim, stateDim})) ||
      (getConvBias() &&
       failed(expectSize(op, "conv_bias", "entries", getChannels(), ofChannels,
                         sizeOf(getConvBias(), 0)))))
    return failure();
  // (C5)
  std::pair<StringRef, Value> ofHeads[] = {
      {"decay", getDecay()}, {"skip", getSkip()}, {"step_bias", getStepBias()}};
  for (auto [name, vector] : ofHeads)
    if (failed(expectSize(op, name, "entries", heads, "one a head",
                          sizeOf(vector, 0))))
      return failure();
  if (getNorm() && failed(expectSize(op, "norm", "entries", values,
                                     "heads * head_dim", sizeOf(getNorm(), 0))))
    return failure();
  // (C6)
  if ((getNorm() != nullptr) != getEpsilon().has_value())
    return emitOpError() << "must have 'epsilon' with a norm, and none without";
  if (getEpsilon() && failed(expectPositive(op, "epsilon", *getEpsilon())))
    return failure();
  // (C7)
  double least = getStepMin().convertToDouble();
  double most = getStepMax() ? getStepMax()->convertToDouble()
                             : std::numeric_limits<double>::infinity();
  if (!(0 <= least && least < most))
    return emitOpError() << "'step_min' must be at least 0 and less than "
                            "'step_max', found "
                         << least << " and " << most;
  // (C8)
  return expectPositions(op, getPositions());
}
