//===- ExportNetwork.cpp - Problems as cost function networks -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exported.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

namespace {
/// A variable of two values for each strategy that memory depends on, which is
/// 1 if the strategy is not taken. Together, what is not taken is at least what
/// does not fit: the one linear constraint that all versions of toulbar2 read.
struct NetworkVariables {
  explicit NetworkVariables(const ExportedProblem &problem) : problem(problem) {
    for (size_t i = 0; i < problem.numNodes(); ++i) {
      first.push_back(int32_t(problem.numNodes() + links.size()));
      auto [begin, end] = problem.liveAt(i);
      for (size_t s = 0; begin < end && s < problem.size(i); ++s)
        if (problem.extraUsage(i, s))
          links.push_back({int32_t(i), int32_t(s)});
    }
  }
  size_t count() const { return problem.numNodes() + links.size(); }
  size_t valuesOf(size_t variable) const {
    return variable < problem.numNodes() ? problem.size(variable) : 2;
  }
  /// Calls `visit(variable, usage)` for the takers of some nodes.
  template <typename Visit>
  void forEachTaker(const std::vector<int32_t> &nodes, Visit visit) const {
    for (int32_t node : nodes) {
      int32_t variable = first[node];
      for (size_t s = 0; s < problem.size(node); ++s)
        if (int64_t usage = problem.extraUsage(node, s))
          visit(variable++, usage);
    }
  }

  const ExportedProblem &problem;
  std::vector<int32_t> first;                     ///< of each node's takers
  std::vector<std::pair<int32_t, int32_t>> links; ///< node, strategy
};
} // namespace

/// The costs that tie a variable to the strategy it stands for.
static std::vector<int64_t> linkCosts(size_t size, int32_t strategy) {
  std::vector<int64_t> costs(2 * size, 0);
  for (size_t s = 0; s < size; ++s)
    costs[2 * s + (int32_t(s) == strategy)] = infiniteCost;
  return costs;
}

/// As the format has it: what is infinite forbids.
static Int128 costIn(const ExportedProblem &problem, int64_t cost) {
  return cost >= infiniteCost ? problem.top : Int128(cost);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static void writeWcspTable(const ExportedProblem &problem,
                           const CostTable &table, TextStream &text) {
  text << table.nodes.size();
  for (int32_t node : table.nodes)
    text << " " << node;
  size_t tuples = table.nodes.empty() ? 0 : table.costs.size();
  text << " " << costIn(problem, tuples ? 0 : table.costs[0]) << " " << tuples
       << "\n";
  std::vector<size_t> digits(table.nodes.size(), 0);
  for (size_t i = 0; i < tuples; ++i) {
    for (size_t digit : digits)
      text << digit << " ";
    text << costIn(problem, table.costs[i]) << "\n";
    nextEntry(problem, table, digits);
  }
}

void solve::writeWcsp(const ExportedProblem &problem, TextStream &text) {
  NetworkVariables variables(problem);
  size_t largest = 1;
  for (size_t i = 0; i < variables.count(); ++i)
    largest = std::max(largest, variables.valuesOf(i));
  text << "shardopt " << variables.count() << " " << largest << " "
       << problem.numTables() + variables.links.size() +
              problem.capacities.size()
       << " " << problem.top << "\n";
  for (size_t i = 0; i < variables.count(); ++i)
    text << (i ? " " : "") << variables.valuesOf(i);
  text << "\n";
  for (size_t t = 0; t < problem.numTables(); ++t)
    writeWcspTable(problem, problem.makeTable(t), text);
  for (size_t v = 0; v < variables.links.size(); ++v) {
    auto [node, strategy] = variables.links[v];
    size_t size = problem.size(node);
    std::vector<int64_t> costs = linkCosts(size, strategy);
    text << "2 " << node << " " << problem.numNodes() + v << " 0 " << size
         << "\n";
    for (size_t i = 0; i < costs.size(); ++i)
      if (costs[i])
        text << i / 2 << " " << i % 2 << " " << costIn(problem, costs[i])
             << "\n";
  }
  problem.forEachCapacity(
      [&](const Capacity &capacity, const std::vector<int32_t> &nodes) {
        text << capacity.numTakers;
        variables.forEachTaker(
            nodes, [&](int32_t variable, int64_t) { text << " " << variable; });
        text << " -1 knapsack " << capacity.requirement();
        variables.forEachTaker(
            nodes, [&](int32_t, int64_t usage) { text << " " << usage; });
        text << "\n";
      });
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
/// The parts of the JSON format.
class CfnWriter {
public:
  CfnWriter(const ExportedProblem &problem, TextStream &text)
      : problem(problem), variables(problem), text(text) {}
  void write();

private:
  void addName(size_t variable);
  /// Up to behind its scope; `addScope` adds the variables of that.
  template <typename AddScope> void beginFunction(AddScope addScope);
  void addCosts(const std::vector<int32_t> &scope,
                const std::vector<int64_t> &costs);
  void addCapacity(const Capacity &capacity, const std::vector<int32_t> &nodes);

  const ExportedProblem &problem;
  const NetworkVariables variables;
  TextStream &text;
  size_t numFunctions = 0;
};
} // namespace

void CfnWriter::addName(size_t variable) {
  if (variable < problem.numNodes()) {
    text << "\"x" << variable << "\"";
    return;
  }
  auto [node, strategy] = variables.links[variable - problem.numNodes()];
  text << "\"not" << node << "_" << strategy << "\"";
}

template <typename AddScope> void CfnWriter::beginFunction(AddScope addScope) {
  text << (numFunctions ? ",\n\"f" : "\n\"f") << numFunctions
       << "\": {\"scope\": [";
  ++numFunctions;
  bool isFirst = true;
  addScope([&](int32_t variable) {
    text << (isFirst ? "" : ", ");
    isFirst = false;
    addName(size_t(variable));
  });
  text << "], ";
}

void CfnWriter::addCosts(const std::vector<int32_t> &scope,
                         const std::vector<int64_t> &costs) {
  beginFunction([&](auto add) {
    for (int32_t variable : scope)
      add(variable);
  });
  text << "\"costs\": [";
  for (size_t i = 0; i < costs.size(); ++i)
    text << (i ? ", " : "") << costIn(problem, costs[i]);
  text << "]}";
}

void CfnWriter::addCapacity(const Capacity &capacity,
                            const std::vector<int32_t> &nodes) {
  beginFunction([&](auto add) {
    variables.forEachTaker(nodes,
                           [&](int32_t variable, int64_t) { add(variable); });
  });
  text << "\"type\": \"knapsack\", \"params\": {\"capacity\": "
       << capacity.requirement() << ", \"weights\": [";
  bool isFirst = true;
  variables.forEachTaker(nodes, [&](int32_t, int64_t usage) {
    text << (isFirst ? "" : ", ") << usage;
    isFirst = false;
  });
  text << "]}}";
}

void CfnWriter::write() {
  text << "{\"problem\": {\"name\": \"shardopt\", \"mustbe\": \"<"
       << problem.top << "\"},\n\"variables\": {";
  for (size_t i = 0; i < variables.count(); ++i) {
    text << (i ? ", " : "");
    addName(i);
    text << ": " << variables.valuesOf(i);
  }
  text << "},\n\"functions\": {";
  for (size_t t = 0; t < problem.numTables(); ++t) {
    CostTable table = problem.makeTable(t);
    addCosts(table.nodes, table.costs);
  }
  for (size_t v = 0; v < variables.links.size(); ++v) {
    auto [node, strategy] = variables.links[v];
    addCosts({node, int32_t(problem.numNodes() + v)},
             linkCosts(problem.size(node), strategy));
  }
  problem.forEachCapacity(
      [&](const Capacity &capacity, const std::vector<int32_t> &nodes) {
        addCapacity(capacity, nodes);
      });
  text << "}}\n";
}

void solve::writeCfn(const ExportedProblem &problem, TextStream &text) {
  CfnWriter(problem, text).write();
}
