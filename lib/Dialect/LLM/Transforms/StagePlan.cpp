//===- StagePlan.cpp - Where the stages of a program begin ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagePlan.h"
#include "ResidualRows.h"

#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Whether a stage that needs no result of `op` may do without it.
static bool mayBeLeftOut(Operation &op) {
  return isa_and_present<LLMDialect, shard::ShardDialect>(op.getDialect()) ||
         op.hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(&op);
}

LogicalResult StagePlan::findLayers() {
  for (Operation &op : func.front()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      firstLayers[repeat] = numLayers;
      repeats.push_back(repeat);
      numLayers += int64_t(repeat.getCount());
      continue;
    }
    if (isa<AddOp>(op))
      return op.emitOpError("ends a layer outside of an 'llm.repeat': expected "
                            "layers to be in repeats, which stages can share");
    if (!mayBeLeftOut(op))
      return op.emitOpError("may have side effects, which belong to no stage");
  }
  if (repeats.empty())
    return func.emitOpError("has no 'llm.repeat' to cut: expected the layers "
                            "that ")
           << numStages << " stages share";
  if (auto error = stageCutError(cut, numStages, numLayers))
    return func.emitOpError("cannot be cut: ") << *error;
  return success();
}

std::optional<int64_t> StagePlan::findParting(RepeatOp repeat) const {
  for (int64_t stage = 1; stage < numStages; ++stage)
    if (Iterations part = getPart(repeat, stage);
        !part.isEmpty() && part.begin > 0)
      return stage;
  return std::nullopt;
}

LogicalResult StagePlan::findStacks() {
  for (RepeatOp repeat : repeats) {
    for (Value operand : repeat.getStacked()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!argument) {
        std::optional<int64_t> stage = findParting(repeat);
        if (!stage)
          continue; // the one stage that has its layers computes it
        InFlightDiagnostic error =
            repeat.emitOpError("has a stacked operand that is computed: "
                               "expected an argument, since each stage "
                               "gets its layers, or stages that have all "
                               "layers of the repeat or none, but stage ");
        error << *stage << " begins with its layer "
              << getPart(repeat, *stage).begin;
        error.attachNote(operand.getLoc()) << "computed here";
        return error;
      }
      if (!argument.hasOneUse()) {
        InFlightDiagnostic error = func.emitOpError("argument ");
        error << argument.getArgNumber()
              << " is a stack of layers and has other uses: expected none, for "
                 "each stage has layers of its own";
        for (Operation *user : argument.getUsers())
          error.attachNote(user->getLoc()) << "used here";
        return error;
      }
      stackOwners[argument] = repeat;
    }
    for (Value stack : repeat.getStacks())
      stackOwners[stack] = repeat;
  }
  return success();
}

Iterations StagePlan::getPart(RepeatOp repeat, int64_t stage) const {
  int64_t first = firstLayers.lookup(repeat);
  auto clamp = [&](int64_t layer) {
    return std::clamp<int64_t>(layer - first, 0, repeat.getCount());
  };
  return {clamp(firstLayer(stage)), clamp(firstLayer(stage + 1))};
}

//===----------------------------------------------------------------------===//
// Boundaries
//===----------------------------------------------------------------------===//

/// The norm over cut features that begins a layer, if that is how it begins.
static ScaleNormOp firstNormOfFeatures(RepeatOp repeat) {
  for (Operation *user : repeat.getResidual().getUsers())
    if (auto norm = dyn_cast<ScaleNormOp>(user))
      return norm;
  return {};
}

FailureOr<Boundary> StagePlan::makeBoundary(int64_t layer) {
  RepeatOp repeat = repeats.back();
  for (RepeatOp candidate : repeats)
    if (layer < firstLayers[candidate] + int64_t(candidate.getCount())) {
      repeat = candidate;
      break;
    }
  Boundary boundary;
  if (layer == firstLayers[repeat])
    boundary.value = repeat.getInit();
  else if (layer == numLayers)
    boundary.value = repeat.getResult();

  boundary.type = cast<RankedTensorType>(repeat.getInit().getType());
  boundary.place = repeat;
  if (boundary.value == repeat.getInit()) {
    Operation *maker = repeat.getInit().getDefiningOp();
    boundary.place = maker ? maker : &func.front().front();
  }
  OpBuilder builder(boundary.place);
  FailureOr<ResidualRows> rows =
      computeRows(builder, repeat.getInit(), repeat, grid);
  if (failed(rows))
    return failure();
  boundary.rows = rows->number;

  int64_t features = boundary.type.getDimSize(1);
  if (ScaleNormOp norm = firstNormOfFeatures(repeat)) {
    boundary.layout = Layout::H;
    features = int64_t(norm.getSize());
  } else if (rows->areCut) {
    boundary.layout = Layout::T;
  }
  boundary.rowBytes =
      double(features) * boundary.type.getElementTypeBitWidth() / 8;
  return boundary;
}

LogicalResult StagePlan::placeBoundaries() {
  for (int64_t stage = 1; stage < numStages; ++stage) {
    FailureOr<Boundary> boundary = makeBoundary(firstLayer(stage));
    if (failed(boundary))
      return failure();
    boundaries.push_back(*boundary);
  }
  return success();
}

FailureOr<StagePlan> StagePlan::create(func::FuncOp func, shard::GridOp grid,
                                       const Degrees &degrees) {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("cannot be split into stages: expected one block, "
                            "found ")
           << func.getBody().getBlocks().size();
  StagePlan plan(func, grid, degrees);
  if (failed(plan.findLayers()) || failed(plan.findStacks()) ||
      failed(plan.placeBoundaries()))
    return failure();
  return plan;
}
