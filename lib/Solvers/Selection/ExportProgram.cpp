//===- ExportProgram.cpp - Problems as mixed-integer programs -------------===//
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
/// Columns are x<node>_<strategy>, of two values, and y<table>_<entry> in
/// [0, 1], which is 1 if all nodes of the table take what the entry is for: for
/// each node of a table and each of its strategies, the entries sum to x.
///
/// What is in use at time t, beyond the least, is the column use<t>. The row
/// change<t> says what begins and ends since the time before, so that a node is
/// in two rows and not in one for each time at which it is live.
class MpsWriter {
public:
  MpsWriter(const ExportedProblem &problem, TextStream &text);
  void write();

private:
  /// A node among those of a table.
  struct Place {
    size_t table, d;
  };
  /// Of the strategies of a node, with edges to itself.
  std::vector<int64_t> costsOf(size_t node) const;
  void addRows();
  void addStrategies();
  void addEntries();
  void addUses();
  void addRightSides();
  /// The row of a strategy of the d-th node of a table.
  void addLink(size_t table, size_t d, size_t strategy) {
    text << "l" << table << "_" << d << "_" << strategy;
  }

  const ExportedProblem &problem;
  TextStream &text;
  std::vector<std::vector<size_t>> alone; ///< of nodes: tables of one node
  std::vector<std::vector<Place>> places; ///< of nodes: in tables of several
  Int128 constant = 0;                    ///< of tables of none
};
} // namespace

MpsWriter::MpsWriter(const ExportedProblem &problem, TextStream &text)
    : problem(problem), text(text), alone(problem.numNodes()),
      places(problem.numNodes()) {
  for (size_t t = 0; t < problem.numTables(); ++t) {
    std::vector<int32_t> scope = problem.scope(t);
    if (scope.empty())
      constant += problem.makeTable(t).costs[0];
    if (scope.size() == 1)
      alone[scope[0]].push_back(t);
    for (size_t d = 0; scope.size() > 1 && d < scope.size(); ++d)
      places[scope[d]].push_back({t, d});
  }
}

std::vector<int64_t> MpsWriter::costsOf(size_t node) const {
  std::vector<int64_t> costs(problem.size(node), 0);
  for (size_t t : alone[node]) {
    CostTable table = problem.makeTable(t);
    for (size_t s = 0; s < costs.size(); ++s)
      costs[s] = std::min(infiniteCost,
                          costs[s] + std::min(infiniteCost, table.costs[s]));
  }
  return costs;
}

void MpsWriter::addRows() {
  text << "NAME shardopt\nROWS\n N cost\n";
  for (size_t i = 0; i < problem.numNodes(); ++i)
    text << " E one" << i << "\n";
  for (size_t t = 0; t < problem.capacities.size(); ++t)
    text << " L memory" << t << "\n E change" << t << "\n";
  for (size_t t = problem.numNodes(); t < problem.numTables(); ++t) {
    std::vector<int32_t> scope = problem.scope(t);
    for (size_t d = 0; scope.size() > 1 && d < scope.size(); ++d)
      for (size_t s = 0; s < problem.size(scope[d]); ++s) {
        text << " E ";
        addLink(t, d, s);
        text << "\n";
      }
  }
}

void MpsWriter::addStrategies() {
  text << "COLUMNS\n M1 'MARKER' 'INTORG'\n";
  for (size_t i = 0; i < problem.numNodes(); ++i) {
    std::vector<int64_t> costs = costsOf(i);
    auto [begin, end] = problem.liveAt(i);
    for (size_t s = 0; s < costs.size(); ++s) {
      std::string column =
          " x" + std::to_string(i) + "_" + std::to_string(s) + " ";
      text << column << "one" << i << " 1\n";
      if (costs[s] && costs[s] < infiniteCost)
        text << column << "cost " << costs[s] << "\n";
      for (const Place &place : places[i]) {
        text << column;
        addLink(place.table, place.d, s);
        text << " -1\n";
      }
      int64_t usage = begin < end ? problem.extraUsage(i, s) : 0;
      if (usage)
        text << column << "change" << begin << " " << usage << "\n";
      if (usage && size_t(end) < problem.capacities.size())
        text << column << "change" << end << " " << -usage << "\n";
    }
  }
  text << " M2 'MARKER' 'INTEND'\n";
}

void MpsWriter::addEntries() {
  for (size_t t = problem.numNodes(); t < problem.numTables(); ++t) {
    CostTable table = problem.makeTable(t);
    if (table.nodes.size() < 2)
      continue;
    std::vector<size_t> digits(table.nodes.size(), 0);
    for (size_t i = 0; i < table.costs.size(); ++i) {
      std::string column =
          " y" + std::to_string(t) + "_" + std::to_string(i) + " ";
      if (table.costs[i] < infiniteCost) {
        if (table.costs[i])
          text << column << "cost " << table.costs[i] << "\n";
        for (size_t d = 0; d < digits.size(); ++d) {
          text << column;
          addLink(t, d, digits[d]);
          text << " 1\n";
        }
      }
      nextEntry(problem, table, digits);
    }
  }
}

void MpsWriter::addUses() {
  for (size_t t = 0; t < problem.capacities.size(); ++t) {
    text << " use" << t << " memory" << t << " 1\n";
    text << " use" << t << " change" << t << " -1\n";
    if (t + 1 < problem.capacities.size())
      text << " use" << t << " change" << t + 1 << " 1\n";
  }
}

void MpsWriter::addRightSides() {
  text << "RHS\n";
  if (constant)
    text << " RHS cost " << -constant << "\n";
  for (size_t i = 0; i < problem.numNodes(); ++i)
    text << " RHS one" << i << " 1\n";
  for (size_t t = 0; t < problem.capacities.size(); ++t)
    if (Int128 slack = problem.capacities[t].slack)
      text << " RHS memory" << t << " " << slack << "\n";
  text << "BOUNDS\n";
  for (size_t i = 0; i < problem.numNodes(); ++i) {
    std::vector<int64_t> costs = costsOf(i);
    for (size_t s = 0; s < costs.size(); ++s)
      text << " UP BND x" << i << "_" << s
           << (costs[s] < infiniteCost ? " 1\n" : " 0\n");
  }
  text << "ENDATA\n";
}

void MpsWriter::write() {
  addRows();
  addStrategies();
  addEntries();
  addUses();
  addRightSides();
}

void solve::writeMps(const ExportedProblem &problem, TextStream &text) {
  MpsWriter(problem, text).write();
}
