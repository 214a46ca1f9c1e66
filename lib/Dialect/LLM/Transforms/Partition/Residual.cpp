//===- Residual.cpp - Sums, and loops over layers -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums and repeats have no dim. They are written where the op that reads what
// comes of them wants it, and what that moves is charged as the cost model has
// it: for the layer that is left.
//
// A loop carries its residual in one layout, the anchor (what its first op
// takes it in), from the last layer as from all others. The cost model knows
// where each layer goes: the summands of the last one go straight to the next
// kind of layer, or to the head, which may read fewer rows. So a collective at
// the end of a body has one charge for the last iteration and one for the
// others. What no collective of the body stands for, because its summand lies
// in the anchor already, is left to the one that takes the residual on from
// there.
//
// Example: anchor T, head in R. A partial sum is reduce-scattered in every
// layer; for the last one the model charges an all-reduce. The residual lies in
// T already: the model's all-gather is the one before the head.
//
//===----------------------------------------------------------------------===//

#include "ResidualTarget.h"

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

//===----------------------------------------------------------------------===//
// Who reads a residual
//===----------------------------------------------------------------------===//

/// The first user of `value` in program order, and the operand it is there.
static OpOperand *firstUse(Value value) {
  OpOperand *first = nullptr; // uses are listed backwards, so order decides
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    bool earlier =
        !first || (user->getBlock() == first->getOwner()->getBlock() &&
                   user->isBeforeInBlock(first->getOwner()));
    if (earlier)
      first = &use;
  }
  return first;
}

/// The op that `value` is made for: its first user, or, where that merely adds
/// it up or carries it to the next layer, the first user of what comes of it.
static Operation *consumerOf(Value value) {
  llvm::SmallPtrSet<Operation *, 4> carriers; // repeats that were passed
  while (OpOperand *use = firstUse(value)) {
    Operation *user = use->getOwner();
    bool isResidual = use->getOperandNumber() == 0;
    if (auto add = dyn_cast<AddOp>(user)) {
      value = add.getResult();
    } else if (auto repeat = dyn_cast<RepeatOp>(user); repeat && isResidual) {
      value = repeat.getResidual();
    } else if (isa<YieldOp>(user) && isResidual) {
      auto repeat = cast<RepeatOp>(user->getParentOp());
      // A body that does nothing else to it passes it on to its end.
      bool isNew = carriers.insert(repeat).second;
      value = isNew ? Value(repeat.getResidual()) : repeat.getResult();
    } else {
      return user;
    }
  }
  return nullptr;
}

/// The layout that an op has for its dim.
static Layout pick(ShardableOpInterface op, Layout zero, Layout one,
                   Layout none) {
  Dim dim = op.getShardingDim().value_or(Dim::None);
  return dim == Dim::Zero ? zero : dim == Dim::One ? one : none;
}

/// Whether `op` finds the residual of its layer as it wants it.
static bool isFirstOfLayer(ShardableOpInterface op) {
  if (auto norm = dyn_cast<NormOpInterface>(op.getOperation()))
    return !norm.getAddedResidual();
  auto repeat = dyn_cast<RepeatOp>(op->getParentOp());
  return repeat &&
         *repeat.getBodyBlock()->getOps<ShardableOpInterface>().begin() == op;
}

/// The layout in which `op`, the first of its layer, takes the residual.
static Layout anchorOf(ShardableOpInterface op, const cost::Context &context) {
  const cost::Placement any;
  return cast<CostOpInterface>(op.getOperation())
      .getOpModel()
      ->rule(op.getShardingDim().value_or(Dim::None), {&any, 1}, context)
      .operands[0]
      .required.layout;
}

ResidualTarget Partitioner::getTarget(Value value, Layout arrives) const {
  ResidualTarget target;
  target.consumer = consumerOf(value);
  target.rows = double(context.rows);
  if (!target.consumer)
    return target;
  auto shardable = dyn_cast<ShardableOpInterface>(target.consumer);
  target.cause = shardable ? shardable.getShardingName()
                           : target.consumer->getName().stripDialect();
  if (shardable && isFirstOfLayer(shardable)) {
    target.layout = anchorOf(shardable, context);
    target.beginsLayer = true;
    target.cause = "layer_exit";
  } else if (isa<NormOpInterface>(target.consumer)) {
    target.layout = pick(shardable, Layout::T, Layout::H, Layout::R);
  } else if (isa<LmHeadOp>(target.consumer)) {
    target.layout =
        pick(shardable, Layout::H, Layout::R, cost::passThrough(arrives));
    target.rows = double(context.microBatch);
    target.isHead = true;
  }
  return target;
}

/// The features of a residual in `layout`.
static const Packing *featuresOf(PartitionState &state, Value residual,
                                 Layout layout) {
  if (layout != Layout::H)
    return nullptr;
  auto type = cast<RankedTensorType>(residual.getType());
  return state.packings.hidden(type.getDimSize(1), Axis::Tp);
}

void Partitioner::settle(Value value, const ResidualTarget &target,
                         const StepCharges &steps, StringRef cause) {
  LocalValues::Placed placed =
      *state.values.lookup(value, value.getDefiningOp());
  Layout layout = *target.layout;
  Emitter emit = emitFor(value.getDefiningOp(), cause);
  LocalCopy copy =
      reshard(emit, state.packings, placed.copies.front(), layout,
              featuresOf(state, value, layout), *placed.space, steps);
  state.values.define(value, {{copy}, placed.space, placed.rowBytes, {}, {}});
}

void Partitioner::settleStart(Value value, StringRef cause) {
  ResidualTarget target = getTarget(value, Layout::R);
  if (!target.beginsLayer)
    return;
  const LocalValues::Placed &placed =
      *state.values.lookup(value, value.getDefiningOp());
  settle(value, target,
         charged(cost::reshardCollectives(placed.copies.front().layout,
                                          *target.layout, target.rows,
                                          placed.rowBytes, state.grid.degrees)),
         cause);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Whether `op` is merely part of a longer sum.
static bool isPartOfSum(AddOp op) {
  return op->hasOneUse() && isa<AddOp>(*op->user_begin()) &&
         op->user_begin()->getBlock() == op->getBlock();
}

/// What the sum adds up, in order.
static void collectSummands(AddOp sum, SmallVectorImpl<Value> &summands) {
  for (Value operand : sum->getOperands()) {
    auto inner = operand.getDefiningOp<AddOp>();
    if (inner && isPartOfSum(inner))
      collectSummands(inner, summands);
    else
      summands.push_back(operand);
  }
}

/// Whether a summand is what a layer adds to its residual.
static bool isBranch(Value summand) {
  Operation *op = summand.getDefiningOp();
  return isa_and_present<ShardableOpInterface>(op) && !isa<NormOpInterface>(op);
}

namespace {

/// The parts of a sum that is being written.
struct Summand {
  LocalCopy copy;
  double rowBytes = 0;
  bool branch = false;
};

} // namespace

/// Puts what a layer adds first, if that is several outputs, of routed and
/// shared experts. Where they lie alike they are added where they are: one
/// reshard of the sum instead of two.
static void arrange(const Emitter &emit, SmallVectorImpl<Summand> &summands) {
  SmallVector<Summand> branches, others;
  for (const Summand &summand : summands)
    (summand.branch ? branches : others).push_back(summand);
  if (branches.size() < 2 || others.empty())
    return;
  const LocalCopy &first = branches.front().copy;
  bool alike = llvm::all_of(branches, [&](const Summand &summand) {
    return summand.copy.layout == first.layout &&
           summand.copy.packing == first.packing && !summand.copy.pending;
  });
  if (!alike) {
    summands = branches;
    summands.append(others);
    return;
  }
  Summand sum = branches.front();
  for (const Summand &next : llvm::drop_begin(branches))
    sum.copy.value = emit.create<AddOp>(sum.copy.value.getType(),
                                        sum.copy.value, next.copy.value);
  summands = others;
  summands.push_back(sum);
}

/// What the model charges for `summand` where a sum goes to `target`, and from
/// the last of `layers` layers to `next`. What is moved in fewer steps on the
/// way to `target` leaves the other charges of the last layer to `left`.
static StepCharges chargeLeaving(const Summand &summand,
                                 const ResidualTarget &target,
                                 const ResidualTarget &next, int64_t layers,
                                 const Degrees &degrees,
                                 SmallVectorImpl<cost::Collective> &left) {
  auto moved = [&](const ResidualTarget &to) {
    return cost::reshardCollectives(summand.copy.layout,
                                    to.layout.value_or(Layout::R), to.rows,
                                    summand.rowBytes, degrees);
  };
  cost::Reshard each = moved(target), last = moved(next);
  for (size_t step = each.size(); step < last.size(); ++step)
    left.push_back(last[step]);
  if (each.empty() || target.isLike(next))
    return charged(each);
  StepCharges steps;
  for (size_t step = 0; step < each.size(); ++step) {
    Charges &charges = steps.emplace_back();
    if (layers > 1) {
      charges = charged(each[step]);
      charges.front().layers = layers - 1;
    }
    charges.append(step < last.size() ? charged(last[step])
                                      : uncharged(each[step].bytes));
    charges.back().cause = next.cause;
  }
  return steps;
}

LogicalResult Partitioner::runOnAdd(AddOp op) {
  if (isPartOfSum(op))
    return success(); // written with the whole sum
  SmallVector<Value> leaves;
  collectSummands(op, leaves);
  auto repeat = dyn_cast<RepeatOp>(op->getParentOp());
  bool endsLayer = repeat && op->getBlock()->getTerminator()->getOperand(0) ==
                                 op.getResult();
  FailureOr<LocalValues::Placed> sum =
      writeSum(op, leaves, op.getResult(), endsLayer ? repeat : RepeatOp());
  if (failed(sum))
    return failure();
  state.values.define(op.getResult(), std::move(*sum));
  return success();
}

FailureOr<LocalValues::Placed> Partitioner::writeSum(Operation *op,
                                                     ArrayRef<Value> leaves,
                                                     Value carrier,
                                                     RepeatOp ended) {
  SmallVector<Summand> summands;
  const RowSpace *space = nullptr;
  for (Value leaf : leaves) {
    const LocalValues::Placed *placed = state.values.lookup(leaf, op);
    if (!placed)
      return failure();
    if (failed(expectSameRows(op, "adds", space, placed->space)))
      return failure();
    space = placed->space;
    summands.push_back(
        {placed->copies.front(), placed->rowBytes, isBranch(leaf)});
  }

  bool hasBranch = llvm::any_of(summands, [](auto &s) { return s.branch; });
  bool inBlocks = llvm::all_of(summands, [&](const Summand &summand) {
    return (hasBranch && !summand.branch) ||
           cost::passThrough(summand.copy.layout) == Layout::T;
  });
  Layout arrives = inBlocks ? Layout::T : Layout::R;
  ResidualTarget target = getTarget(carrier, arrives);
  ResidualTarget next = target;
  int64_t layers = 1;
  if (ended) {
    layers = ended.getCount();
    if (ResidualTarget after = getTarget(ended.getResult(), arrives);
        after.layout)
      next = after;
  }

  Layout layout = target.layout.value_or(Layout::R);
  const Packing *packing = featuresOf(state, carrier, layout);
  Emitter emit = emitFor(op, target.cause.empty() ? op->getName().stripDialect()
                                                  : target.cause);
  arrange(emit, summands);
  LeftLayers left{arrives, {}};
  Value sum;
  for (const Summand &summand : summands) {
    StepCharges steps = chargeLeaving(summand, target, next, layers,
                                      state.grid.degrees, left.counted);
    Value value = reshard(emit, state.packings, summand.copy, layout, packing,
                          *space, steps)
                      .value;
    // What comes after several outputs is the residual, and stands in front.
    bool isResidual = !summand.branch && summands.front().branch;
    if (!sum)
      sum = value;
    else if (isResidual)
      sum = emit.create<AddOp>(sum.getType(), value, sum);
    else
      sum = emit.create<AddOp>(sum.getType(), sum, value);
  }
  LocalValues::Placed placed;
  placed.copies = {{sum, layout, packing, nullptr}};
  placed.space = space;
  placed.rowBytes = state.values.lookup(leaves.front(), op)->rowBytes;
  if (ended && next.layout)
    leftLayers[ended] = left;
  else if (target.isHead)
    placed.left = left;
  return placed;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult Partitioner::runOnRepeat(RepeatOp op) {
  const LocalValues::Placed *init = state.values.lookup(op.getInit(), op);
  if (!init)
    return failure();
  const RowSpace *space = init->space;
  double rowBytes = init->rowBytes;
  ResidualTarget target = getTarget(op.getResidual(), Layout::R);
  Layout anchor = target.layout.value_or(Layout::R);
  const Packing *packing = featuresOf(state, op.getInit(), anchor);
  Emitter emit = emitFor(op, target.cause);
  Value start =
      state.values.get(emit, op.getInit(), anchor, packing, space->cost);
  SmallVector<Value> stacked, invariants;
  if (failed(getComplete(*op, op.getStacked(), stacked)) ||
      failed(getComplete(*op, op.getInvariants(), invariants)))
    return failure();

  SmallVector<Type> results = {start.getType()};
  llvm::append_range(results, op.getStacks().getTypes());
  auto repeat = RepeatOp::create(state.builder, op.getLoc(), results,
                                 op.getCountAttr(), start, stacked, invariants,
                                 op.getLayersAttr(), op.getWindowsAttr());
  state.slices.enterBody(op.getBodyBlock(), repeat);
  LocalValues::Placed residual{
      {{start, anchor, packing, nullptr}}, space, rowBytes, {}, {}};
  if (failed(writeBody(op, repeat, residual)) ||
      failed(state.slices.leaveBody(op, repeat)))
    return failure();

  residual.copies.front().value = repeat.getResult();
  auto left = leftLayers.find(op);
  if (left == leftLayers.end()) {
    state.values.define(op.getResult(), residual);
    return success();
  }
  ResidualTarget next = getTarget(op.getResult(), left->second.layout);
  if (next.isHead)
    residual.left = left->second;
  state.values.define(op.getResult(), residual);
  if (next.beginsLayer) {
    Charges charges = uncharged(0);
    charges.front().counted = left->second.counted;
    settle(op.getResult(), next, {charges}, next.cause);
  }
  return success();
}

/// The body of `local`, in which the residual is placed as `residual`.
LogicalResult Partitioner::writeBody(RepeatOp op, RepeatOp local,
                                     LocalValues::Placed residual) {
  OpBuilder &builder = state.builder;
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types(op.getBody().getArgumentTypes());
  types.front() = local.getInit().getType();
  SmallVector<Location> locs(types.size(), op.getLoc());
  Block *body =
      builder.createBlock(&local.getBody(), local.getBody().end(), types, locs);
  residual.copies.front().value = body->getArgument(0);
  state.values.define(op.getResidual(), residual);
  for (auto [global, inner, outer] : llvm::drop_begin(
           llvm::zip_equal(op.getBody().getArguments(), body->getArguments(),
                           op->getOperands()))) {
    const RowSpace *space = state.rows.getTokens();
    if (state.values.isPlaced(outer))
      space = state.values.lookup(outer, op)->space;
    placeArgument(global, inner, space);
    bool isSlice = global.getType() != outer.getType();
    if (isSlice && state.values.isPlaced(global))
      state.slices.describeRows(inner, global, op, builder);
  }
  return runOnBlock(*op.getBodyBlock());
}

LogicalResult Partitioner::runOnYield(YieldOp op) {
  auto repeat = cast<RepeatOp>(op->getParentOp());
  const LocalValues::Placed *first =
      state.values.lookup(repeat.getResidual(), op);
  const LocalValues::Placed *last = state.values.lookup(op.getOperand(0), op);
  if (!first || !last || failed(expectRows(op, last->space, first->space)))
    return failure();
  LocalCopy residual = first->copies.front();
  Emitter emit = emitFor(op, getTarget(repeat.getResidual(), Layout::R).cause);
  SmallVector<Value> values;
  if (op.getOperand(0).getDefiningOp<AddOp>()) {
    values.push_back(state.values.get(emit, op.getOperand(0), residual.layout,
                                      residual.packing, last->space->cost));
  } else {
    // What one op made leaves the layer as a sum of one does.
    FailureOr<LocalValues::Placed> left =
        writeSum(op, op.getOperand(0), repeat.getResidual(), repeat);
    if (failed(left))
      return failure();
    values.push_back(left->copies.front().value);
  }
  for (Value cache : op.getOperands().drop_front()) {
    Value local = state.values.lookupPlain(cache);
    if (!local) {
      auto diagnostic = op.emitOpError(
          "passes on as a cache what devices have parts of: expected a cache "
          "that an 'llm.attention' or the layer's slice gave");
      diagnostic.attachNote(cache.getLoc()) << "made here";
      return diagnostic;
    }
    values.push_back(local);
  }
  emit.create<YieldOp>(values);
  return success();
}
