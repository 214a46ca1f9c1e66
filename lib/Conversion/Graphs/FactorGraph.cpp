//===- FactorGraph.cpp - Functions as selection problems ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactorGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

FactorGraph::FactorGraph(func::FuncOp func, const FactorMap &factors,
                         const cost::TimeModel &time, const Mesh &mesh)
    : factors(factors), time(time), mesh(mesh) {
  for (BlockArgument argument : func.getArguments())
    if (isa<RankedTensorType>(argument.getType()))
      addArgument(func, argument);
  addBlock(func, func.getBody().front(), 1);
  for (size_t i = 0; i < all.size(); ++i)
    for (auto [slot, operand] : llvm::enumerate(all[i].reads)) {
      std::vector<Reader> &readers = readersOf[operand->get()];
      if (readers.empty() || readers.back().node != i)
        readers.push_back({i, {}});
      readers.back().slots.push_back(slot);
    }
}

double FactorGraph::bytesOf(Value value, const AxisDims &layout) const {
  RankedTensorType type = typeOf(value);
  return double(type.getNumElements()) * type.getElementTypeBitWidth() / 8 /
         double(mesh.blocks(layout));
}

Resharding &FactorGraph::reshardingOf(Value value) {
  std::unique_ptr<Resharding> &known = reshardings[value.getType()];
  if (!known)
    known = std::make_unique<Resharding>(time, mesh, typeOf(value).getShape(),
                                         bytesOf(value, replicated));
  return *known;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

std::optional<AxisDims> graphs::pinOf(DictionaryAttr attributes) {
  if (!attributes)
    return std::nullopt;
  AxisDims layout = replicated;
  if (attributes.contains(replicatedAttrName))
    return layout;
  if (auto dim = attributes.getAs<IntegerAttr>(shardedAttrName)) {
    layout[0] = int8_t(dim.getInt());
    return layout;
  }
  auto dims = attributes.getAs<DenseI64ArrayAttr>(shardedAttrName);
  if (!dims)
    return std::nullopt;
  for (auto [axis, dim] : llvm::enumerate(dims.asArrayRef()))
    layout[axis] = int8_t(dim);
  return layout;
}

void FactorGraph::addArgument(func::FuncOp func, BlockArgument argument) {
  GraphNode node;
  node.makes = {argument};
  makers[argument] = all.size();
  if (auto pin = pinOf(func.getArgAttrDict(argument.getArgNumber()))) {
    node.strategies.push_back({0, {}, {}, {*pin}, {}});
    return all.push_back(std::move(node));
  }
  for (const AxisDims &layout : mesh.layoutsOf(typeOf(argument).getShape())) {
    // Of two equally fast shardings the one that holds less.
    double seconds = 0;
    for (size_t axis = 0; axis < mesh.axes().size(); ++axis)
      seconds += layout[axis] < 0 ? 1e-12 : 0;
    node.strategies.push_back({seconds, {}, {}, {layout}, {}});
  }
  all.push_back(std::move(node));
}

void FactorGraph::addBlock(func::FuncOp func, Block &block, int64_t times) {
  timesOfBlocks[&block] = times;
  for (Operation &op : block) {
    auto found = factors.find(&op);
    if (op.hasTrait<OpTrait::ReturnLike>())
      addReturn(func, op);
    else if (found != factors.end() && found->second.trips > 0)
      addLoop(func, op, found->second.trips);
    else if (found != factors.end())
      addOp(op, found->second);
  }
}

/// Each value that a loop carries is a node, which has the same layout before
/// every trip.
void FactorGraph::addLoop(func::FuncOp func, Operation &op, int64_t trips) {
  Block &body = op.getRegions().back().front();
  int64_t outer = timesOfBlocks.at(op.getBlock());
  LoopRange range;
  range.begin = all.size();
  for (auto [argument, result] :
       llvm::zip_equal(body.getArguments(), op.getResults())) {
    makers[argument] = makers[result] = all.size();
    GraphNode &node = all.emplace_back();
    node.op = &op;
    node.isCarried = true;
    node.times = outer;
    node.makes = {argument, result};
  }
  addBlock(func, body, outer * trips);
  range.end = all.size();
  loops.push_back(range);
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    GraphNode &node = all[range.begin + i];
    OpOperand &yielded = body.getTerminator()->getOpOperand(unsigned(i));
    for (OpOperand *operand : {&op.getOpOperand(unsigned(i)), &yielded})
      if (hasLayout(operand->get()) && operand->get() != argument)
        node.reads.push_back(operand);
    for (const AxisDims &layout : mesh.layoutsOf(typeOf(argument).getShape()))
      node.strategies.push_back(
          {0,
           {},
           std::vector<AxisDims>(node.reads.size(), layout),
           {layout, layout},
           {}});
  }
}

int64_t FactorGraph::timesOf(Value value) const {
  return timesOfBlocks.at(value.getParentBlock());
}

void FactorGraph::findReads(GraphNode &node) const {
  for (OpOperand &operand : node.op->getOpOperands())
    if (hasLayout(operand.get()))
      node.reads.push_back(&operand);
}

void FactorGraph::addReturn(func::FuncOp func, Operation &op) {
  GraphNode node;
  node.op = &op;
  findReads(node);
  NodeStrategy strategy;
  for (OpOperand *operand : node.reads)
    strategy.operands.push_back(
        pinOf(func.getResultAttrDict(operand->getOperandNumber()))
            .value_or(replicated));
  node.strategies.push_back(std::move(strategy));
  all.push_back(std::move(node));
}

/// Fused ops hand values on without memory.
bool FactorGraph::isInMemory(Value value) const {
  auto isFused = [&](Operation *op) {
    auto found = factors.find(op);
    return found != factors.end() && found->second.work == Work::Fused;
  };
  Operation *maker = value.getDefiningOp();
  return !maker || !isFused(maker) || !llvm::all_of(value.getUsers(), isFused);
}

/// Seconds of the op alone. Of ops that are fused the one that writes a result
/// is charged the launch.
double FactorGraph::kernel(const GraphNode &node, const OpFactors &op,
                           const NodeStrategy &strategy) const {
  if (op.work == Work::View)
    return 0;
  double bytes = 0;
  bool writes = false;
  auto isTouched = [&](Value value) {
    return !op.inPlace || value.getType() != node.op->getOperand(0).getType();
  };
  for (auto [operand, layout] : llvm::zip_equal(node.reads, strategy.operands))
    if (isInMemory(operand->get()) && isTouched(operand->get()))
      bytes += bytesOf(operand->get(), layout);
  for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
    if (isInMemory(value)) {
      writes = true;
      bytes += isTouched(value) ? bytesOf(value, layout) : 0;
    }
  cost::Kernel kernel = cost::memoryKernel(bytes, writes);
  kernel.flops = op.arithmetic;
  for (auto [axis, factor] : llvm::zip(mesh.axes(), strategy.factors))
    if (factor >= 0)
      kernel.flops /= double(axis.size);
  if (op.work == Work::Kernel)
    setProduct(kernel, node, op, strategy);
  return time.seconds(kernel);
}

/// Makes `kernel` a GEMM where the op is one: two operands, factors of both
/// that are summed, others of both or of one.
void FactorGraph::setProduct(cost::Kernel &kernel, const GraphNode &node,
                             const OpFactors &op,
                             const NodeStrategy &strategy) const {
  if (node.reads.size() < 2 || node.makes.size() != 1)
    return;
  unsigned left = node.reads[0]->getOperandNumber(),
           right = node.reads[1]->getOperandNumber();
  double rows = 1, columns = 1, sums = 1, batches = 1;
  bool isProduct = false;
  for (auto [i, factor] : llvm::enumerate(op.factors)) {
    auto size = double(factor.size);
    for (auto [axis, chosen] : llvm::zip(mesh.axes(), strategy.factors))
      size /= chosen == int(i) ? double(axis.size) : 1;
    bool isLeft = factor.operands[left] >= 0,
         isRight = factor.operands[right] >= 0;
    if (!isLeft && !isRight)
      return;
    (factor.isReduced    ? sums
     : isLeft && isRight ? batches
     : isLeft            ? rows
                         : columns) *= size;
    isProduct |= factor.isReduced && isLeft && isRight;
  }
  if (!isProduct)
    return;
  kernel.kind =
      batches > 1 ? cost::KernelKind::BatchedGemm : cost::KernelKind::Gemm;
  kernel.rows = rows;
  kernel.n = columns;
  kernel.k = sums;
  kernel.count = batches;
  unsigned bits = typeOf(node.reads[1]->get()).getElementTypeBitWidth();
  kernel.weights = bits == 32  ? cost::WeightType::F32
                   : bits == 8 ? cost::WeightType::Fp8
                               : cost::WeightType::Bf16;
}

/// The strategy whose axes shard the factors `chosen`; none where sizes do not
/// divide.
std::optional<NodeStrategy>
FactorGraph::strategy(const GraphNode &node, const OpFactors &op,
                      std::array<int, mostAxes> chosen) const {
  NodeStrategy strategy;
  strategy.factors = chosen;
  strategy.operands.assign(node.reads.size(), replicated);
  strategy.results.assign(node.makes.size(), replicated);
  for (size_t axis = 0; axis < mesh.axes().size(); ++axis) {
    if (chosen[axis] < 0)
      continue;
    const Factor &factor = op.factors[size_t(chosen[axis])];
    int64_t blocks = 1;
    for (auto [other, each] : llvm::zip(mesh.axes(), chosen))
      blocks *= each == chosen[axis] ? other.size : 1;
    if (factor.size % blocks != 0)
      return std::nullopt;
    for (auto [operand, layout] :
         llvm::zip_equal(node.reads, strategy.operands))
      layout[axis] = int8_t(factor.operands[operand->getOperandNumber()]);
    for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
      layout[axis] =
          int8_t(factor.results[cast<OpResult>(value).getResultNumber()]);
  }
  strategy.seconds = kernel(node, op, strategy);
  for (size_t axis = 0; axis < mesh.axes().size(); ++axis)
    if (chosen[axis] >= 0 && op.factors[size_t(chosen[axis])].isReduced) {
      for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
        strategy.reduceSeconds[axis] +=
            collectiveSeconds(time, mesh, cost::CollectiveKind::AllReduce, axis,
                              bytesOf(value, layout));
      strategy.seconds += strategy.reduceSeconds[axis];
    }
  return strategy;
}

void FactorGraph::addOp(Operation &op, const OpFactors &found) {
  GraphNode node;
  node.op = &op;
  node.times = timesOfBlocks.at(op.getBlock());
  findReads(node);
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType())) {
      node.makes.push_back(result);
      makers[result] = all.size();
    }
  std::vector<std::array<int, mostAxes>> choices = {{-1, -1, -1}};
  if (found.replicated.empty())
    for (size_t axis = 0; axis < mesh.axes().size(); ++axis)
      for (size_t i = 0, end = choices.size(); i < end; ++i)
        for (size_t factor = 0; factor < found.factors.size(); ++factor) {
          auto choice = choices[i];
          choice[axis] = int(factor);
          choices.push_back(choice);
        }
  for (const auto &choice : choices)
    if (auto known = strategy(node, found, choice))
      node.strategies.push_back(std::move(*known));
  all.push_back(std::move(node));
}

/// The last node that reads what each node makes. What a loop reads of what is
/// before it is read until its end.
std::vector<size_t> FactorGraph::lastUses() const {
  // The innermost loop around each node, and the loop around each loop. Loops
  // are listed after those that they contain.
  constexpr size_t none = ~size_t(0);
  std::vector<size_t> innermost(all.size(), none), around(loops.size(), none);
  for (size_t each = loops.size(); each-- > 0;) {
    around[each] = innermost[loops[each].begin];
    std::fill(innermost.begin() + std::ptrdiff_t(loops[each].begin),
              innermost.begin() + std::ptrdiff_t(loops[each].end), each);
  }
  std::vector<size_t> last(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    for (OpOperand *operand : all[i].reads) {
      size_t maker = makers.at(operand->get());
      last[maker] = std::max(last[maker], i);
      for (size_t each = innermost[i]; each != none; each = around[each])
        if (maker < loops[each].begin || all[i].isCarried)
          last[maker] = std::max(last[maker], loops[each].end - 1);
    }
    for (size_t each = innermost[i]; each != none && all[i].isCarried;
         each = around[each])
      last[i] = std::max(last[i], loops[each].end - 1);
  }
  return last;
}

/// What is carried has one place, which is that of the first value where the
/// body hands it on unchanged.
double FactorGraph::heldBytes(const GraphNode &node,
                              const NodeStrategy &strategy) const {
  if (node.isCarried) {
    auto argument = cast<BlockArgument>(node.makes[0]);
    Operation *yield = argument.getOwner()->getTerminator();
    return yield->getOperand(argument.getArgNumber()) == argument
               ? 0
               : bytesOf(argument, strategy.results[0]);
  }
  double held = 0;
  for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
    held += bytesOf(value, layout);
  return held;
}

solve::Problem FactorGraph::problem(double bytes) {
  solve::Problem problem;
  std::vector<size_t> last = lastUses();
  for (size_t i = 0; i < all.size(); ++i) {
    const GraphNode &node = all[i];
    bool stays = !node.op; // a caller's
    problem.intervals.push_back(
        {stays ? 0 : int64_t(i),
         stays ? int64_t(all.size()) : int64_t(std::max(last[i], i)) + 1});
    for (const NodeStrategy &strategy : node.strategies) {
      problem.costs.values.push_back(
          picoseconds(strategy.seconds * double(node.times)));
      problem.usages.values.push_back(std::llround(heldBytes(node, strategy)));
    }
    problem.costs.endRow();
    problem.usages.endRow();
  }
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t slot = 0; slot < all[i].makes.size(); ++slot)
      addEdges(problem, i, slot);
  problem.usageLimit = std::llround(bytes);
  return problem;
}
