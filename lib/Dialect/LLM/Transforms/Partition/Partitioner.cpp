//===- Partitioner.cpp - Writes the per-rank program ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

#include "ResidualTarget.h"

#include "shardopt/Dialect/LLM/Transforms/Partition/PartitionInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

Partitioner::Partitioner(FlatSymbolRefAttr grid, const cost::Workload &workload,
                         const Degrees &degrees, const cost::TimeModel &time,
                         std::optional<double> skew)
    : workload(workload), skew(skew),
      context(cost::makeContext(workload, degrees)),
      state(grid.getContext(),
            {grid, degrees, ProgramGrid(degrees), &time, {}}) {}

/// Whether values are rows of features, which devices may have parts of.
static bool isRows(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2 && tensor.isDynamicDim(0) &&
         !tensor.isDynamicDim(1) && isa<FloatType>(tensor.getElementType());
}

/// Width of a row times bytes of an element.
static double rowBytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return double(type.getShape().back()) * type.getElementTypeBitWidth() / 8;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Whether an argument is an activation: something places it.
static bool isActivation(BlockArgument argument) {
  for (OpOperand &use : argument.getUses()) {
    Operation *user = use.getOwner();
    if (auto op = dyn_cast<ShardableOpInterface>(user))
      if (llvm::is_contained(op.getActivations(), &use))
        return true;
    if (isa<AddOp>(user) ||
        (isa<RepeatOp, YieldOp>(user) && use.getOperandNumber() == 0))
      return true;
    if (auto repeat = dyn_cast<RepeatOp>(user);
        repeat && isa<RankedTensorType>(argument.getType())) {
      // The slice or the invariant that it is inside, if it has this type.
      BlockArgument inner =
          repeat.getBody().getArgument(use.getOperandNumber());
      if (inner.getType() == argument.getType() && isActivation(inner))
        return true;
    }
  }
  return false;
}

void Partitioner::placeArgument(BlockArgument global, BlockArgument local,
                                const RowSpace *space) {
  if (isActivation(global))
    state.values.define(global, {{{local}}, space, rowBytesOf(global), {}, {}});
  else
    state.values.definePlain(global, local);
}

void Partitioner::placeDevices(Location loc) {
  OpBuilder &builder = state.builder;
  DeviceGrid &grid = state.grid;
  SmallVector<Axis> wanted = {Axis::Tp};
  if (grid.degrees.gathers())
    wanted.push_back(Axis::Ep);
  if (grid.degrees.cp > 1)
    wanted.push_back(Axis::Cp);
  for (Axis axis : wanted) {
    if (grid.size(axis) == 1)
      continue;
    std::vector<int16_t> axes = grid.axes.axes(axis);
    auto places = shard::ProcessMultiIndexOp::create(
        builder, loc, SmallVector<Type>(axes.size(), builder.getIndexType()),
        grid.symbol, builder.getDenseI16ArrayAttr(axes));
    Value &coordinate = grid.coordinates[axis];
    coordinate = places->getResult(0);
    for (size_t i = 1; i < axes.size(); ++i) {
      Value size = arith::ConstantIndexOp::create(builder, loc,
                                                  grid.axes.shape()[axes[i]]);
      coordinate = arith::MulIOp::create(builder, loc, coordinate, size);
      coordinate =
          arith::AddIOp::create(builder, loc, coordinate, places->getResult(i));
    }
  }
}

LogicalResult Partitioner::run(FunctionOpInterface func) {
  Region &region = func.getFunctionBody();
  if (region.empty())
    return success();
  if (!region.hasOneBlock())
    return func.emitOpError("cannot be partitioned: expected one block, found ")
           << region.getBlocks().size();
  Block &old = region.front();
  SmallVector<Location> locs;
  for (BlockArgument argument : old.getArguments())
    locs.push_back(argument.getLoc());
  OpBuilder &builder = state.builder;
  Block *body =
      builder.createBlock(&region, region.end(), old.getArgumentTypes(), locs);
  placeDevices(func.getLoc());
  state.rows.create(emitFor(func, "rows"), func, *body, context);
  Operation *lastOfEntry = body->empty() ? nullptr : &body->back();
  for (auto [global, local] :
       llvm::zip_equal(old.getArguments(), body->getArguments()))
    placeArgument(global, local, state.rows.getTokens());
  if (failed(runOnBlock(old)) ||
      failed(state.slices.describeSignature(func, *body, builder))) {
    body->erase();
    return failure();
  }
  old.erase();
  // What nothing asked for at the entry.
  for (Operation *op = lastOfEntry; op;) {
    Operation *previous = op->getPrevNode();
    if (isOpTriviallyDead(op))
      op->erase();
    op = previous;
  }
  return success();
}

LogicalResult Partitioner::runOnBlock(Block &block) {
  for (Operation &op : block)
    if (failed(runOnOp(op)))
      return failure();
  return success();
}

LogicalResult Partitioner::runOnOp(Operation &op) {
  if (isa<ParamOp>(op)) // written next to its user, with the slice it needs
    return success();
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return runOnRepeat(repeat);
  if (auto add = dyn_cast<AddOp>(op))
    return runOnAdd(add);
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    return runOnShardable(shardable);
  if (auto yield = dyn_cast<YieldOp>(op))
    return runOnYield(yield);
  if (op.hasTrait<OpTrait::IsTerminator>())
    return runOnReturn(op);
  return runOnOther(op);
}

//===----------------------------------------------------------------------===//
// Ops with a dim
//===----------------------------------------------------------------------===//

/// The window of each layer that `op` stands for: how many iterations, and
/// which.
static SmallVector<std::pair<int64_t, int64_t>, 1>
windowsOf(ShardableOpInterface op) {
  int64_t own = op.getLayerFacts().window;
  auto repeat = dyn_cast<RepeatOp>(op->getParentOp());
  if (!repeat || !repeat.getWindows())
    return {{1, own}};
  ArrayRef<int64_t> windows = *repeat.getWindows();
  SmallVector<std::pair<int64_t, int64_t>, 1> runs;
  for (int64_t window : windows)
    if (!runs.empty() && runs.back().second == window)
      ++runs.back().first;
    else
      runs.emplace_back(1, window);
  return runs;
}

/// What an op reads of its layer: the experts that it sends rows to itself, or
/// those of rows of `space`.
static cost::LayerFacts factsOf(ShardableOpInterface op, const RowSpace *space,
                                int64_t window) {
  cost::LayerFacts facts = op.getLayerFacts();
  if (facts.experts == 0 && space && space->dispatch) {
    DispatchOp dispatch = space->dispatch;
    facts = dispatch.getLayerFacts();
  }
  facts.window = window;
  return facts;
}

/// The name of a dim as it is annotated.
static std::string spellDim(Dim dim) {
  return dim == Dim::None ? "none" : std::to_string(int(dim));
}

LogicalResult Partitioner::runOnShardable(ShardableOpInterface op) {
  std::optional<Dim> dim = op.getShardingDim();
  if (!dim)
    return op.emitOpError("has no 'sharding': expected a dim for every op "
                          "before collectives are inserted");
  SmallVector<cost::Placement> incoming;
  const RowSpace *space = nullptr;
  for (OpOperand *operand : op.getActivations()) {
    const LocalValues::Placed *placed = state.values.lookup(operand->get(), op);
    if (!placed)
      return failure();
    if (failed(expectSameRows(op, "reads", space, placed->space)))
      return failure();
    space = placed->space;
    cost::Placement placement;
    placement.layout =
        placed->left ? placed->left->layout : placed->copies.front().layout;
    placement.rowBytes = placed->rowBytes;
    placement.over = placed->space->over;
    incoming.push_back(placement);
  }

  SmallVector<std::pair<int64_t, int64_t>, 1> windows = windowsOf(op);
  cost::LayerFacts facts = factsOf(op, space, windows.front().second);
  cost::Context here =
      cost::makeContext(workload, state.grid.degrees, facts, skew);
  auto model = cast<CostOpInterface>(op.getOperation()).getOpModel();
  Span<const cost::Placement> operands(incoming.data(), incoming.size());
  cost::Rule rule = model->rule(*dim, operands, here);
  if (!rule.isLegal()) {
    auto diagnostic = op.emitOpError("sharding dim ")
                      << spellDim(*dim) << " is illegal here: " << rule.illegal;
    Diagnostic &note =
        diagnostic.attachNote(op->getParentOfType<ModuleOp>().getLoc());
    note << "the strategy of the module has";
    visitWritten(state.grid.degrees, [&](Degree degree, int64_t value) {
      note << ' ' << spell(degree) << ' ' << spell(degree, value);
    });
    return diagnostic;
  }
  auto partitionable = dyn_cast<PartitionOpInterface>(op.getOperation());
  if (!partitionable)
    return op.emitOpError("cannot be partitioned: it has no model of "
                          "'PartitionOpInterface'");
  SmallVector<LayerCost, 1> costs = {
      {windows.front().first, model->cost(*dim, operands, here)}};
  if (model->dependsOnWindow())
    for (auto [layers, window] : llvm::drop_begin(windows)) {
      facts.window = window;
      cost::Context there =
          cost::makeContext(workload, state.grid.degrees, facts, skew);
      costs.push_back({layers, model->cost(*dim, operands, there)});
    }
  OpPartition partition(state, op, here, rule, std::move(costs),
                        space ? space->over : Axis::Tp);
  if (failed(partitionable.partition(partition)) ||
      failed(partition.checkOwn()))
    return failure();
  if (incoming.empty()) // an embedding
    settleStart(op->getResult(0), op.getShardingName());
  return success();
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

LogicalResult Partitioner::getComplete(Operation &op, ValueRange globals,
                                       SmallVectorImpl<Value> &locals) {
  Emitter emit = emitFor(&op, op.getName().stripDialect());
  for (Value global : globals) {
    Value local = llm::getComplete(state, emit, global, &op);
    if (!local)
      return failure();
    locals.push_back(local);
  }
  return success();
}

LogicalResult Partitioner::runOnReturn(Operation &op) {
  SmallVector<Value> values;
  if (failed(getComplete(op, op.getOperands(), values)))
    return failure();
  Operation *terminator = state.builder.clone(op);
  terminator->setOperands(values);
  return success();
}

/// Rows are divided over devices, so their number is no constant of a program.
static LogicalResult checkCast(Operation &op) {
  if (!isa<CastOpInterface>(op) || op.getNumOperands() != 1)
    return success();
  auto from = dyn_cast<RankedTensorType>(op.getOperand(0).getType());
  auto to = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  if (!from || !to || from.getRank() == 0 || from.getRank() != to.getRank() ||
      from.isDynamicDim(0) == to.isDynamicDim(0))
    return success();
  return op.emitOpError("says how many rows there are: expected a dynamic "
                        "number, which the strategy divides over devices and "
                        "micro-batches");
}

/// Ops of other dialects work on complete values.
LogicalResult Partitioner::runOnOther(Operation &op) {
  if (op.getNumRegions() > 0)
    return op.emitOpError("cannot be partitioned: only 'llm' ops may have "
                          "regions in a program that is sharded");
  if (failed(checkCast(op)))
    return failure();
  const RowSpace *space = nullptr;
  for (Value operand : op.getOperands()) {
    if (!state.values.isPlaced(operand))
      continue;
    const RowSpace *rows = state.values.lookup(operand, &op)->space;
    if (failed(expectSameRows(&op, "reads", space, rows)))
      return failure();
    space = rows;
  }
  SmallVector<Value> operands;
  if (failed(getComplete(op, op.getOperands(), operands)))
    return failure();
  for (auto [global, local] : llvm::zip_equal(op.getOperands(), operands))
    if (failed(state.slices.expectWhole(global, local, &op)))
      return failure();
  Operation *copy = state.builder.clone(op);
  copy->setOperands(operands);
  for (auto [global, local] :
       llvm::zip_equal(op.getResults(), copy->getResults()))
    if (isRows(global.getType()))
      state.values.define(global, {{{local}},
                                   space ? space : state.rows.getTokens(),
                                   rowBytesOf(global),
                                   {},
                                   {}});
    else
      state.values.definePlain(global, local);
  return success();
}
