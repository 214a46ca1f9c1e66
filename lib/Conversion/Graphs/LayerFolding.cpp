//===- LayerFolding.cpp - Layers that share a sharding --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers are the longest run of ops where each is like the one a period
// later and reads what is a period later, too, or the same value.
//
//===----------------------------------------------------------------------===//

#include "LayerFolding.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::graphs;

/// Ops of the shortest layer: shorter repetitions are parts of one.
static constexpr size_t shortestLayer = 8;
/// Distances between like ops that are tried as periods, the commonest ones.
static constexpr size_t mostPeriods = 16;

namespace {

/// Ops with the same period.
struct Run {
  size_t period = 0, begin = 0, end = 0; ///< of the ops that have a next one
};

class LayerFinder {
public:
  explicit LayerFinder(const FactorGraph &graph) : graph(graph) {
    for (const GraphNode &node : graph.nodes())
      hashes.push_back(hashOf(node));
  }

  Run find() const;
  /// Joins the nodes of a run with those a period later.
  void join(const Run &run, llvm::IntEqClasses &classes) const;

private:
  static llvm::hash_code hashOf(const GraphNode &node);
  bool isOp(size_t node) const {
    return graph.nodes()[node].op && !graph.nodes()[node].isCarried;
  }
  bool areAlike(size_t one, size_t other) const;
  bool readsAlike(size_t node, const Run &run) const;
  std::vector<size_t> periods() const;

  const FactorGraph &graph;
  std::vector<llvm::hash_code> hashes;
};

} // namespace

llvm::hash_code LayerFinder::hashOf(const GraphNode &node) {
  if (!node.op)
    return llvm::hash_value(node.makes[0].getType().getAsOpaquePointer());
  auto types = [](TypeRange range) {
    llvm::hash_code hash(range.size());
    for (Type type : range)
      hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
    return hash;
  };
  return llvm::hash_combine(
      node.op->getName().getAsOpaquePointer(),
      node.op->getDiscardableAttrDictionary().getAsOpaquePointer(),
      node.op->getPropertiesAsAttribute().getAsOpaquePointer(),
      types(node.op->getOperandTypes()), types(node.op->getResultTypes()),
      node.reads.size());
}

/// Whether a strategy of one node is one of the other.
bool LayerFinder::areAlike(size_t one, size_t other) const {
  const GraphNode &a = graph.nodes()[one], &b = graph.nodes()[other];
  return hashes[one] == hashes[other] && !a.op == !b.op && a.times == b.times &&
         a.strategies.size() == b.strategies.size() &&
         llvm::all_of(
             llvm::zip_equal(a.strategies, b.strategies), [](auto pair) {
               const auto &[x, y] = pair;
               return x.operands == y.operands && x.results == y.results;
             });
}

/// Whether the op a period later reads alike. The first layer reads what is
/// before all layers.
bool LayerFinder::readsAlike(size_t node, const Run &run) const {
  const GraphNode &now = graph.nodes()[node],
                  &later = graph.nodes()[node + run.period];
  return llvm::all_of(llvm::zip_equal(now.reads, later.reads), [&](auto pair) {
    Value a = std::get<0>(pair)->get(), b = std::get<1>(pair)->get();
    size_t i = graph.makerOf(a), j = graph.makerOf(b);
    bool areArguments = !graph.nodes()[i].op && !graph.nodes()[j].op;
    return a == b || j == i + run.period ||
           (areArguments ? areAlike(i, j) : i < run.begin);
  });
}

/// Distances between an op and the next one like it, by how often they occur.
std::vector<size_t> LayerFinder::periods() const {
  std::map<size_t, size_t> counts;
  llvm::DenseMap<size_t, size_t> last;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (!isOp(i))
      continue;
    auto [place, isNew] = last.try_emplace(size_t(hashes[i]), i);
    if (!isNew && i - place->second >= shortestLayer)
      ++counts[i - place->second];
    place->second = i;
  }
  std::vector<std::pair<size_t, size_t>> sorted(counts.begin(), counts.end());
  llvm::stable_sort(
      sorted, [](const auto &a, const auto &b) { return a.second > b.second; });
  std::vector<size_t> found;
  for (const auto &[period, count] : sorted)
    if (found.size() < mostPeriods)
      found.push_back(period);
  return found;
}

Run LayerFinder::find() const {
  Run best;
  for (size_t period : periods()) {
    Run run{period, 0, 0};
    for (size_t i = 0; i + period < hashes.size(); ++i) {
      if (isOp(i) && areAlike(i, i + period) && readsAlike(i, run)) {
        run.end = i + 1;
        if (run.end - run.begin > best.end - best.begin)
          best = run;
      } else {
        run.begin = run.end = i + 1;
      }
    }
  }
  if (best.end - best.begin < best.period)
    return {};
  return best;
}

void LayerFinder::join(const Run &run, llvm::IntEqClasses &classes) const {
  for (size_t i = run.begin; i < run.end; ++i) {
    classes.join(unsigned(i), unsigned(i + run.period));
    for (auto [now, later] : llvm::zip_equal(
             graph.nodes()[i].reads, graph.nodes()[i + run.period].reads)) {
      size_t a = graph.makerOf(now->get()), b = graph.makerOf(later->get());
      if (!graph.nodes()[a].op && !graph.nodes()[b].op)
        classes.join(unsigned(a), unsigned(b));
    }
  }
}

/// Joins nodes of copies of values whose makers are joined, where they list the
/// same sets of layouts.
static void joinCopies(const FactorGraph &graph, llvm::IntEqClasses &classes) {
  std::map<std::tuple<unsigned, size_t, std::vector<AxisDims>, size_t>,
           unsigned>
      known;
  for (auto [i, copies] : llvm::enumerate(graph.copies())) {
    auto node = unsigned(graph.nodes().size() + i);
    auto [place, isNew] =
        known.try_emplace({classes.findLeader(unsigned(copies.maker)),
                           copies.slot, copies.layouts, copies.largest},
                          node);
    if (!isNew)
      classes.join(place->second, node);
  }
}

solve::Solution FoldedProblem::unfold(const solve::Solution &solution) const {
  solve::Solution whole;
  for (size_t each : classOf)
    whole.push_back(solution[each]);
  return whole;
}

static int64_t sum(int64_t one, int64_t other) {
  return std::min(one + other, solve::infiniteCost);
}

/// Sums what the nodes of a class cost; those of arguments stay in memory.
static void foldNodes(const FactorGraph &graph, const solve::Problem &whole,
                      FoldedProblem &folded) {
  std::vector<std::vector<size_t>> members;
  for (auto [node, each] : llvm::enumerate(folded.classOf)) {
    members.resize(std::max(members.size(), each + 1));
    members[each].push_back(node);
  }
  solve::Problem &problem = folded.problem;
  for (const std::vector<size_t> &nodes : members) {
    size_t first = nodes.front();
    bool stays = first < graph.nodes().size() && !graph.nodes()[first].op;
    problem.intervals.push_back(whole.intervals[first]);
    for (size_t i = 0; i < whole.numStrategies(first); ++i) {
      int64_t cost = 0, usage = 0;
      for (size_t node : nodes) {
        cost = sum(cost, whole.costs[node][i]);
        usage += stays || node == first ? whole.usages[node][i] : 0;
      }
      problem.costs.values.push_back(cost);
      problem.usages.values.push_back(usage);
    }
    problem.costs.endRow();
    problem.usages.endRow();
  }
}

/// Sums edges over the same classes.
static void foldEdges(const solve::Problem &whole, FoldedProblem &folded) {
  std::map<std::vector<int32_t>, std::vector<int64_t>> edges;
  for (size_t i = 0; i < whole.numEdges(); ++i) {
    std::vector<int32_t> nodes;
    for (int32_t node : whole.edgeNodes[i])
      nodes.push_back(int32_t(folded.classOf[size_t(node)]));
    Span<const int64_t> costs = whole.edgeCosts[i];
    auto [place, isNew] =
        edges.try_emplace(std::move(nodes), costs.begin(), costs.end());
    if (!isNew)
      for (size_t at = 0; at < costs.size(); ++at)
        place->second[at] = sum(place->second[at], costs[at]);
  }
  for (const auto &[nodes, costs] : edges) {
    auto append = [](auto &rows, const auto &values) {
      rows.values.insert(rows.values.end(), values.begin(), values.end());
      rows.endRow();
    };
    append(folded.problem.edgeNodes, nodes);
    append(folded.problem.edgeCosts, costs);
  }
}

FoldedProblem graphs::foldLayers(const FactorGraph &graph,
                                 const solve::Problem &problem) {
  FoldedProblem folded;
  LayerFinder finder(graph);
  Run run = finder.find();
  llvm::IntEqClasses classes(unsigned(problem.numNodes()));
  if (run.period) {
    folded.layers = int64_t((run.end - run.begin) / run.period) + 1;
    finder.join(run, classes);
    joinCopies(graph, classes);
  }
  classes.compress();
  for (size_t node = 0; node < problem.numNodes(); ++node)
    folded.classOf.push_back(classes[unsigned(node)]);
  foldNodes(graph, problem, folded);
  foldEdges(problem, folded);
  folded.problem.usageLimit = problem.usageLimit;
  return folded;
}
