//===- Slices.cpp - Slices of weights and caches -===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Axis;
using cost::Layout;

Cut Partitioner::overExperts(int64_t numExperts) {
  if (getSize(Axis::Ep) == 1)
    return whole();
  return {Axis::Ep, packings.blocks(numExperts, getSize(Axis::Ep)), {}};
}

Cut Partitioner::overRows(Layout layout) {
  Cut cut;
  cut.rows = {Axis::Ep};
  if (layout == Layout::T)
    cut.rows.push_back(Axis::Tp);
  return cut;
}

/// The entries of every coordinate, as lists of runs: a run is [start, size,
/// stride], or [start, size, stride, count, step] where it repeats; a start of
/// -1 means zeros.
ArrayAttr Partitioner::describeRuns(const Packing *packing) {
  ArrayAttr &runs = runsOf[packing];
  if (runs)
    return runs;
  SmallVector<Attribute> ranks;
  for (int64_t rank = 0; rank < packing->getNumRanks(); ++rank) {
    SmallVector<Attribute> list;
    for (const Run &run : packing->getRuns(rank)) {
      SmallVector<int64_t> numbers = {run.start, run.size, run.stride};
      if (run.count > 1)
        numbers.append({run.count, run.step});
      list.push_back(builder.getDenseI64ArrayAttr(numbers));
    }
    ranks.push_back(builder.getArrayAttr(list));
  }
  return runs = builder.getArrayAttr(ranks);
}

/// {} for a whole dim; {rows = [axes]} for a dynamic one that is cut by rows;
/// {axis, runs} for one that is cut by entries.
Attribute Partitioner::describeCut(const Cut &cut) {
  if (!cut.rows.empty()) {
    SmallVector<Attribute> axes;
    for (Axis axis : cut.rows)
      axes.push_back(builder.getStringAttr(spell(axis)));
    return builder.getDictionaryAttr(
        builder.getNamedAttr("rows", builder.getArrayAttr(axes)));
  }
  if (!cut.packing)
    return builder.getDictionaryAttr({});
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axis", builder.getStringAttr(spell(cut.axis))),
       builder.getNamedAttr("runs", describeRuns(cut.packing))});
}

DictionaryAttr Partitioner::describeSlice(StringRef name, RankedTensorType type,
                                          ArrayRef<Cut> cuts) {
  SmallVector<Attribute> dims;
  for (const Cut &cut : cuts)
    dims.push_back(describeCut(cut));
  SmallVector<int64_t> shape;
  for (int64_t size : type.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("name", builder.getStringAttr(name)),
       builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(shape)),
       builder.getNamedAttr("dims", builder.getArrayAttr(dims))});
}

/// Sizes of the slice.
static RankedTensorType localType(RankedTensorType type, ArrayRef<Cut> cuts) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, cut] : llvm::zip_equal(shape, cuts))
    if (cut.packing)
      size = cut.packing->getLocalSize();
  return type.clone(shape);
}

Value Partitioner::slice(Value global, ArrayRef<Cut> cuts) {
  auto type = cast<RankedTensorType>(global.getType());
  assert(type.getRank() == static_cast<int64_t>(cuts.size()) &&
         "one cut for each dim");
  if (auto param = global.getDefiningOp<ParamOp>())
    return sliceParam(param, type, cuts);
  if (auto argument = dyn_cast<BlockArgument>(global))
    return sliceArgument(argument, type, cuts);
  auto diagnostic = mlir::emitError(getLoc())
                    << "cannot slice a weight that is computed: expected an "
                       "'llm.param' or an argument";
  diagnostic.attachNote(global.getLoc()) << "weight defined here";
  return {};
}

Value Partitioner::sliceVector(Value global, const Packing *packing) {
  if (!global)
    return {};
  return slice(global, packing ? over(packing) : whole());
}

/// A weight that is used with two slices becomes two params.
Value Partitioner::sliceParam(ParamOp param, RankedTensorType type,
                              ArrayRef<Cut> cuts) {
  DictionaryAttr description = describeSlice(param.getParam(), type, cuts);
  Value &local = params[{param.getResult(), description}];
  if (local)
    return local;
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *repeat = repeats.lookup(current->getBlock());
      repeat && param->getBlock() != current->getBlock())
    builder.setInsertionPoint(repeat);
  auto copy = cast<ParamOp>(builder.clone(*param.getOperation()));
  copy.getResult().setType(localType(type, cuts));
  unsigned count = slicesOfParam[param.getResult()]++;
  if (count > 0)
    copy.setParam((param.getParam() + "." + Twine(count)).str());
  copy->setAttr("shardopt.slice", description);
  return local = copy.getResult();
}

/// Arguments take the local type in place; the operand that a repeat slices for
/// its body, and its result, follow when the body is done.
Value Partitioner::sliceArgument(BlockArgument argument, RankedTensorType type,
                                 ArrayRef<Cut> cuts) {
  Value local = plain.lookup(argument);
  assert(local && "arguments are mapped first");
  std::string name = "arg" + std::to_string(argument.getArgNumber());
  DictionaryAttr description = describeSlice(name, type, cuts);
  DictionaryAttr &known = slices[local];
  if (known && known != description) {
    mlir::emitError(getLoc())
        << "weight argument #" << argument.getArgNumber()
        << " is used with two different slices: expected an 'llm.param'";
    return {};
  }
  known = description;
  local.setType(localType(type, cuts));
  return local;
}
