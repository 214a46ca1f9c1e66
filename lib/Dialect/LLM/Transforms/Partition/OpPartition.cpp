//===- OpPartition.cpp - What an op is written with -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/OpPartition.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

Value llm::getComplete(PartitionState &state, const Emitter &emit, Value global,
                       Operation *user) {
  if (state.values.isPlaced(global)) {
    double rows = state.values.lookup(global, user)->space->cost;
    return state.values.get(emit, global, Layout::R, nullptr, rows);
  }
  if (state.exchanges.isRouting(global))
    return state.exchanges.getComplete(global);
  if (auto param = global.getDefiningOp<ParamOp>()) {
    auto type = cast<RankedTensorType>(param.getType());
    return state.slices.slice(emit, user, global,
                              SmallVector<Cut>(type.getRank()));
  }
  if (Value local = state.values.lookupPlain(global))
    return local;
  auto diagnostic = user->emitOpError(
      "uses counts or origins of a dispatch: expected only experts and "
      "'llm.combine' to, for they differ from device to device");
  diagnostic.attachNote(global.getLoc()) << "dispatched here";
  return {};
}

OpPartition::OpPartition(PartitionState &state, ShardableOpInterface op,
                         const cost::Context &context, const cost::Rule &rule,
                         SmallVector<LayerCost, 1> costs, Axis over)
    : Emitter(state.grid, state.builder, op->getLoc(), op.getShardingName(),
              over),
      state(state), op(op), context(context), rule(rule),
      costs(std::move(costs)) {}

//===----------------------------------------------------------------------===//
// Collectives inside the op
//===----------------------------------------------------------------------===//

/// The collective that `cost` calls `name`, or null.
static const cost::Collective *findOwn(const cost::OpCost &cost,
                                       StringRef name) {
  for (const cost::Collective &collective : cost.collectives)
    if (name == collective.name)
      return &collective;
  return nullptr;
}

Charges OpPartition::own(StringRef name) {
  written.push_back(name);
  Charges charges;
  for (const LayerCost &layers : costs) {
    Charge charge;
    charge.layers = layers.layers;
    if (const cost::Collective *collective = findOwn(layers.cost, name))
      charge.counted = {*collective};
    charges.push_back(charge);
  }
  return charges;
}

LogicalResult OpPartition::checkOwn() {
  for (StringRef name : written)
    if (!findOwn(costs.front().cost, name) || llvm::count(written, name) > 1)
      return op.emitOpError("writes a collective '")
             << name << "' that the cost model does not have, or has once";
  for (const cost::Collective &collective : costs.front().cost.collectives)
    if (getSize(collective.axis) > 1 &&
        !llvm::is_contained(written, StringRef(collective.name)))
      return op.emitOpError("does not write the collective '")
             << collective.name << "' that the cost model charges";
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value OpPartition::get(Value activation, Layout layout,
                       const Packing *packing) {
  double rows = getPlaced(activation).space->cost;
  bool isKept = true;
  for (auto [operand, wanted] : llvm::zip(op.getActivations(), rule.operands))
    if (operand->get() == activation) {
      rows = wanted.rows;
      isKept = wanted.copy != cost::OperandRule::Copy::None;
    }
  return state.values.get(*this, activation, layout, packing, rows, isKept);
}

const Packing *OpPartition::hiddenIn(Value value, Layout layout, Axis over) {
  if (!cutsFeatures(layout))
    return nullptr;
  int64_t size = cast<RankedTensorType>(value.getType()).getShape().back();
  return layout == Layout::TH ? state.packings.hiddenOverC(size)
                              : state.packings.hidden(size, over);
}

StepCharges OpPartition::chargeReshard(Value activation, Layout from,
                                       Layout to) {
  const LocalValues::Placed &placed = getPlaced(activation);
  return charged(cost::reshardCollectives(from, to, placed.space->cost,
                                          placed.rowBytes, getGrid().degrees,
                                          placed.space->over));
}

LogicalResult OpPartition::expectRows(Value activation, const RowSpace *space) {
  return llm::expectRows(op, getPlaced(activation).space, space);
}

/// Where a value of the source program ended up, for those who compare the two.
void OpPartition::markValue(const LocalCopy &copy, Value global,
                            const RowSpace *space) {
  auto result = dyn_cast<OpResult>(global);
  Operation *maker = copy.value.getDefiningOp();
  // A raw projection whose activation follows is no value of the source
  // program.
  if (!maker || !result || result.getResultNumber() != 0 || copy.pending)
    return;
  lowered::Value value;
  value.op = op.getShardingName().str();
  value.layout = copy.layout;
  bool isDealt = space->dealt > 0 &&
                 (copy.layout == Layout::T || cost::isTwoAxis(copy.layout));
  value.rows = isDealt ? "positions" : space->name.str();
  if (copy.packing) {
    value.order = copy.packing->getOrder();
    value.columns = state.slices.describeRuns(copy.packing, getBuilder());
  }
  lowered::writeTo(maker, value);
}

void OpPartition::define(Value global, LocalCopy copy, const RowSpace *space,
                         double rowBytes) {
  markValue(copy, global, space);
  state.values.define(global, {{copy}, space, rowBytes, {}, {}});
}

void OpPartition::defineResult(OpResult global, Value local, Value like,
                               const Packing *packing, ActivationAttr pending) {
  const cost::Placement &placement =
      rule.results[global.getResultNumber()].placement;
  if (!cutsFeatures(placement.layout))
    packing = nullptr;
  define(global, {local, placement.layout, packing, pending},
         getPlaced(like).space, placement.rowBytes);
}

void OpPartition::definePassed(OpResult global, Value passed) {
  state.values.definePassed(global, passed,
                            getResultLayout(global.getResultNumber()));
}

void OpPartition::defineCache(Value global, Value local, Value cache) {
  definePlain(global, local);
  state.slices.inherit(local, state.values.lookupPlain(cache));
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

Cut OpPartition::overExperts(int64_t numExperts) {
  int64_t groups = getSize(Axis::Ep);
  if (groups == 1)
    return {};
  return Cut::over(state.packings.blocks(numExperts, groups), Axis::Ep);
}

FailureOr<DispatchOp> OpPartition::getDispatch(Value activation, Value counts) {
  DispatchOp sender = getPlaced(activation).space->dispatch;
  auto dispatch = counts.getDefiningOp<DispatchOp>();
  if (dispatch && dispatch == sender && counts == dispatch.getCounts())
    return dispatch;
  // On one device nothing is sent, and counts may come from anywhere.
  if (!dispatch && !sender && exchangesNothing())
    return DispatchOp();
  auto diagnostic = op.emitOpError(
      dispatch ? "reads counts of other rows than its own: expected those of "
                 "the 'llm.dispatch' that sends its rows"
               : "reads counts that are not of an 'llm.dispatch': expected "
                 "those of the one that sends its rows");
  diagnostic.attachNote(counts.getLoc()) << "counts from here";
  if (sender)
    diagnostic.attachNote(sender.getLoc()) << "rows from here";
  return diagnostic;
}

Value OpPartition::getCounts(Value activation, Value counts, Layout layout) {
  FailureOr<DispatchOp> dispatch = getDispatch(activation, counts);
  if (failed(dispatch))
    return {};
  if (exchangesNothing())
    return getPlain(counts);
  return state.exchanges.getCounts(*this, *dispatch, layout);
}
