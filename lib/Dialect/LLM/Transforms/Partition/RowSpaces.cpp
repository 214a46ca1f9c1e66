//===- RowSpaces.cpp - The rows that values of a program share ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/RowSpaces.h"

#include "shardopt/Dialect/LLM/Transforms/Partition/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

/// The length of a prompt, as the program's ops say: 1 in decode.
static int64_t promptLength(Operation *func) {
  int64_t length = 1;
  func->walk([&](ShardableOpInterface op) {
    length = op.getPromptRows().value_or(length);
  });
  return length;
}

/// The rule of `op`, at its dim, where all activations arrive in `layout`.
static cost::Rule ruleFrom(ShardableOpInterface op, Layout layout,
                           const cost::Context &context) {
  SmallVector<cost::Placement> incoming(op.getActivations().size());
  for (cost::Placement &placement : incoming)
    placement.layout = layout;
  auto model = cast<CostOpInterface>(op.getOperation()).getOpModel();
  return model->rule(*op.getShardingDim(), {incoming.data(), incoming.size()},
                     context);
}

/// Whether devices have some of the rows of `value`, by the dims of the op that
/// makes it and of those before it in its layer.
static bool areRowsCut(Value value, const cost::Context &context) {
  auto op = value.getDefiningOp<ShardableOpInterface>();
  if (!op || !op.getShardingDim())
    return false;
  unsigned number = cast<OpResult>(value).getResultNumber();
  auto leavesCut = [&](Layout arrives) {
    cost::Rule rule = ruleFrom(op, arrives, context);
    return rule.isLegal() && number < rule.results.size() &&
           rule.results[number].placement.layout == Layout::T;
  };
  if (leavesCut(Layout::R))
    return true; // whatever comes
  SmallVector<OpOperand *> operands = op.getActivations();
  return !operands.empty() && leavesCut(Layout::T) &&
         areRowsCut(operands.front()->get(), context);
}

/// Whether an op works on whole prompts of a device, so that blocks must not
/// split one.
static bool needsWholePrompts(Operation *func, const cost::Context &context) {
  if (!context.isPrefill())
    return false;
  bool found = false;
  func->walk([&](ShardableOpInterface op) {
    if (found || !op.mixesRows() || !op.getShardingDim())
      return;
    cost::Rule rule = ruleFrom(op, Layout::T, context);
    found = rule.isLegal() && rule.operands[0].required.layout == Layout::T &&
            areRowsCut(op.getActivations().front()->get(), context);
  });
  return found;
}

/// Rows of a prompt where an op cuts its positions, whatever comes; else 0.
static int64_t dealtLength(Operation *func, const cost::Context &context) {
  if (!context.isPrefill() || context.degrees.cp == 1)
    return 0;
  int64_t length = 0;
  func->walk([&](ShardableOpInterface op) {
    if (length > 0 || !op.mixesRows() || !op.getShardingDim())
      return;
    cost::Rule rule = ruleFrom(op, Layout::R, context);
    if (rule.isLegal() && rule.operands[0].required.layout == Layout::T)
      length = *op.getPromptRows();
  });
  return length;
}

/// The argument whose rows are the program's.
static BlockArgument findRows(Block &body) {
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && (type.getRank() == 1 || type.getRank() == 2) &&
        type.isDynamicDim(0))
      return argument;
  }
  return {};
}

/// The largest of what the replicas have.
static Value largestOf(const Emitter &emit, Value number) {
  if (emit.ranks() == 1)
    return number;
  OpBuilder &builder = emit.getBuilder();
  Type i32 = builder.getI32Type();
  Value narrow = emit.create<arith::IndexCastOp>(i32, number);
  Value all = emit.create<tensor::FromElementsOp>(narrow);
  all = emit.allReduce(all, uncharged(4), /*max=*/true);
  narrow = emit.create<tensor::ExtractOp>(all, emit.getIndex(0));
  return emit.create<arith::IndexCastOp>(builder.getIndexType(), narrow);
}

void RowSpaces::create(const Emitter &emit, Operation *func, Block &body,
                       const cost::Context &context) {
  OpBuilder &builder = emit.getBuilder();
  tokens.name = "tokens";
  tokens.cost = double(context.rows);
  prompts.name = "prompts";
  prompts.cost = double(context.microBatch);
  BlockArgument source = findRows(body);
  if (!source)
    return;
  Location loc = func->getLoc();
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value rows = tensor::DimOp::create(builder, loc, source, index(0));
  tokens.blocks.rows = prompts.blocks.rows = rows;
  int64_t length = promptLength(func);
  if (length > 1)
    prompts.blocks.rows =
        arith::DivUIOp::create(builder, loc, rows, index(length));
  int64_t tp = context.degrees.tp;
  bool gathers = context.degrees.gathers();
  if (tp == 1 && !gathers)
    return;
  prompts.blocks = cutRows(builder, loc, prompts.blocks.rows, tp);
  Value block; // of tokens: blocks of prompts, of positions, or of any rows
  tokens.dealt = dealtLength(func, context);
  if (tokens.dealt > 0)
    block = arith::MulIOp::create(
        builder, loc, arith::DivUIOp::create(builder, loc, rows, index(length)),
        index(tokens.dealtRows(tp)));
  else if (needsWholePrompts(func, context))
    block = arith::MulIOp::create(builder, loc, prompts.blocks.block,
                                  index(length));
  if (gathers)
    block = largestOf(emit.along(Axis::Dp),
                      block ? block : ceilDivide(builder, loc, rows, tp));
  tokens.blocks = cutRows(builder, loc, rows, tp, block);
}

const RowSpace *RowSpaces::addExperts(DispatchOp dispatch, double copies) {
  experts.push_back(std::make_unique<RowSpace>(
      RowSpace{"experts", {}, copies, dispatch, Axis::Etp}));
  return experts.back().get();
}

/// Says where rows of experts were sent.
static void noteDispatch(InFlightDiagnostic &diagnostic, const RowSpace &rows) {
  if (DispatchOp dispatch = rows.dispatch)
    diagnostic.attachNote(dispatch.getLoc())
        << "'" << dispatch.getName() << "' sends these rows to experts";
}

LogicalResult llm::expectRows(Operation *op, const RowSpace *found,
                              const RowSpace *wanted) {
  if (found == wanted)
    return success();
  auto diagnostic = op->emitOpError("reads rows of ")
                    << found->name << ", expected rows of " << wanted->name;
  noteDispatch(diagnostic, *found);
  return diagnostic;
}

LogicalResult llm::expectSameRows(Operation *op, StringRef reads,
                                  const RowSpace *first,
                                  const RowSpace *second) {
  if (!first || first == second)
    return success();
  auto diagnostic = op->emitOpError()
                    << reads << " rows of " << first->name
                    << " and other rows, of " << second->name
                    << ": expected its operands to have the same rows";
  noteDispatch(diagnostic, *first);
  noteDispatch(diagnostic, *second);
  return diagnostic;
}
