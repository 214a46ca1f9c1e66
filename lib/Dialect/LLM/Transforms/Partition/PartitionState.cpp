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

/// Key heads of which each has `columns / heads` of what they share.
static const Packing *groupsOf(OpPartition &p, GatedDeltaNetOp op,
                               int64_t columns) {
  return p.getPackings().heads(op.getHeads(), columns / int64_t(op.getHeads()),
                               p.ranks());
}

LogicalResult llm::partition(GatedDeltaNetOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getInput(), p.getTokens())))
    return failure();
  const Layout layout = p.getRequired();
  const bool cuts = layout == Layout::H && p.ranks() > 1;
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
  const Cut rows = p.overRows(layout);
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
