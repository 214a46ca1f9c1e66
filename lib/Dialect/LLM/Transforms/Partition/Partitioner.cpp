//===- Partitioner.cpp - Writes the program of one device -===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

#include "shardopt/Dialect/LLM/Transforms/Partition/PartitionInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Axis;
using cost::Layout;

Partitioner::Partitioner(FlatSymbolRefAttr grid, const cost::Context &context,
                         const cost::TimeModel &time,
                         std::optional<double> skew)
    : grid(grid), context(context), time(time), skew(skew),
      builder(grid.getContext()) {}

int64_t Partitioner::getSize(Axis axis) const {
  return groupOf(axis, context.degrees).size;
}

Layout Partitioner::getRequired(unsigned index) const {
  return rule.operands[index].required.layout;
}

Layout Partitioner::getResultLayout(unsigned index) const {
  return rule.results[index].placement.layout;
}

double Partitioner::getOwnBytes(unsigned index) const {
  return cost.collectives[index].bytes;
}

Value Partitioner::getIndex(int64_t value) {
  return create<arith::ConstantIndexOp>(value).getResult();
}

Value Partitioner::getOffset(int64_t scale) {
  if (tp() == 1)
    return getIndex(0);
  return getOffset(getIndex(scale));
}

Value Partitioner::getOffset(Value scale) {
  return create<arith::MulIOp>(coordinate, scale).getResult();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Width of a row times bytes of an element.
static double rowBytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getShape().back() * type.getElementTypeBitWidth() / 8.0;
}

Value Partitioner::getPlain(Value global) const {
  Value local = plain.lookup(global);
  assert(local && "defined before use");
  return local;
}

ArrayRef<LocalCopy> Partitioner::getCopies(Value global) const {
  auto it = placed.find(global);
  assert(it != placed.end() && "defined before use");
  return it->second.copies;
}

const RowSpace *Partitioner::getRowSpace(Value global) const {
  return placed.find(global)->second.space;
}

double Partitioner::getRowBytes(Value global) const {
  return placed.find(global)->second.rowBytes;
}

const Packing *Partitioner::getContracted(Value global,
                                          const Packing *otherwise) {
  for (const LocalCopy &copy : getCopies(global))
    if (copy.layout == Layout::H)
      return copy.packing;
  return otherwise;
}

Value Partitioner::get(Value global, Layout layout, const Packing *packing) {
  Placed &value = placed.find(global)->second;
  auto serves = [&](const LocalCopy &copy) {
    return copy.layout == layout && !copy.pending &&
           (layout != Layout::H || copy.packing == packing);
  };
  for (const LocalCopy &copy : value.copies)
    if (serves(copy))
      return copy.value;

  auto price = [&](const LocalCopy &copy) {
    return time.reshard(copy.layout, layout, value.space->cost, value.rowBytes,
                        context.degrees);
  };
  const LocalCopy *cheapest = &value.copies.front();
  for (const LocalCopy &copy : value.copies)
    if (price(copy) < price(*cheapest))
      cheapest = &copy;
  LocalCopy copy =
      reshard(*cheapest, layout, packing, value.space, value.rowBytes);
  value.copies.push_back(copy);
  if (value.root)
    placed.find(value.root)->second.copies.push_back(copy);
  return copy.value;
}

Value Partitioner::getComplete(Value global) {
  if (placed.count(global))
    return get(global, Layout::R);
  if (auto it = routing.find(global); it != routing.end())
    return it->second.complete;
  if (auto param = global.getDefiningOp<ParamOp>()) {
    auto type = cast<RankedTensorType>(param.getType());
    return slice(global, SmallVector<Cut>(type.getRank()));
  }
  if (Value local = plain.lookup(global))
    return local;
  auto diagnostic = current->emitOpError(
      "uses counts or origins of a dispatch: expected only experts and "
      "'llm.combine' to, for they differ from device to device");
  diagnostic.attachNote(global.getLoc()) << "dispatched here";
  return {};
}

LogicalResult Partitioner::getComplete(ValueRange globals,
                                       SmallVectorImpl<Value> &locals) {
  for (Value global : globals) {
    Value local = getComplete(global);
    if (!local)
      return failure();
    locals.push_back(local);
  }
  return success();
}

/// Where a value of the source program ended up, for those who compare the two.
void Partitioner::markValue(const LocalCopy &copy, Value global,
                            const RowSpace *space) {
  auto result = dyn_cast<OpResult>(global);
  auto op = dyn_cast<ShardableOpInterface>(current);
  Operation *maker = copy.value.getDefiningOp();
  // A raw projection whose activation follows is no value of the source
  // program.
  if (!op || !maker || !result || result.getResultNumber() != 0 || copy.pending)
    return;
  SmallVector<NamedAttribute> fields = {
      {"op", builder.getStringAttr(op.getShardingName())},
      {"layout", builder.getStringAttr(Twine(cost::letter(copy.layout)))},
      {"rows", builder.getStringAttr(space->name)}};
  if (copy.packing) {
    fields.emplace_back(builder.getNamedAttr(
        "order", builder.getStringAttr(copy.packing->getOrder())));
    fields.emplace_back(
        builder.getNamedAttr("columns", describeRuns(copy.packing)));
  }
  maker->setAttr("shardopt.value", builder.getDictionaryAttr(fields));
}

void Partitioner::define(Value global, LocalCopy copy, const RowSpace *space,
                         double rowBytes) {
  markValue(copy, global, space);
  placed[global] = {{copy}, space, rowBytes, {}};
}

void Partitioner::defineResult(OpResult global, Value local, Value like,
                               const Packing *packing, ActivationAttr pending) {
  const cost::Placement &placement =
      rule.results[global.getResultNumber()].placement;
  if (placement.layout != Layout::H)
    packing = nullptr;
  define(global, {local, placement.layout, packing, pending}, getRowSpace(like),
         placement.rowBytes);
}

void Partitioner::definePassed(OpResult global, Value passed) {
  Layout layout = getResultLayout(global.getResultNumber());
  Placed source = placed.find(passed)->second;
  for (const LocalCopy &copy : source.copies)
    if (copy.layout == layout) {
      source.copies = {copy};
      break;
    }
  source.root = passed;
  placed[global] = source;
}

void Partitioner::definePlain(Value global, Value local) {
  plain[global] = local;
}

void Partitioner::defineCache(Value global, Value local, Value cache) {
  plain[global] = local;
  if (DictionaryAttr slice = slices.lookup(plain.lookup(cache)))
    slices[local] = slice;
}

//===----------------------------------------------------------------------===//
// Row spaces
//===----------------------------------------------------------------------===//

/// ceil(value / divisor), for non-negative values.
static Value ceilDivide(OpBuilder &builder, Location loc, Value value,
                        int64_t divisor) {
  if (divisor == 1)
    return value;
  Value less = arith::ConstantIndexOp::create(builder, loc, divisor - 1);
  Value by = arith::ConstantIndexOp::create(builder, loc, divisor);
  Value sum = arith::AddIOp::create(builder, loc, value, less);
  return arith::DivUIOp::create(builder, loc, sum, by);
}

/// Padding that makes blocks whole.
static Value padding(OpBuilder &builder, Location loc, Value rows, Value block,
                     int64_t ranks) {
  Value by = arith::ConstantIndexOp::create(builder, loc, ranks);
  Value all = arith::MulIOp::create(builder, loc, block, by);
  return arith::SubIOp::create(builder, loc, all, rows);
}

/// The length of a prompt, as the program's attention says: 1 in decode.
static int64_t promptLength(Operation *func) {
  int64_t length = 1;
  func->walk([&](AttentionOp op) { length = op.getSequence(); });
  func->walk([&](LmHeadOp op) { length = op.getSequence(); });
  return length;
}

/// Whether rows stay cut from an attention's norm on.
static bool keepsRows(Value value) {
  Operation *op = value.getDefiningOp();
  auto shardable = dyn_cast_or_null<ShardableOpInterface>(op);
  if (!shardable || !shardable.getShardingDim())
    return false;
  if (isa<RmsNormOp>(op))
    return *shardable.getShardingDim() == Dim::Zero;
  return isa<QkvProjOp, LinearOp>(op) &&
         *shardable.getShardingDim() == Dim::None &&
         keepsRows(op->getOperand(0));
}

/// Whether an attention works on whole prompts of a device, so that blocks must
/// not split one.
static bool hasAttentionInBlocks(Operation *func,
                                 const cost::Context &context) {
  if (!context.isPrefill() || context.microBatch % context.degrees.tp != 0)
    return false;
  bool found = false;
  func->walk([&](AttentionOp op) {
    found |= op.getShardingDim() == Dim::None && keepsRows(op.getInput());
  });
  return found;
}

/// Values that depend on the number of rows alone; at the entry of the body.
void Partitioner::makeRowSpaces(Block &body) {
  tokens = {"tokens", {}, {}, {}, static_cast<double>(context.rows)};
  prompts = {"prompts", {}, {}, {}, static_cast<double>(context.microBatch)};
  experts = {"experts", {}, {}, {}, 0};
  Location loc = getLoc();
  if (tp() > 1)
    coordinate = shard::ProcessMultiIndexOp::create(
                     builder, loc, TypeRange{builder.getIndexType()}, grid,
                     builder.getDenseI16ArrayAttr({int16_t(GridAxis::Tp)}))
                     ->getResult(0);
  BlockArgument source;
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() > 2 || type.getRank() < 1 ||
        !type.isDynamicDim(0))
      continue;
    source = argument;
    break;
  }
  if (!source)
    return;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  tokens.rows = tensor::DimOp::create(builder, loc, source, zero);
  int64_t length = promptLength(current);
  prompts.rows = tokens.rows;
  if (length > 1)
    prompts.rows = arith::DivUIOp::create(
        builder, loc, tokens.rows,
        arith::ConstantIndexOp::create(builder, loc, length));
  if (tp() == 1)
    return;
  prompts.block = ceilDivide(builder, loc, prompts.rows, tp());
  prompts.padding = padding(builder, loc, prompts.rows, prompts.block, tp());
  if (hasAttentionInBlocks(current, context))
    tokens.block = arith::MulIOp::create(
        builder, loc, prompts.block,
        arith::ConstantIndexOp::create(builder, loc, length));
  else
    tokens.block = ceilDivide(builder, loc, tokens.rows, tp());
  tokens.padding = padding(builder, loc, tokens.rows, tokens.block, tp());
}

const RowSpace *Partitioner::getPrompts(int64_t sequence) {
  return sequence == 1 ? &tokens : &prompts;
}

const RowSpace *Partitioner::getExpertRows() {
  experts.cost = context.routing.copies;
  return &experts;
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
        (isa<RepeatOp>(user) && use.getOperandNumber() == 0))
      return true;
  }
  return false;
}

void Partitioner::placeArgument(BlockArgument global, BlockArgument local) {
  if (isActivation(global))
    define(global, {local}, &tokens, rowBytesOf(global));
  else
    definePlain(global, local);
}

LogicalResult Partitioner::run(FunctionOpInterface func) {
  current = func;
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
  Block *body =
      builder.createBlock(&region, region.end(), old.getArgumentTypes(), locs);
  makeRowSpaces(*body);
  Operation *lastOfEntry = body->empty() ? nullptr : &body->back();
  for (auto [global, local] :
       llvm::zip_equal(old.getArguments(), body->getArguments()))
    placeArgument(global, local);
  if (failed(runOnBlock(old))) {
    body->erase();
    return failure();
  }
  describeArguments(func, *body);
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

/// The signature follows the body; arguments and results say what they are
/// slices of.
void Partitioner::describeArguments(FunctionOpInterface func, Block &body) {
  Operation *terminator = body.getTerminator();
  func.setType(func.cloneTypeWith(body.getArgumentTypes(),
                                  terminator->getOperandTypes()));
  auto rowsOnly = [&](StringRef name, Type type) -> DictionaryAttr {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() == 0 || !tensor.isDynamicDim(0))
      return {};
    SmallVector<Cut> cuts(tensor.getRank());
    cuts.front() = overRows(Layout::R);
    return describeSlice(name, tensor, cuts);
  };
  for (BlockArgument argument : body.getArguments()) {
    DictionaryAttr slice = slices.lookup(argument);
    if (!slice)
      slice = rowsOnly("arg" + std::to_string(argument.getArgNumber()),
                       argument.getType());
    if (slice)
      func.setArgAttr(argument.getArgNumber(), "shardopt.slice", slice);
  }
  for (OpOperand &result : terminator->getOpOperands()) {
    DictionaryAttr slice = slices.lookup(result.get());
    if (!slice)
      slice = rowsOnly("result" + std::to_string(result.getOperandNumber()),
                       result.get().getType());
    if (slice)
      func.setResultAttr(result.getOperandNumber(), "shardopt.slice", slice);
  }
}

LogicalResult Partitioner::runOnBlock(Block &block) {
  for (Operation &op : block)
    if (failed(runOnOp(op)))
      return failure();
  return success();
}

LogicalResult Partitioner::runOnOp(Operation &op) {
  current = &op;
  if (isa<ParamOp>(op)) // written beside its user, with the slice it needs
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

LogicalResult Partitioner::runOnShardable(ShardableOpInterface op) {
  std::optional<Dim> dim = op.getShardingDim();
  if (!dim)
    return op.emitOpError("has no 'sharding': expected a dim for every op "
                          "before collectives are inserted");
  if (auto dispatch = dyn_cast<DispatchOp>(op.getOperation()))
    context.routing = cost::makeRouting(
        dispatch.getExperts(),
        cast<RankedTensorType>(dispatch.getIndices().getType()).getDimSize(1),
        context.rows, context.degrees.ep, skew);
  SmallVector<cost::Placement> incoming;
  for (OpOperand *operand : op.getActivations()) {
    const LocalCopy &copy = getCopies(operand->get()).front();
    incoming.push_back({copy.layout, getRowBytes(operand->get())});
  }
  auto model = cast<CostOpInterface>(op.getOperation()).getOpModel();
  rule = model->rule(*dim, incoming, context);
  if (!rule.isLegal()) {
    auto diagnostic = op.emitOpError("sharding dim ")
                      << static_cast<int>(*dim)
                      << " is illegal here: " << rule.illegal;
    return diagnostic;
  }
  cost = model->cost(*dim, incoming, context);
  auto partitionable = dyn_cast<PartitionOpInterface>(op.getOperation());
  if (!partitionable)
    return op.emitOpError("cannot be partitioned: it has no model of "
                          "'PartitionOpInterface'");
  return partitionable.partition(*this);
}

/// The dim that a norm or a head anchors its operand with.
static Layout anchorOf(Dim dim, Layout zero, Layout one, Layout none) {
  return dim == Dim::Zero ? zero : dim == Dim::One ? one : none;
}

/// Whether every summand, but for the residual of a norm, lies in T.
static bool liesInBlocks(const Partitioner &partitioner, Value value) {
  auto add = value.getDefiningOp<AddOp>();
  if (!add)
    return partitioner.getCopies(value).front().layout == Layout::T;
  return llvm::all_of(add->getOperands(), [&](Value summand) {
    bool isResidual = summand.getDefiningOp<RmsNormOp>() != nullptr;
    return isResidual || liesInBlocks(partitioner, summand);
  });
}

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

/// The op for which `value` is made: its first user, or, where that merely adds
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

Layout Partitioner::getTarget(Value value) {
  Operation *consumer = consumerOf(value);
  if (!consumer)
    return Layout::R;
  if (auto norm = dyn_cast<RmsNormOp>(consumer))
    return anchorOf(norm.getShardingDim().value_or(Dim::None), Layout::T,
                    Layout::H, Layout::R);
  if (auto head = dyn_cast<LmHeadOp>(consumer)) {
    bool blocks = value.getDefiningOp<AddOp>() && liesInBlocks(*this, value);
    return anchorOf(head.getShardingDim().value_or(Dim::None), Layout::H,
                    Layout::R, blocks ? Layout::T : Layout::R);
  }
  return Layout::R;
}

/// Sums and repeats reshard for the op that reads what comes of them.
StringRef Partitioner::getCause() {
  Operation *op = current;
  Value carried;
  if (auto add = dyn_cast<AddOp>(op))
    carried = add.getResult();
  else if (auto repeat = dyn_cast<RepeatOp>(op))
    carried = repeat.getResidual();
  else if (auto yield = dyn_cast<YieldOp>(op))
    carried = cast<RepeatOp>(yield->getParentOp()).getResidual();
  if (Operation *consumer = carried ? consumerOf(carried) : nullptr)
    op = consumer;
  if (auto shardable = dyn_cast<ShardableOpInterface>(op))
    return shardable.getShardingName();
  return op->getName().stripDialect();
}

/// The residual is added in the layout of the next norm. A sum that is itself
/// added, of routed and shared experts, is done where its summands are when
/// they are alike: one reshard of the sum instead of two.
LogicalResult Partitioner::runOnAdd(AddOp op) {
  const LocalCopy &left = getCopies(op.getLhs()).front();
  const LocalCopy &right = getCopies(op.getRhs()).front();
  Layout layout = getTarget(op.getResult());
  const Packing *packing = nullptr;
  bool isSummand = llvm::any_of(op.getResult().getUsers(), [](Operation *user) {
    return isa<AddOp>(user);
  });
  bool alike = left.layout == right.layout && left.packing == right.packing &&
               !left.pending && !right.pending;
  if (isSummand && alike) {
    layout = left.layout;
    packing = left.packing;
  } else if (layout == Layout::H) {
    auto type = cast<RankedTensorType>(op.getType());
    packing = packings.blocks(type.getDimSize(1), tp());
  }
  Value lhs = get(op.getLhs(), layout, packing);
  Value rhs = get(op.getRhs(), layout, packing);
  Value sum = create<AddOp>(lhs.getType(), lhs, rhs);
  define(op.getResult(), {sum, layout, packing}, getRowSpace(op.getLhs()),
         getRowBytes(op.getLhs()));
  return success();
}

LogicalResult Partitioner::runOnRepeat(RepeatOp op) {
  Layout anchor = getTarget(op.getResidual());
  const Packing *packing = nullptr;
  if (anchor == Layout::H) {
    auto type = cast<RankedTensorType>(op.getInit().getType());
    packing = packings.blocks(type.getDimSize(1), tp());
  }
  Value init = get(op.getInit(), anchor, packing);
  SmallVector<Value> stacked, invariants;
  if (failed(getComplete(op.getStacked(), stacked)) ||
      failed(getComplete(op.getInvariants(), invariants)))
    return failure();

  SmallVector<Type> results = {init.getType()};
  llvm::append_range(results, op.getStacks().getTypes());
  auto repeat = create<RepeatOp>(results, op.getCountAttr(), init, stacked,
                                 invariants, op.getWindowsAttr());
  repeats[op.getBodyBlock()] = repeat;
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Type> types(op.getBody().getArgumentTypes());
    types.front() = init.getType();
    SmallVector<Location> locs(types.size(), op.getLoc());
    Block *body = builder.createBlock(&repeat.getBody(), repeat.getBody().end(),
                                      types, locs);
    define(op.getResidual(), {body->getArgument(0), anchor, packing}, &tokens,
           getRowBytes(op.getInit()));
    for (auto [global, local] : llvm::drop_begin(llvm::zip_equal(
             op.getBody().getArguments(), body->getArguments())))
      definePlain(global, local);
    if (failed(runOnBlock(*op.getBodyBlock())))
      return failure();
  }
  current = op;
  if (failed(propagateSlices(op, repeat)))
    return failure();
  define(op.getResult(), {repeat.getResult(), anchor, packing}, &tokens,
         getRowBytes(op.getInit()));
  return success();
}

/// A slice that the body made of an argument is one of the stacked operand too,
/// with the layers in front.
LogicalResult Partitioner::propagateSlices(RepeatOp from, RepeatOp to) {
  for (auto [index, inner] : llvm::enumerate(to.getSlices())) {
    Value outer = to.getStacked()[index];
    DictionaryAttr slice = slices.lookup(inner);
    if (!slice)
      continue;
    auto argument = dyn_cast<BlockArgument>(from.getStacked()[index]);
    if (!argument)
      return from.emitOpError("stacked operand #")
             << index << " is computed: expected an argument, which can be "
             << "sliced";
    auto global = cast<RankedTensorType>(argument.getType());
    auto innerType = cast<RankedTensorType>(inner.getType());
    SmallVector<int64_t> shape = {global.getDimSize(0)};
    llvm::append_range(shape, innerType.getShape());
    outer.setType(innerType.clone(shape));

    SmallVector<Attribute> dims = {builder.getDictionaryAttr({})};
    llvm::append_range(dims, slice.getAs<ArrayAttr>("dims"));
    SmallVector<int64_t> sizes;
    for (int64_t size : global.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
    std::string name = "arg" + std::to_string(argument.getArgNumber());
    slices[outer] = builder.getDictionaryAttr(
        {builder.getNamedAttr("name", builder.getStringAttr(name)),
         builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(sizes)),
         builder.getNamedAttr("dims", builder.getArrayAttr(dims))});
  }
  for (auto [global, local, outer] :
       llvm::zip(from.getStacks(), to.getStacks(), to.getStacked())) {
    local.setType(outer.getType());
    definePlain(global, local);
    if (DictionaryAttr slice = slices.lookup(outer))
      slices[local] = slice;
  }
  return success();
}

LogicalResult Partitioner::runOnYield(YieldOp op) {
  auto repeat = cast<RepeatOp>(op->getParentOp());
  const LocalCopy &residual = getCopies(repeat.getResidual()).front();
  SmallVector<Value> values = {
      get(op.getOperand(0), residual.layout, residual.packing)};
  for (Value cache : op.getOperands().drop_front())
    values.push_back(getPlain(cache));
  create<YieldOp>(values);
  return success();
}

LogicalResult Partitioner::runOnReturn(Operation &op) {
  SmallVector<Value> values;
  if (failed(getComplete(op.getOperands(), values)))
    return failure();
  Operation *terminator = builder.clone(op);
  terminator->setOperands(values);
  return success();
}

/// Ops of other dialects work on complete values.
LogicalResult Partitioner::runOnOther(Operation &op) {
  if (op.getNumRegions() > 0)
    return op.emitOpError("cannot be partitioned: only 'llm' ops may have "
                          "regions in a program that is sharded");
  SmallVector<Value> operands;
  if (failed(getComplete(op.getOperands(), operands)))
    return failure();
  Operation *copy = builder.clone(op);
  copy->setOperands(operands);
  for (auto [global, local] :
       llvm::zip_equal(op.getResults(), copy->getResults())) {
    auto type = dyn_cast<RankedTensorType>(global.getType());
    bool isRows = type && type.getRank() == 2 && type.isDynamicDim(0) &&
                  isa<FloatType>(type.getElementType());
    if (isRows)
      define(global, {local}, &tokens, rowBytesOf(global));
    else
      definePlain(global, local);
  }
  return success();
}
