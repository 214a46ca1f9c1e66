//===- PartitionState.cpp - Mixers with a state of one device -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

/// Key heads; each has `columns / heads` of what they share.
static const Packing *groupsOf(OpPartition &p, GatedDeltaNetOp op,
                               int64_t columns) {
  return p.getPackings().heads(op.getHeads(), columns / int64_t(op.getHeads()),
                               p.ranks());
}

LogicalResult llm::partition(GatedDeltaNetOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getInput(), p.getTokens())))
    return failure();
  Layout layout = p.getRequired();
  bool cuts = layout == Layout::H && p.ranks() > 1;
  const Packing *input = nullptr, *output = nullptr, *channels = nullptr,
                *valueHeads = nullptr;
  if (layout == Layout::H) {
    input = groupsOf(p, op, columns(op.getInput()));
    output = groupsOf(p, op, columns(op.getResult()));
    channels = groupsOf(p, op, columns(op.getConv()));
    valueHeads = groupsOf(p, op, op.getValueHeads());
  }

  Value groups = p.get(op.getInput(), layout, input);
  Value positions = positionsIn(p, op.getPositions(), layout);
  Cut rows = p.overRows(layout);
  Value convState =
      p.slice(op.getConvState(), {rows, Cut(), Cut::over(channels)});
  Value state =
      p.slice(op.getState(), {rows, Cut::over(valueHeads), Cut(), Cut()});
  Value conv = p.slice(op.getConv(), {Cut(), Cut::over(channels)});
  Value decay = p.sliceVector(op.getDecay(), valueHeads);
  Value stepBias = p.sliceVector(op.getStepBias(), valueHeads);
  Value norm = p.sliceVector(op.getNorm(), nullptr);
  if (!positions || !convState || !state || !conv || !decay || !stepBias ||
      !norm)
    return failure();

  auto local = p.clone(op);
  local->setOperands(
      {groups, positions, convState, state, conv, decay, stepBias, norm});
  if (cuts) {
    int64_t ofEach = op.getValueHeads() / op.getHeads();
    local.setValueHeads(valueHeads->getLocalSize());
    local.setHeads(valueHeads->getLocalSize() / ofEach);
    local.getResult().setType(
        withColumns(op.getResult(), output->getLocalSize()));
  }
  local.getNewConvState().setType(cast<RankedTensorType>(convState.getType()));
  local.getNewState().setType(cast<RankedTensorType>(state.getType()));
  p.defineResult(cast<OpResult>(op.getResult()), local.getResult(),
                 op.getInput(), output);
  p.defineCache(op.getNewConvState(), local.getNewConvState(),
                op.getConvState());
  p.defineCache(op.getNewState(), local.getNewState(), op.getState());
  return success();
}

Mamba2Packings::Mamba2Packings(Packings &packings, int64_t numHeads,
                               int64_t headDim, int64_t numGroups,
                               int64_t stateDim, int64_t ranks) {
  bool isOne = numGroups == 1;
  int64_t units = isOne ? numHeads : numGroups;
  auto ofHeads = [&](int64_t size) {
    return packings.heads(units, numHeads / units * size, ranks);
  };
  auto ofGroups = [&](int64_t size) {
    return isOne ? packings.kvHeads(numHeads, 1, size, ranks)
                 : packings.heads(numGroups, size, ranks);
  };
  heads = ofHeads(1);
  groups = ofGroups(1);
  values = ofHeads(headDim);
  const Packing *shared = ofGroups(stateDim);
  channels = packings.beside({values, shared, shared});
  columns = packings.beside({values, values, shared, shared, heads});
}

LogicalResult llm::partition(Mamba2Op op, OpPartition &p) {
  if (failed(p.expectRows(op.getInput(), p.getTokens())))
    return failure();
  Layout layout = p.getRequired();
  bool isCut = layout == Layout::H;
  Mamba2Packings packings(p, op);
  auto where = [&](const Packing *packing) {
    return isCut ? packing : nullptr;
  };
  const Packing *channels = where(packings.channels);
  const Packing *heads = where(packings.heads);
  const Packing *result = where(packings.values);

  Value input = p.get(op.getInput(), layout, where(packings.columns));
  Value positions = positionsIn(p, op.getPositions(), layout);
  Cut rows = p.overRows(layout);
  Value convState =
      p.slice(op.getConvState(), {rows, Cut(), Cut::over(channels)});
  Value state = p.slice(op.getState(), {rows, Cut::over(heads), Cut(), Cut()});
  Value conv = p.slice(op.getConv(), {Cut(), Cut::over(channels)});
  Value convBias = p.sliceVector(op.getConvBias(), channels);
  Value decay = p.sliceVector(op.getDecay(), heads);
  Value skip = p.sliceVector(op.getSkip(), heads);
  Value stepBias = p.sliceVector(op.getStepBias(), heads);
  Value norm = p.sliceVector(op.getNorm(), result);
  if (!positions || !convState || !state || !conv ||
      (op.getConvBias() && !convBias) || !decay || !skip || !stepBias ||
      (op.getNorm() && !norm))
    return failure();

  auto local = p.clone(op);
  local.getInputMutable().assign(input);
  local.getPositionsMutable().assign(positions);
  local.getConvStateMutable().assign(convState);
  local.getStateMutable().assign(state);
  local.getConvMutable().assign(conv);
  if (convBias)
    local.getConvBiasMutable().assign(convBias);
  local.getDecayMutable().assign(decay);
  local.getSkipMutable().assign(skip);
  local.getStepBiasMutable().assign(stepBias);
  if (norm)
    local.getNormMutable().assign(norm);
  if (isCut && p.ranks() > 1) {
    packings.setSizes(local);
    local.getResult().setType(
        withColumns(op.getResult(), result->getLocalSize()));
  }
  local.getNewConvState().setType(cast<RankedTensorType>(convState.getType()));
  local.getNewState().setType(cast<RankedTensorType>(state.getType()));

  Value made = local.getResult();
  // A single group is normed over the heads of all devices.
  if (isCut && p.ranks() > 1 && norm && op.getGroups() == 1) {
    local.getNormMutable().clear();
    local.removeEpsilonAttr();
    made = normFeatures(p, made, norm, /*bias=*/Value(), op.getEpsilonAttr(),
                        columns(op.getResult()), /*subtractsMean=*/false);
  }
  p.defineResult(cast<OpResult>(op.getResult()), made, op.getInput(), result);
  p.defineCache(op.getNewConvState(), local.getNewConvState(),
                op.getConvState());
  p.defineCache(op.getNewState(), local.getNewState(), op.getState());
  return success();
}
