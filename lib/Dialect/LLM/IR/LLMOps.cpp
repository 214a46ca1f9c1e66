//===- LLMOps.cpp - Operations of the llm dialect===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "OpSyntax.h"
#include "StructureSyntax.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

#include "shardopt/Dialect/LLM/IR/LLMInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "shardopt/Dialect/LLM/IR/LLMOps.cpp.inc"

//===----------------------------------------------------------------------===//
// llm.repeat
//===----------------------------------------------------------------------===//

ArrayRef<BlockArgument> RepeatOp::getSlices() {
  return getBody().getArguments().slice(1, getStacked().size());
}

ArrayRef<BlockArgument> RepeatOp::getInvariantArguments() {
  return getBody().getArguments().drop_front(1 + getStacked().size());
}

RankedTensorType RepeatOp::getSliceType(RankedTensorType stacked) {
  return RankedTensorType::get(stacked.getShape().drop_front(),
                               stacked.getElementType(), stacked.getEncoding());
}

int64_t RepeatOp::getLayer(int64_t index) {
  std::optional<ArrayRef<int64_t>> layers = getLayers();
  return layers ? (*layers)[index] : index;
}

int64_t RepeatOp::getWindow(int64_t index) {
  std::optional<ArrayRef<int64_t>> windows = getWindows();
  return windows ? (*windows)[index] : 0;
}
