//===- LinalgGraph.cpp - Linalg functions as selection problems -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgGraph.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

/// Combinations of an edge beyond which its readers are charged apart.
static constexpr uint64_t mostCombinations = 1 << 14;

static int64_t picoseconds(double seconds) {
  return std::llround(seconds * 1e12);
}

bool graphs::isFree(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (isa<tensor::EmptyOp, linalg::FillOp>(op) ||
                op->hasTrait<OpTrait::ConstantLike>());
}

static bool isTensor(Value value) { return isa<TensorType>(value.getType()); }

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The dim of a tensor that follows loop `loop`; -1: none.
static ShardedDim dimOfLoop(AffineMap map, unsigned loop) {
  for (auto [dim, result] : llvm::enumerate(map.getResults()))
    if (auto place = dyn_cast<AffineDimExpr>(result);
        place && place.getPosition() == loop)
      return ShardedDim(dim);
  return -1;
}

/// Arithmetic of an element: all of the body but constants and the yield.
static double countArithmetic(linalg::LinalgOp op) {
  double count = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    count += !inner.hasTrait<OpTrait::ConstantLike>();
  return count;
}

LinalgGraph::LinalgGraph(
    func::FuncOp func, const cost::TimeModel &time, int64_t devices,
    llvm::function_ref<void(Operation *, StringRef)> remark)
    : time(time), devices(devices) {
  for (BlockArgument argument : func.getArguments())
    if (isTensor(argument))
      addArgument(func, argument);
  for (Operation &op : func.getBody().front()) {
    if (op.hasTrait<OpTrait::ReturnLike>())
      addReturn(func, op);
    else if (llvm::any_of(op.getResults(), [](Value value) {
               return isTensor(value) && !isFree(value);
             }))
      addOp(op, remark);
  }
  for (size_t i = 0; i < all.size(); ++i)
    for (auto [slot, operand] : llvm::enumerate(all[i].reads))
      readersOf[operand->get()].push_back({i, slot});
}

double LinalgGraph::bytesOf(Value value, ShardedDim dim) const {
  RankedTensorType type = typeOf(value);
  const double bytes =
      double(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
  return dim < 0 ? bytes : bytes / double(devices);
}

double LinalgGraph::collective(cost::CollectiveKind kind, double bytes) const {
  cost::Collective collective;
  collective.kind = kind;
  collective.bytes = bytes;
  return time.seconds(collective, Degrees(devices, 1, 1, 1));
}

double LinalgGraph::reshard(Value value, ShardedDim from, ShardedDim to) const {
  if (from == to || from < 0)
    return 0; // a slice
  if (to < 0)
    return collective(cost::CollectiveKind::AllGather, bytesOf(value, -1));
  return collective(cost::CollectiveKind::AllToAll, bytesOf(value, from));
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

std::optional<ShardedDim> graphs::pinOf(DictionaryAttr attributes) {
  if (!attributes)
    return std::nullopt;
  if (attributes.contains(replicatedAttrName))
    return -1;
  if (auto dim = attributes.getAs<IntegerAttr>(shardedAttrName))
    return ShardedDim(dim.getInt());
  return std::nullopt;
}

void LinalgGraph::addArgument(func::FuncOp func, BlockArgument argument) {
  GraphNode node;
  node.makes = {argument};
  makers[argument] = all.size();
  if (auto pin = pinOf(func.getArgAttrDict(argument.getArgNumber()))) {
    node.strategies.push_back({0, {}, {*pin}});
    return all.push_back(std::move(node));
  }
  // Of two equally fast shardings the one that holds less.
  node.strategies.push_back({1e-12, {}, {-1}});
  for (auto [dim, size] : llvm::enumerate(typeOf(argument).getShape()))
    if (size % devices == 0)
      node.strategies.push_back({0, {}, {ShardedDim(dim)}});
  all.push_back(std::move(node));
}

void LinalgGraph::addReturn(func::FuncOp func, Operation &op) {
  GraphNode node;
  node.op = &op;
  NodeStrategy strategy;
  for (OpOperand &operand : op.getOpOperands())
    if (isTensor(operand.get()) && !isFree(operand.get())) {
      node.reads.push_back(&operand);
      strategy.operands.push_back(
          pinOf(func.getResultAttrDict(operand.getOperandNumber()))
              .value_or(-1));
    }
  node.strategies.push_back(std::move(strategy));
  all.push_back(std::move(node));
}

void LinalgGraph::addOp(
    Operation &op, llvm::function_ref<void(Operation *, StringRef)> remark) {
  GraphNode node;
  node.op = &op;
  for (OpOperand &operand : op.getOpOperands())
    if (isTensor(operand.get()) && !isFree(operand.get()))
      node.reads.push_back(&operand);
  double bytes = 0;
  for (OpOperand *operand : node.reads)
    bytes += bytesOf(operand->get(), -1);
  for (Value result : op.getResults())
    if (isTensor(result)) {
      node.makes.push_back(result);
      bytes += bytesOf(result, -1);
      makers[result] = all.size();
    }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  double arithmetic = 0;
  SmallVector<int64_t> loops;
  if (linalgOp) {
    loops = linalgOp.getStaticLoopRanges();
    arithmetic = countArithmetic(linalgOp);
    for (int64_t size : loops)
      arithmetic *= double(size);
  }
  auto kernel = [&](double flops, double moved) {
    cost::Kernel kernel = cost::memoryKernel(moved);
    kernel.flops = flops;
    return time.seconds(kernel);
  };
  node.strategies.push_back({kernel(arithmetic, bytes),
                             std::vector<ShardedDim>(node.reads.size(), -1),
                             std::vector<ShardedDim>(node.makes.size(), -1)});
  const bool isSimple =
      linalgOp &&
      llvm::all_of(linalgOp.getIndexingMapsArray(),
                   [](AffineMap map) { return map.isProjectedPermutation(); });
  if (!isSimple)
    remark(&op, linalgOp ? "a map is no projected permutation"
                         : "it is no op of linalg");
  const auto kinds = linalgOp ? linalgOp.getIteratorTypesArray()
                              : SmallVector<utils::IteratorType>();
  for (unsigned loop = 0; isSimple && loop < loops.size(); ++loop) {
    if (loops[loop] % devices != 0)
      continue;
    NodeStrategy strategy;
    double moved = 0;
    for (OpOperand *operand : node.reads) {
      strategy.operands.push_back(
          dimOfLoop(linalgOp.getMatchingIndexingMap(operand), loop));
      moved += bytesOf(operand->get(), strategy.operands.back());
    }
    for (auto [result, init] :
         llvm::zip_equal(node.makes, linalgOp.getDpsInitsMutable())) {
      strategy.results.push_back(
          dimOfLoop(linalgOp.getMatchingIndexingMap(&init), loop));
      moved += bytesOf(result, strategy.results.back());
      if (kinds[loop] == utils::IteratorType::reduction)
        strategy.seconds +=
            collective(cost::CollectiveKind::AllReduce, bytesOf(result, -1));
    }
    strategy.seconds += kernel(arithmetic / double(devices), moved);
    node.strategies.push_back(std::move(strategy));
  }
  all.push_back(std::move(node));
}

//===----------------------------------------------------------------------===//
// The instance
//===----------------------------------------------------------------------===//

/// Charges each layout of `value` that a reader wants, once: readers share what
/// was gathered.
void LinalgGraph::addEdge(solve::Problem &problem, Value value) const {
  const size_t maker = makers.lookup(value);
  const auto found = readersOf.find(value);
  if (found == readersOf.end())
    return;
  const std::vector<Reader> &readers = found->second;
  const size_t made =
      size_t(llvm::find(all[maker].makes, value) - all[maker].makes.begin());
  auto charge = [&](ArrayRef<Reader> of) {
    std::vector<size_t> shape = {all[maker].strategies.size()};
    problem.edgeNodes.values.push_back(int32_t(maker));
    for (const Reader &reader : of) {
      problem.edgeNodes.values.push_back(int32_t(reader.node));
      shape.push_back(all[reader.node].strategies.size());
    }
    problem.edgeNodes.endRow();
    std::vector<size_t> at(shape.size());
    while (true) {
      const ShardedDim from = all[maker].strategies[at[0]].results[made];
      std::set<ShardedDim> wanted;
      for (auto [i, reader] : llvm::enumerate(of))
        wanted.insert(
            all[reader.node].strategies[at[i + 1]].operands[reader.slot]);
      double seconds = 0;
      for (ShardedDim to : wanted)
        seconds += reshard(value, from, to);
      problem.edgeCosts.values.push_back(picoseconds(seconds));
      size_t dim = shape.size();
      while (dim > 0 && ++at[dim - 1] == shape[dim - 1])
        at[--dim] = 0;
      if (dim == 0)
        break;
    }
    problem.edgeCosts.endRow();
  };
  uint64_t combinations = all[maker].strategies.size();
  for (const Reader &reader : readers)
    combinations =
        std::min<uint64_t>(combinations * all[reader.node].strategies.size(),
                           mostCombinations + 1);
  if (combinations <= mostCombinations)
    return charge(readers);
  for (const Reader &reader : readers)
    charge(reader);
}

solve::Problem LinalgGraph::problem(double bytes) const {
  solve::Problem problem;
  std::vector<int64_t> lastUse(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (OpOperand *operand : all[i].reads)
      lastUse[makers.lookup(operand->get())] = int64_t(i);
  for (size_t i = 0; i < all.size(); ++i) {
    const GraphNode &node = all[i];
    const bool stays = !node.op; // a caller's
    problem.intervals.push_back(
        {stays ? 0 : int64_t(i),
         stays ? int64_t(all.size()) : std::max(lastUse[i], int64_t(i)) + 1});
    for (const NodeStrategy &strategy : node.strategies) {
      problem.costs.values.push_back(picoseconds(strategy.seconds));
      double held = 0;
      for (auto [value, dim] : llvm::zip_equal(node.makes, strategy.results))
        held += bytesOf(value, dim);
      problem.usages.values.push_back(std::llround(held));
    }
    problem.costs.endRow();
    problem.usages.endRow();
    for (Value value : node.makes)
      addEdge(problem, value);
  }
  problem.usageLimit = std::llround(bytes);
  return problem;
}
