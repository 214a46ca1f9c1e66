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

Value llm::activate(const Emitter &emit, Value value,
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

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {

/// Collectives on the rows of a space, which may stand behind other rows.
class RowMover {
public:
  RowMover(const Emitter &emit, const RowSpace &space)
      : emit(emit), outer(space.outer) {}

  Value slice(Value value) const { return emit.sliceRows(value, outer); }
  Value gather(Value value, const Charges &charges) const {
    return onRows(value, [&](Value value, int64_t rows) {
      return emit.allGather(value, rows, charges);
    });
  }
  Value scatter(Value value, const Charges &charges) const {
    return onRows(value, [&](Value value, int64_t rows) {
      return emit.reduceScatter(value, rows, charges);
    });
  }
  /// Some columns of all rows instead of all columns of some, and back.
  Value toRows(Value value, const Charges &charges) const {
    return onRows(value, [&](Value value, int64_t rows) {
      return emit.allToAll(value, rows + 1, rows, charges);
    });
  }
  Value toColumns(Value value, const Charges &charges) const {
    return onRows(value, [&](Value value, int64_t rows) {
      return emit.allToAll(value, rows, rows + 1, charges);
    });
  }

private:
  template <typename Move> Value onRows(Value value, Move move) const {
    if (outer == 1)
      return move(value, 0);
    if (emit.ranks() == 1)
      return value;
    return emit.closeRows(move(emit.openRows(value, outer), 1));
  }

  const Emitter emit;
  int64_t outer;
};

} // namespace

//===----------------------------------------------------------------------===//
// Layouts over q and c
//===----------------------------------------------------------------------===//

static const Charges &chargeOf(const StepCharges &steps, size_t step) {
  static const Charges none = uncharged(0);
  return step < steps.size() ? steps[step] : none;
}

/// Whether the columns over the whole group are those over c, cut once more.
static bool nests(Packings &packings, const LocalCopy &whole,
                  const Packing *overC, Axis over) {
  int64_t size = whole.packing->getGlobalSize();
  return whole.packing == packings.hidden(size, over) &&
         overC == packings.hiddenOverC(size);
}

/// To or from a layout that cuts rows over q alone, over the group of `space`.
static LocalCopy reshardOverQ(const Emitter &emit, Packings &packings,
                              LocalCopy from, Layout to, const Packing *packing,
                              const RowSpace &space, const StepCharges &steps) {
  LocalCopy copy{from.value, to, cutsFeatures(to) ? packing : nullptr, nullptr};
  Value &value = copy.value;
  RowMover overQ(emit.along(Axis::Q), space);
  RowMover overC(emit.along(Axis::C), space);
  if (from.layout == Layout::R) {
    value = overQ.slice(emit.padRows(value, space));
    if (to == Layout::TH)
      value = emit.along(Axis::C).allSlice(
          emit.selectColumns(value, packing->getPack()), 1);
    return copy;
  }
  if (from.layout == Layout::P && to == Layout::TP) {
    value = overQ.scatter(emit.padRows(value, space), chargeOf(steps, 0));
    return copy;
  }
  if (from.layout == Layout::H && to == Layout::TH &&
      nests(packings, from, packing, space.over)) {
    value = overQ.toColumns(emit.padRows(value, space), chargeOf(steps, 0));
    return copy;
  }
  if (from.layout == Layout::TH && to == Layout::H &&
      nests(packings, copy, from.packing, space.over)) {
    value = emit.trimRows(overQ.toRows(value, chargeOf(steps, 0)), space);
    return copy;
  }

  // By way of T.
  size_t step = 0;
  if (from.layout == Layout::TR) {
    value = overC.slice(value);
  } else if (from.layout == Layout::TH) {
    value = overC.toColumns(value, chargeOf(steps, step++));
    value = emit.selectColumns(value, from.packing->getUnpack());
  } else if (from.layout == Layout::TP) {
    value = overC.scatter(value, chargeOf(steps, step++));
  } else if (from.layout != Layout::T) {
    value = reshard(emit, packings, from, Layout::T, nullptr, space,
                    {chargeOf(steps, step++)})
                .value;
  }
  if (to == Layout::TR) {
    value = overC.gather(value, chargeOf(steps, step));
  } else if (to == Layout::TH) {
    value = emit.selectColumns(value, packing->getPack());
    value = overC.toRows(value, chargeOf(steps, step));
  } else {
    return reshard(emit, packings, {value, Layout::T}, to, packing, space,
                   {chargeOf(steps, step)});
  }
  return copy;
}

LocalCopy llm::reshard(const Emitter &outside, Packings &packings,
                       LocalCopy from, Layout to, const Packing *packing,
                       const RowSpace &space, const StepCharges &steps) {
  Emitter emit = outside.along(space.over);
  LocalCopy copy{from.value, to, cutsFeatures(to) ? packing : nullptr, nullptr};
  Value &value = copy.value;
  bool sameFeatures = !cutsFeatures(to) || from.packing == packing;
  if (from.layout == to && sameFeatures && !from.pending)
    return from;
  if (emit.ranks() == 1) {
    if (from.pending)
      value = activate(emit, value, from.pending);
    return copy;
  }
  if (cost::isTwoAxis(from.layout) || cost::isTwoAxis(to))
    return reshardOverQ(emit, packings, from, to, packing, space, steps);
  const Charges &charges = chargeOf(steps, 0);
  // From one order of the features to another, through all of them.
  if (from.layout == Layout::H && to == Layout::H) {
    LocalCopy whole = reshard(emit, packings, from, Layout::R, nullptr, space,
                              {uncharged(charges.front().bytes)});
    return reshard(emit, packings, whole, to, packing, space, steps);
  }

  RowMover rows(emit, space);
  switch (from.layout) {
  case Layout::R:
    if (to == Layout::T)
      value = rows.slice(emit.padRows(value, space));
    else if (to == Layout::H)
      value = emit.allSlice(emit.selectColumns(value, packing->getPack()), 1);
    break;
  case Layout::T:
    if (to == Layout::R) {
      value = emit.trimRows(rows.gather(value, charges), space);
    } else {
      value = emit.selectColumns(value, packing->getPack());
      value = rows.toRows(value, charges);
      value = emit.trimRows(value, space);
    }
    break;
  case Layout::H:
    if (to == Layout::R) {
      value = emit.allGather(value, 1, charges);
    } else {
      value = emit.padRows(value, space);
      value = rows.toColumns(value, charges);
    }
    value = emit.selectColumns(value, from.packing->getUnpack());
    break;
  case Layout::P:
    if (to == Layout::R)
      value = emit.allReduce(value, charges);
    else if (to == Layout::T)
      value = rows.scatter(emit.padRows(value, space), charges);
    else if (from.pending && from.pending.getGated())
      value = scatterFeatures(
          emit, value,
          packings.pairedBlocks(packing->getGlobalSize(), emit.ranks()),
          charges);
    else
      value = scatterFeatures(emit, value, packing, charges);
    if (from.pending)
      value = activate(emit, value, from.pending);
    break;
  default:
    llvm_unreachable("rows are sharded over q");
  }
  return copy;
}
