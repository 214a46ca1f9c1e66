//===- FactorGraphEdges.cpp - What readers of a value cost ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value is resharded to each layout that a reader wants, once: readers share
// what was gathered. Where a value has several readers, a node of copies says
// which layouts exist: it takes far fewer entries than an edge over the maker
// and all readers, and does not tie these to each other.
//
//===----------------------------------------------------------------------===//

#include "FactorGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

/// Combinations of an edge beyond which copies are a node, even if that node
/// lacks some sets of layouts.
static constexpr uint64_t mostCombinations = 1 << 14;
/// Layouts that a node of copies may always make of a value.
static constexpr size_t fewCopies = 3;
/// Sets of more layouts are left out if there are more sets.
static constexpr size_t mostSets = 256;

/// A value, its maker and those who read it.
struct FactorGraph::Edge {
  Value value;
  size_t maker = 0, slot = 0; ///< in `GraphNode::makes`
  ArrayRef<Reader> readers;
};

/// Calls `visit` with the choices of nodes that have so many strategies, the
/// last one fastest.
static void forEachChoice(ArrayRef<size_t> shape,
                          llvm::function_ref<void(ArrayRef<size_t>)> visit) {
  std::vector<size_t> at(shape.size());
  while (true) {
    visit(at);
    size_t dim = shape.size();
    while (dim > 0 && ++at[dim - 1] == shape[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

void FactorGraph::addEdge(solve::Problem &problem, const Edge &edge) {
  const std::vector<NodeStrategy> &made = all[edge.maker].strategies;
  std::vector<size_t> shape = {made.size()};
  problem.edgeNodes.values.push_back(int32_t(edge.maker));
  for (const Reader &reader : edge.readers) {
    problem.edgeNodes.values.push_back(int32_t(reader.node));
    shape.push_back(all[reader.node].strategies.size());
  }
  problem.edgeNodes.endRow();
  Resharding &resharding = reshardingOf(edge.value);
  auto times = double(timesOf(edge.value));
  forEachChoice(shape, [&](ArrayRef<size_t> at) {
    std::set<AxisDims> wanted;
    for (auto [i, reader] : llvm::enumerate(edge.readers))
      for (size_t slot : reader.slots)
        wanted.insert(all[reader.node].strategies[at[i + 1]].operands[slot]);
    double seconds = 0;
    for (const AxisDims &to : wanted)
      seconds += resharding.seconds(made[at[0]].results[edge.slot], to);
    problem.edgeCosts.values.push_back(picoseconds(seconds * times));
  });
  problem.edgeCosts.endRow();
}

/// The size of the largest sets of a node of copies, where `count` layouts may
/// be read and at most `numReads` are.
static size_t largestSet(size_t count, size_t numReads) {
  size_t largest = std::min(count, numReads);
  double sets = 0, ofSize = 1;
  for (size_t size = 1; size <= largest; ++size) {
    ofSize *= double(count - size + 1) / double(size);
    sets += ofSize;
    if (size > fewCopies && sets > double(mostSets))
      return size - 1;
  }
  return largest;
}

/// All sets of 1 to `largest` of `count` layouts, smaller ones first.
static std::vector<std::vector<size_t>> setsOf(size_t count, size_t largest) {
  std::vector<std::vector<size_t>> sets;
  for (size_t i = 0; i < count; ++i)
    sets.push_back({i});
  for (size_t i = 0; i < sets.size(); ++i)
    for (size_t next = sets[i].back() + 1;
         sets[i].size() < largest && next < count; ++next) {
      std::vector<size_t> more = sets[i];
      more.push_back(next);
      sets.push_back(std::move(more));
    }
  return sets;
}

std::vector<AxisDims> FactorGraph::layoutsRead(const Edge &edge) const {
  std::set<AxisDims> distinct;
  for (const Reader &reader : edge.readers)
    for (const NodeStrategy &strategy : all[reader.node].strategies)
      for (size_t slot : reader.slots)
        distinct.insert(strategy.operands[slot]);
  return {distinct.begin(), distinct.end()};
}

void FactorGraph::addCopies(solve::Problem &problem, const Edge &edge,
                            std::vector<AxisDims> wanted, size_t largest) {
  auto sets = setsOf(wanted.size(), largest);
  auto copies = int32_t(problem.numNodes());
  allCopies.push_back({edge.maker, edge.slot, wanted, largest});
  problem.intervals.push_back({0, 0});
  problem.costs.values.insert(problem.costs.values.end(), sets.size(), 0);
  problem.costs.endRow();
  problem.usages.values.insert(problem.usages.values.end(), sets.size(), 0);
  problem.usages.endRow();

  Resharding &resharding = reshardingOf(edge.value);
  problem.edgeNodes.add({int32_t(edge.maker), copies});
  for (const NodeStrategy &made : all[edge.maker].strategies)
    for (const std::vector<size_t> &set : sets) {
      double seconds = 0;
      for (size_t i : set)
        seconds += resharding.seconds(made.results[edge.slot], wanted[i]);
      problem.edgeCosts.values.push_back(
          picoseconds(seconds * double(timesOf(edge.value))));
    }
  problem.edgeCosts.endRow();
  for (const Reader &reader : edge.readers) {
    problem.edgeNodes.add({copies, int32_t(reader.node)});
    for (const std::vector<size_t> &set : sets)
      for (const NodeStrategy &strategy : all[reader.node].strategies) {
        bool exists = llvm::all_of(reader.slots, [&](size_t slot) {
          return llvm::any_of(set, [&](size_t i) {
            return wanted[i] == strategy.operands[slot];
          });
        });
        problem.edgeCosts.values.push_back(exists ? 0 : solve::infiniteCost);
      }
    problem.edgeCosts.endRow();
  }
}

void FactorGraph::addEdges(solve::Problem &problem, size_t maker, size_t slot) {
  Value value = all[maker].makes[slot];
  auto found = readersOf.find(value);
  if (found == readersOf.end())
    return;
  Edge edge;
  edge.value = value;
  edge.maker = maker;
  edge.slot = slot;
  edge.readers = found->second;
  if (edge.readers.size() == 1)
    return addEdge(problem, edge);
  uint64_t combinations = all[edge.maker].strategies.size();
  size_t numReads = 0;
  for (const Reader &reader : edge.readers) {
    numReads += reader.slots.size();
    combinations =
        std::min<uint64_t>(combinations * all[reader.node].strategies.size(),
                           mostCombinations + 1);
  }
  std::vector<AxisDims> wanted = layoutsRead(edge);
  size_t largest = largestSet(wanted.size(), numReads);
  bool hasAllSets = largest == std::min(wanted.size(), numReads);
  if (!hasAllSets && combinations <= mostCombinations)
    addEdge(problem, edge);
  else
    addCopies(problem, edge, std::move(wanted), largest);
}
