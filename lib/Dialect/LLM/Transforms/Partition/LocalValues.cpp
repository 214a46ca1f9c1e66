//===- LocalValues.cpp - What devices have of each value ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/LocalValues.h"

#include "shardopt/Cost/Copies.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

const LocalValues::Placed *LocalValues::lookup(Value global,
                                               Operation *user) const {
  auto it = placed.find(global);
  if (it != placed.end())
    return &it->second;
  auto diagnostic =
      user->emitOpError("reads an activation that has no layout over devices: "
                        "expected rows of features that an op of the program "
                        "made, or an argument");
  diagnostic.attachNote(global.getLoc()) << "it comes from here";
  return nullptr;
}

const Packing *LocalValues::getContracted(Value global,
                                          const Packing *otherwise) const {
  for (const LocalCopy &copy : placed.find(global)->second.copies)
    if (copy.layout == Layout::H)
      return copy.packing;
  return otherwise;
}

Value LocalValues::get(const Emitter &emit, Value global, Layout layout,
                       const Packing *packing, double rows, bool isKept) {
  Placed &value = placed.find(global)->second;
  for (const LocalCopy &copy : value.copies)
    if (copy.layout == layout && !copy.pending &&
        (!cutsFeatures(layout) || copy.packing == packing))
      return copy.value;

  const DeviceGrid &grid = emit.getGrid();
  LocalCopy from = cost::cheapestCopy(
      value.copies, {layout, rows, value.rowBytes, value.space->over},
      *grid.time, grid.degrees);
  cost::Reshard modelled =
      cost::reshardCollectives(from.layout, layout, rows, value.rowBytes,
                               grid.degrees, value.space->over);
  StepCharges steps = charged(modelled);
  if (value.left) {
    steps.front().front().counted = value.left->counted;
    steps.front().front().bytes = modelled.empty() ? 0 : modelled[0].bytes;
    value.left.reset();
  }
  LocalCopy copy =
      reshard(emit, packings, from, layout, packing, *value.space, steps);
  if (isKept)
    addCopy(global, copy);
  return copy.value;
}

void LocalValues::addCopy(Value global, const LocalCopy &copy) {
  Placed &value = placed.find(global)->second;
  value.copies.push_back(copy);
  if (value.root)
    placed.find(value.root)->second.copies.push_back(copy);
}

void LocalValues::definePassed(Value global, Value passed, Layout layout) {
  Placed source = placed.find(passed)->second;
  for (const LocalCopy &copy : source.copies)
    if (copy.layout == layout) {
      source.copies = {LocalCopy(copy)};
      break;
    }
  source.root = passed;
  placed[global] = std::move(source);
}
