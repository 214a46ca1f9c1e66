//===- Reshard.cpp - From one layout to another ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/LocalValues.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

static Value activate(const Emitter &emit, Value value,
                      ActivationAttr activation) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t width = type.getDimSize(1) / (activation.getGated() ? 2 : 1);
  return emit.create<ActivationOp>(type.clone({type.getDimSize(0), width}),
                                   value, activation,
                                   emit.getBuilder().getI64IntegerAttr(1));
}

/// P to H. Features that several ranks need are all-reduced, the others
/// reduce-scattered; the cost model has one collective for all of them.
static Value scatterFeatures(const Emitter &emit, Value value,
                             const Packing *packing, const Charges &charges) {
  if (!packing->isReplicated())
    return emit.reduceScatter(emit.selectColumns(value, packing->getPack()), 1,
                              charges);
  if (packing->getParts().empty()) {
    Value sum = emit.allReduce(value, charges);
    return emit.allSlice(emit.selectColumns(sum, packing->getPack()), 1);
  }
  SmallVector<Value> parts;
  int64_t begin = 0;
  for (const Packing *part : packing->getParts()) {
    int64_t size = part->getGlobalSize();
    double share = double(size) / double(packing->getGlobalSize());
    parts.push_back(scatterFeatures(emit, emit.sliceColumns(value, begin, size),
                                    part, scaled(charges, share)));
    begin += size;
  }
  return emit.concatColumns(parts);
}

LocalCopy llm::reshard(const Emitter &emit, Packings &packings, LocalCopy from,
                       Layout to, const Packing *packing, const RowSpace &space,
                       const Charges &charges) {
  LocalCopy copy{from.value, to, to == Layout::H ? packing : nullptr, nullptr};
  Value &value = copy.value;
  bool sameFeatures = to != Layout::H || from.packing == packing;
  if (from.layout == to && sameFeatures && !from.pending)
    return from;
  if (emit.tp() == 1) {
    if (from.pending)
      value = activate(emit, value, from.pending);
    return copy;
  }
  // From one order of the features to another, through all of them.
  if (from.layout == Layout::H && to == Layout::H) {
    LocalCopy whole = reshard(emit, packings, from, Layout::R, nullptr, space,
                              uncharged(charges.front().bytes));
    return reshard(emit, packings, whole, to, packing, space, charges);
  }

  switch (from.layout) {
  case Layout::R:
    if (to == Layout::T)
      value = emit.allSlice(emit.padRows(value, space), 0);
    else if (to == Layout::H)
      value = emit.allSlice(emit.selectColumns(value, packing->getPack()), 1);
    break;
  case Layout::T:
    if (to == Layout::R) {
      value = emit.trimRows(emit.allGather(value, 0, charges), space);
    } else {
      value = emit.selectColumns(value, packing->getPack());
      value = emit.allToAll(value, GridAxis::Tp, 1, 0, charges);
      value = emit.trimRows(value, space);
    }
    break;
  case Layout::H:
    if (to == Layout::R) {
      value = emit.allGather(value, 1, charges);
    } else {
      value = emit.padRows(value, space);
      value = emit.allToAll(value, GridAxis::Tp, 0, 1, charges);
    }
    value = emit.selectColumns(value, from.packing->getUnpack());
    break;
  case Layout::P:
    if (to == Layout::R)
      value = emit.allReduce(value, charges);
    else if (to == Layout::T)
      value = emit.reduceScatter(emit.padRows(value, space), 0, charges);
    else if (from.pending && from.pending.getGated())
      value = scatterFeatures(
          emit, value,
          packings.pairedBlocks(packing->getGlobalSize(), emit.tp()), charges);
    else
      value = scatterFeatures(emit, value, packing, charges);
    if (from.pending)
      value = activate(emit, value, from.pending);
    break;
  }
  return copy;
}
