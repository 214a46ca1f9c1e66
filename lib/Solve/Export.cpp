//===- Export.cpp - Problems for other solvers ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solve/Export.h"

#include "shardopt/Solve/Graph.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

namespace {

/// Costs of a set of nodes, each there once; row-major, the last one fastest.
struct CostTable {
  std::vector<int32_t> nodes;
  std::vector<int64_t> costs;
};

/// At some time, the strategies that use more than the least of their nodes,
/// how much more each, and what of it fits.
struct Capacity {
  std::vector<std::pair<int32_t, int32_t>> takers; ///< node, strategy
  std::vector<int64_t> usages;
  Int128 slack = 0;
};

/// What all formats say.
struct ExportedProblem {
  std::vector<size_t> sizes;
  std::vector<CostTable> tables;
  std::vector<Capacity> capacities;
  /// No assignment without infinite costs costs as much.
  Int128 top = 0;
};

} // namespace

static std::string number(Int128 value) { return toString(value); }

/// An edge, or the costs of a node.
static CostTable makeTable(const Problem &problem, Span<const int32_t> members,
                           Span<const int64_t> costs) {
  CostTable table;
  table.nodes.assign(members.begin(), members.end());
  std::sort(table.nodes.begin(), table.nodes.end());
  table.nodes.erase(std::unique(table.nodes.begin(), table.nodes.end()),
                    table.nodes.end());
  size_t count = 1;
  for (int32_t node : table.nodes)
    count *= problem.numStrategies(node);
  std::vector<size_t> digits(problem.numNodes(), 0);
  for (size_t i = 0; i < count; ++i) {
    size_t index = 0;
    for (int32_t node : members)
      index = index * problem.numStrategies(node) + digits[node];
    table.costs.push_back(costs[index]);
    for (size_t d = table.nodes.size(); d-- > 0;) {
      int32_t node = table.nodes[d];
      if (++digits[node] < problem.numStrategies(node))
        break;
      digits[node] = 0;
    }
  }
  return table;
}

/// The times at which an interval begins, which are all that matter, unless all
/// that may be in use then fits.
static std::vector<Capacity> findCapacities(const Problem &problem) {
  std::vector<Capacity> capacities;
  if (!problem.usageLimit)
    return capacities;
  std::vector<int64_t> times;
  for (const Interval &interval : problem.intervals)
    if (interval.begin < interval.end)
      times.push_back(interval.begin);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  for (int64_t time : times) {
    Capacity capacity;
    capacity.slack = *problem.usageLimit;
    Int128 most = 0;
    for (size_t i = 0; i < problem.numNodes(); ++i) {
      const Interval &interval = problem.intervals[i];
      if (time < interval.begin || time >= interval.end)
        continue;
      Span<const int64_t> usages = problem.usages[i];
      auto [least, largest] = std::minmax_element(usages.begin(), usages.end());
      capacity.slack -= *least;
      most += *largest - *least;
      for (size_t s = 0; s < usages.size(); ++s)
        if (usages[s] > *least) {
          capacity.takers.push_back({int32_t(i), int32_t(s)});
          capacity.usages.push_back(usages[s] - *least);
        }
    }
    if (most > capacity.slack)
      capacities.push_back(std::move(capacity));
  }
  return capacities;
}

static ErrorOr<ExportedProblem> collect(const Problem &problem) {
  ExportedProblem result;
  Scaling scaling = chooseScaling(problem, /*pays=*/false);
  if (scaling.forbiddenFrom != infiniteCost)
    return Error{"finite costs sum to as much as an infinite one, 10^18: no "
                 "other format tells them apart"};
  for (size_t i = 0; i < problem.numNodes(); ++i) {
    result.sizes.push_back(problem.numStrategies(i));
    const int32_t node[] = {int32_t(i)};
    result.tables.push_back(makeTable(problem, {node, 1}, problem.costs[i]));
  }
  for (size_t e = 0; e < problem.numEdges(); ++e)
    result.tables.push_back(
        makeTable(problem, problem.edgeNodes[e], problem.edgeCosts[e]));
  for (const CostTable &table : result.tables) {
    int64_t largest = 0;
    for (int64_t cost : table.costs)
      if (cost < infiniteCost)
        largest = std::max(largest, cost);
    result.top += largest;
  }
  ++result.top;
  result.capacities = findCapacities(problem);
  return result;
}

//===----------------------------------------------------------------------===//
// Cost function networks
//===----------------------------------------------------------------------===//

namespace {
/// A variable of two values for each strategy of which memory depends, which is
/// 1 if the strategy is not taken. Together, what is not taken is at least what
/// does not fit: the one linear constraint that all versions of toulbar2 read.
struct NetworkVariables {
  explicit NetworkVariables(const ExportedProblem &problem) {
    for (size_t size : problem.sizes)
      offsets.push_back(offsets.back() + size);
    notTaken.assign(offsets.back(), -1);
    for (const Capacity &capacity : problem.capacities)
      for (auto [node, strategy] : capacity.takers)
        if (int32_t &variable = notTaken[offsets[node] + strategy];
            variable < 0) {
          variable = int32_t(problem.sizes.size() + links.size());
          links.push_back({node, strategy});
        }
  }
  int32_t of(std::pair<int32_t, int32_t> taker) const {
    return notTaken[offsets[taker.first] + taker.second];
  }

  std::vector<size_t> offsets = {0};
  std::vector<int32_t> notTaken; ///< the variable of each strategy, or -1
  std::vector<std::pair<int32_t, int32_t>> links; ///< what each stands for
};
} // namespace

/// What has to be not taken at least.
static Int128 requirement(const Capacity &capacity) {
  Int128 sum = -capacity.slack;
  for (int64_t usage : capacity.usages)
    sum += usage;
  return sum;
}

/// The costs that tie a variable to the strategy it stands for.
static std::vector<int64_t> linkCosts(size_t size, int32_t strategy) {
  std::vector<int64_t> costs(2 * size, 0);
  for (size_t s = 0; s < size; ++s)
    costs[2 * s + (int32_t(s) == strategy)] = infiniteCost;
  return costs;
}

static std::string writeWcsp(const ExportedProblem &problem) {
  NetworkVariables variables(problem);
  size_t count = problem.sizes.size() + variables.links.size();
  size_t largest = variables.links.empty() ? 1 : 2;
  for (size_t size : problem.sizes)
    largest = std::max(largest, size);
  size_t functions = problem.tables.size() + variables.links.size() +
                     problem.capacities.size();
  std::string text = "shardopt " + number(count) + " " + number(largest) + " " +
                     number(functions) + " " + number(problem.top) + "\n";
  for (size_t i = 0; i < count; ++i)
    text += (i ? " " : "") +
            number(i < problem.sizes.size() ? problem.sizes[i] : 2);
  text += "\n";
  auto cost = [&](int64_t value) {
    return number(value >= infiniteCost ? problem.top : Int128(value));
  };
  for (const CostTable &table : problem.tables) {
    text += number(table.nodes.size());
    for (int32_t node : table.nodes)
      text += " " + number(node);
    size_t tuples = table.nodes.empty() ? 0 : table.costs.size();
    text += " " + cost(tuples ? 0 : table.costs[0]) + " " + number(tuples);
    text += "\n";
    std::vector<size_t> digits(table.nodes.size(), 0);
    for (size_t i = 0; i < tuples; ++i) {
      for (size_t digit : digits)
        text += number(digit) + " ";
      text += cost(table.costs[i]) + "\n";
      for (size_t d = digits.size(); d-- > 0;) {
        if (++digits[d] < problem.sizes[table.nodes[d]])
          break;
        digits[d] = 0;
      }
    }
  }
  for (auto [node, strategy] : variables.links) {
    size_t size = problem.sizes[node];
    std::vector<int64_t> costs = linkCosts(size, strategy);
    text += "2 " + number(node) + " " + number(variables.of({node, strategy})) +
            " 0 " + number(size) + "\n";
    for (size_t i = 0; i < costs.size(); ++i)
      if (costs[i])
        text +=
            number(i / 2) + " " + number(i % 2) + " " + cost(costs[i]) + "\n";
  }
  for (const Capacity &capacity : problem.capacities) {
    text += number(capacity.takers.size());
    for (auto taker : capacity.takers)
      text += " " + number(variables.of(taker));
    text += " -1 knapsack " + number(requirement(capacity));
    for (int64_t usage : capacity.usages)
      text += " " + number(usage);
    text += "\n";
  }
  return text;
}

static std::string writeCfn(const ExportedProblem &problem) {
  NetworkVariables variables(problem);
  std::string text = "{\"problem\": {\"name\": \"shardopt\", \"mustbe\": \"<" +
                     number(problem.top) + "\"},\n\"variables\": {";
  size_t count = problem.sizes.size() + variables.links.size();
  auto name = [&](size_t variable) {
    if (variable < problem.sizes.size())
      return "\"x" + number(variable) + "\"";
    auto [node, strategy] = variables.links[variable - problem.sizes.size()];
    return "\"not" + number(node) + "_" + number(strategy) + "\"";
  };
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + name(i) + ": " +
            number(i < problem.sizes.size() ? problem.sizes[i] : 2);
  text += "},\n\"functions\": {";
  size_t functions = 0;
  auto begin = [&](const std::vector<int32_t> &scope) {
    text += functions ? ",\n" : "\n";
    text += "\"f" + number(functions++) + "\": {\"scope\": [";
    for (size_t i = 0; i < scope.size(); ++i)
      text += (i ? ", " : "") + name(scope[i]);
    text += "], ";
  };
  auto write = [&](const std::vector<int32_t> &scope,
                   const std::vector<int64_t> &costs) {
    begin(scope);
    text += "\"costs\": [";
    for (size_t i = 0; i < costs.size(); ++i)
      text += (i ? ", " : "") +
              number(costs[i] >= infiniteCost ? problem.top : Int128(costs[i]));
    text += "]}";
  };
  for (const CostTable &table : problem.tables)
    write(table.nodes, table.costs);
  for (auto [node, strategy] : variables.links)
    write({node, variables.of({node, strategy})},
          linkCosts(problem.sizes[node], strategy));
  for (const Capacity &capacity : problem.capacities) {
    std::vector<int32_t> scope;
    for (auto taker : capacity.takers)
      scope.push_back(variables.of(taker));
    begin(scope);
    text += "\"type\": \"knapsack\", \"params\": {\"capacity\": " +
            number(requirement(capacity)) + ", \"weights\": [";
    for (size_t i = 0; i < capacity.usages.size(); ++i)
      text += (i ? ", " : "") + number(capacity.usages[i]);
    text += "]}}";
  }
  return text + "}}\n";
}

//===----------------------------------------------------------------------===//
// Mixed-integer programs
//===----------------------------------------------------------------------===//

namespace {
/// Columns are x<node>_<strategy>, of two values, and y<table>_<entry> in
/// [0, 1], which is 1 if all nodes of the table take what the entry is for: for
/// each node of a table and each of its strategies, the entries sum to x.
class MpsWriter {
public:
  explicit MpsWriter(const ExportedProblem &problem) : problem(problem) {}
  std::string write();

private:
  static bool isUnary(const CostTable &table) {
    return table.nodes.size() == 1;
  }
  void addRows();
  void addStrategies();
  void addEntries();
  void addRightSides();
  void entry(const std::string &column, const std::string &row, Int128 value) {
    if (value != 0)
      text += " " + column + " " + row + " " + number(value) + "\n";
  }
  /// The row of a strategy of the d-th node of a table.
  std::string link(size_t table, size_t d, size_t strategy) const {
    return "l" + number(table) + "_" + number(d) + "_" + number(strategy);
  }

  const ExportedProblem &problem;
  std::string text;
  Int128 constant = 0;
};
} // namespace

void MpsWriter::addRows() {
  text += "NAME shardopt\nROWS\n N cost\n";
  for (size_t i = 0; i < problem.sizes.size(); ++i)
    text += " E one" + number(i) + "\n";
  for (size_t t = 0; t < problem.capacities.size(); ++t)
    text += " L memory" + number(t) + "\n";
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    const CostTable &table = problem.tables[t];
    for (size_t d = 0; !isUnary(table) && d < table.nodes.size(); ++d)
      for (size_t s = 0; s < problem.sizes[table.nodes[d]]; ++s)
        text += " E " + link(t, d, s) + "\n";
  }
}

void MpsWriter::addStrategies() {
  struct Element {
    std::string row;
    Int128 value;
  };
  std::vector<std::vector<std::vector<Element>>> columns;
  for (size_t size : problem.sizes)
    columns.emplace_back(size);
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    const CostTable &table = problem.tables[t];
    for (size_t d = 0; d < table.nodes.size(); ++d)
      for (size_t s = 0; s < problem.sizes[table.nodes[d]]; ++s) {
        auto &column = columns[table.nodes[d]][s];
        if (!isUnary(table))
          column.push_back({link(t, d, s), -1});
        else if (table.costs[s] < infiniteCost)
          column.push_back({"cost", table.costs[s]});
      }
  }
  for (size_t t = 0; t < problem.capacities.size(); ++t) {
    const Capacity &capacity = problem.capacities[t];
    for (size_t i = 0; i < capacity.takers.size(); ++i)
      columns[capacity.takers[i].first][capacity.takers[i].second].push_back(
          {"memory" + number(t), capacity.usages[i]});
  }
  text += "COLUMNS\n M1 'MARKER' 'INTORG'\n";
  for (size_t i = 0; i < columns.size(); ++i)
    for (size_t s = 0; s < columns[i].size(); ++s) {
      std::string column = "x" + number(i) + "_" + number(s);
      entry(column, "one" + number(i), 1);
      for (const Element &element : columns[i][s])
        entry(column, element.row, element.value);
    }
  text += " M2 'MARKER' 'INTEND'\n";
}

void MpsWriter::addEntries() {
  for (size_t t = 0; t < problem.tables.size(); ++t) {
    const CostTable &table = problem.tables[t];
    if (table.nodes.empty())
      constant += table.costs[0];
    if (isUnary(table) || table.nodes.empty())
      continue;
    std::vector<size_t> digits(table.nodes.size(), 0);
    for (size_t i = 0; i < table.costs.size(); ++i) {
      std::string column = "y" + number(t) + "_" + number(i);
      if (table.costs[i] < infiniteCost) {
        entry(column, "cost", table.costs[i]);
        for (size_t d = 0; d < digits.size(); ++d)
          entry(column, link(t, d, digits[d]), 1);
      }
      for (size_t d = digits.size(); d-- > 0;) {
        if (++digits[d] < problem.sizes[table.nodes[d]])
          break;
        digits[d] = 0;
      }
    }
  }
}

void MpsWriter::addRightSides() {
  text += "RHS\n";
  entry("RHS", "cost", -constant);
  for (size_t i = 0; i < problem.sizes.size(); ++i)
    entry("RHS", "one" + number(i), 1);
  for (size_t t = 0; t < problem.capacities.size(); ++t)
    entry("RHS", "memory" + number(t), problem.capacities[t].slack);
  text += "BOUNDS\n";
  for (const CostTable &table : problem.tables)
    for (size_t s = 0; isUnary(table) && s < table.costs.size(); ++s)
      text += " UP BND x" + number(table.nodes[0]) + "_" + number(s) +
              (table.costs[s] < infiniteCost ? " 1\n" : " 0\n");
  text += "ENDATA\n";
}

std::string MpsWriter::write() {
  addRows();
  addStrategies();
  addEntries();
  addRightSides();
  return std::move(text);
}

ErrorOr<std::string> solve::exportProblem(const Problem &problem,
                                          ExportFormat format) {
  ErrorOr<ExportedProblem> exported = collect(problem);
  if (!exported)
    return exported.error();
  if (format == ExportFormat::Mps)
    return MpsWriter(*exported).write();
  constexpr Int128 mostCost = Int128(512409557603043100); // of toulbar2
  if (exported->top > mostCost)
    return Error{"finite costs sum to up to " + number(exported->top - 1) +
                 ", more than the " + number(mostCost - 1) +
                 " of cost function networks"};
  return format == ExportFormat::Cfn ? writeCfn(*exported)
                                     : writeWcsp(*exported);
}
