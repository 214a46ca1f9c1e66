//===- Baselines.cpp - Shardings that people write by hand ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Knows no names: data is what has the dim of the batch, and weights are all
// else that a GEMM reads.
//
//===----------------------------------------------------------------------===//

#include "Baselines.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <set>
#include <utility>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

namespace {

class HandPlan {
public:
  HandPlan(const FactorGraph &graph, const FactorMap &factors, const Mesh &mesh)
      : graph(graph), factors(factors), mesh(mesh) {
    findBatch();
  }

  /// The dim of the batch on the first `dataAxes` axes; on the others weights,
  /// from the first GEMM on or from the second.
  std::vector<size_t> plan(size_t dataAxes, bool shardsFirst = true);

private:
  /// A dim of a value. A pointer orders within a run alone, which is enough.
  using Dim = std::pair<void *, int>;
  static Dim dimOf(Value value, int dim) {
    return {value.getAsOpaquePointer(), dim};
  }

  void findBatch();
  /// -1: none.
  int batchDim(Value value) const {
    auto found = batch.find(value);
    return found == batch.end() ? -1 : found->second;
  }
  AxisDims made(Value value) const;
  int batchFactor(const GraphNode &node, const OpFactors &op) const;
  int weightFactor(const GraphNode &node, const OpFactors &op);
  bool choose(size_t node, llvm::function_ref<bool(const NodeStrategy &)> fits);
  void require(Value value, const AxisDims &layout);
  void planOp(size_t index, const OpFactors &op);
  void planCarried(size_t index);

  const FactorGraph &graph;
  const FactorMap &factors;
  const Mesh &mesh;
  llvm::DenseMap<Value, int> batch;
  size_t dataAxes = 0;
  bool shardsColumns = true; ///< of the next GEMM, too
  std::vector<std::optional<size_t>> chosen;
};

} // namespace

/// Which dim of each value is that of the batch: those that factors tie to the
/// first dim of the first result that is larger than 1.
void HandPlan::findBatch() {
  llvm::EquivalenceClasses<Dim> same;
  const GraphNode *last = nullptr;
  for (const GraphNode &node : graph.nodes()) {
    if (node.op && node.op->hasTrait<OpTrait::ReturnLike>())
      last = &node;
    if (node.isCarried) {
      auto rank = cast<RankedTensorType>(node.makes[0].getType()).getRank();
      for (int dim = 0; dim < rank; ++dim) {
        same.unionSets(dimOf(node.makes[0], dim), dimOf(node.makes[1], dim));
        for (OpOperand *operand : node.reads)
          same.unionSets(dimOf(node.makes[0], dim), dimOf(operand->get(), dim));
      }
      continue;
    }
    auto found = factors.find(node.op);
    if (found == factors.end())
      continue;
    for (const Factor &factor : found->second.factors) {
      std::optional<Dim> first;
      auto join = [&](Value value, int dim) {
        if (dim < 0 || !graph.hasLayout(value))
          return;
        if (!first)
          same.insert(*(first = dimOf(value, dim)));
        same.unionSets(*first, dimOf(value, dim));
      };
      for (auto [operand, dim] :
           llvm::zip(node.op->getOperands(), factor.operands))
        join(operand, dim);
      for (auto [result, dim] :
           llvm::zip(node.op->getResults(), factor.results))
        join(result, dim);
    }
  }
  if (!last || last->reads.empty())
    return;
  // One text has no batch; its positions are what is computed alike.
  Value result = last->reads.front()->get();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
  auto *several = llvm::find_if(shape, [](int64_t size) { return size > 1; });
  Dim seed =
      dimOf(result, several == shape.end() ? 0 : several - shape.begin());
  for (const GraphNode &node : graph.nodes())
    for (Value value : node.makes)
      for (int dim = cast<RankedTensorType>(value.getType()).getRank() - 1;
           dim >= 0; --dim)
        if (same.isEquivalent(seed, dimOf(value, dim)))
          batch[value] = dim;
}

AxisDims HandPlan::made(Value value) const {
  size_t maker = graph.makerOf(value);
  const GraphNode &node = graph.nodes()[maker];
  if (!chosen[maker])
    return replicated;
  size_t slot = size_t(llvm::find(node.makes, value) - node.makes.begin());
  return node.strategies[*chosen[maker]].results[slot];
}

/// The fastest strategy that fits, if there is one.
bool HandPlan::choose(size_t index,
                      llvm::function_ref<bool(const NodeStrategy &)> fits) {
  const GraphNode &node = graph.nodes()[index];
  for (auto [i, strategy] : llvm::enumerate(node.strategies))
    if (fits(strategy) &&
        (!chosen[index] ||
         strategy.seconds < node.strategies[*chosen[index]].seconds))
      chosen[index] = i;
  return chosen[index].has_value();
}

/// Has the makers of a weight make it as it is read, unless another reader had
/// them.
void HandPlan::require(Value value, const AxisDims &layout) {
  size_t maker = graph.makerOf(value);
  const GraphNode &node = graph.nodes()[maker];
  if (chosen[maker])
    return;
  size_t slot = size_t(llvm::find(node.makes, value) - node.makes.begin());
  bool isFound = choose(maker, [&](const NodeStrategy &strategy) {
    return strategy.results[slot] == layout;
  });
  if (!isFound)
    return;
  const NodeStrategy &strategy = node.strategies[*chosen[maker]];
  for (auto [operand, wanted] : llvm::zip_equal(node.reads, strategy.operands))
    require(operand->get(), wanted);
}

/// The factor of the batch; -1: none.
int HandPlan::batchFactor(const GraphNode &node, const OpFactors &op) const {
  for (auto [i, factor] : llvm::enumerate(op.factors)) {
    for (OpOperand *operand : node.reads)
      if (int dim = factor.operands[operand->getOperandNumber()];
          dim >= 0 && dim == batchDim(operand->get()))
        return int(i);
    for (auto [value, dim] : llvm::zip(node.op->getResults(), factor.results))
      if (dim >= 0 && dim == batchDim(value))
        return int(i);
  }
  return -1;
}

/// The factor of the last axis; -1: none. What is sharded stays so; what is
/// not is sharded by a weight: on its rows where they are looked up, else on
/// its columns.
int HandPlan::weightFactor(const GraphNode &node, const OpFactors &op) {
  size_t axis = mesh.axes().size() - 1;
  bool isShardedBy = false;
  bool isProduct = llvm::any_of(
      op.factors, [](const Factor &factor) { return factor.isReduced; });
  int columns = -1, rows = -1;
  for (auto [i, factor] : llvm::enumerate(op.factors)) {
    bool ofWeight = false, ofData = false;
    for (OpOperand *operand : node.reads) {
      int dim = factor.operands[operand->getOperandNumber()];
      bool isData = batchDim(operand->get()) >= 0;
      if (isData && dim >= 0 && made(operand->get())[axis] == dim)
        return int(i);
      isShardedBy |= isData && made(operand->get())[axis] >= 0;
      (isData ? ofData : ofWeight) |= dim >= 0;
    }
    if (isProduct && ofWeight && !ofData)
      (factor.isReduced ? rows : columns) = int(i);
  }
  if (isShardedBy)
    return -1;
  if (columns >= 0 && rows < 0 && !std::exchange(shardsColumns, true))
    return -1;
  return rows >= 0 ? rows : columns;
}

void HandPlan::planOp(size_t index, const OpFactors &op) {
  const GraphNode &node = graph.nodes()[index];
  std::array<int, mostAxes> wanted = {-1, -1, -1};
  for (size_t axis = 0; axis < dataAxes; ++axis)
    wanted[axis] = batchFactor(node, op);
  if (dataAxes < mesh.axes().size())
    wanted[dataAxes] = weightFactor(node, op);
  // Without the last axes where sizes do not divide.
  for (size_t axis = mesh.axes().size() + 1; axis-- > 0 && !chosen[index];) {
    choose(index, [&](const NodeStrategy &strategy) {
      return strategy.factors == wanted;
    });
    if (axis > 0)
      wanted[axis - 1] = -1;
  }
  if (!chosen[index])
    return;
  const NodeStrategy &strategy = node.strategies[*chosen[index]];
  for (auto [operand, layout] : llvm::zip_equal(node.reads, strategy.operands))
    require(operand->get(), layout);
}

/// As it is before the loop.
void HandPlan::planCarried(size_t index) {
  const GraphNode &node = graph.nodes()[index];
  if (!node.reads.empty())
    choose(index, [&](const NodeStrategy &strategy) {
      return strategy.operands[0] == made(node.reads[0]->get());
    });
}

std::vector<size_t> HandPlan::plan(size_t axes, bool shardsFirst) {
  dataAxes = axes;
  shardsColumns = shardsFirst;
  chosen.assign(graph.nodes().size(), std::nullopt);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const GraphNode &node = graph.nodes()[i];
    bool isData = llvm::any_of(
        node.makes, [&](Value value) { return batchDim(value) >= 0; });
    auto found = factors.find(node.op);
    if (!node.op && isData) {
      AxisDims wanted = replicated;
      for (size_t axis = 0; axis < dataAxes; ++axis)
        wanted[axis] = int8_t(batchDim(node.makes[0]));
      choose(i, [&](const NodeStrategy &strategy) {
        return strategy.results[0] == wanted;
      });
    } else if (node.isCarried && isData) {
      planCarried(i);
    } else if (isData && found != factors.end()) {
      planOp(i, found->second);
    }
  }
  std::vector<size_t> choices;
  for (const auto &each : chosen)
    choices.push_back(each.value_or(0));
  return choices;
}

PlanCost graphs::costOf(FactorGraph &graph, ArrayRef<size_t> choices) {
  PlanCost cost;
  llvm::DenseMap<Value, AxisDims> made;
  auto strategyOf = [&](size_t node) -> const NodeStrategy & {
    return graph.nodes()[node].strategies[choices[node]];
  };
  for (auto [i, node] : llvm::enumerate(graph.nodes())) {
    for (auto [value, layout] :
         llvm::zip_equal(node.makes, strategyOf(i).results))
      made[value] = layout;
    const NodeStrategy &strategy = strategyOf(i);
    cost.seconds += strategy.seconds * double(node.times);
    for (double seconds : strategy.reduceSeconds) {
      if (seconds <= 0)
        continue;
      cost.reductions += node.times;
      for (auto [value, layout] : llvm::zip_equal(node.makes, strategy.results))
        cost.bytes += graph.bytesOf(value, layout) * double(node.times);
    }
  }
  std::set<std::pair<void *, AxisDims>> copies;
  for (auto [i, node] : llvm::enumerate(graph.nodes()))
    for (auto [operand, layout] :
         llvm::zip_equal(node.reads, strategyOf(i).operands)) {
      Value value = operand->get();
      if (!copies.insert({value.getAsOpaquePointer(), layout}).second)
        continue;
      ReshardCost way = graph.reshardingOf(value).cost(made.at(value), layout);
      cost.seconds += way.seconds * double(graph.timesOf(value));
      cost.reshards += way.seconds > 0 ? graph.timesOf(value) : 0;
      cost.bytes += way.bytes * double(graph.timesOf(value));
    }
  return cost;
}

std::vector<Baseline> graphs::baselinesOf(FactorGraph &graph,
                                          const FactorMap &factors,
                                          const Mesh &mesh) {
  HandPlan byHand(graph, factors, mesh);
  size_t axes = mesh.axes().size();
  // What makes patches or embeddings is no half of a pair.
  std::vector<size_t> megatron = byHand.plan(axes - 1);
  std::vector<size_t> behind = byHand.plan(axes - 1, /*shardsFirst=*/false);
  if (costOf(graph, behind).seconds < costOf(graph, megatron).seconds)
    megatron = std::move(behind);
  return {{"replicated", std::vector<size_t>(graph.nodes().size(), 0)},
          {"data parallel", byHand.plan(axes)},
          {"Megatron", std::move(megatron)}};
}
