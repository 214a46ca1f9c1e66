//===- Problem.h - Strategy selection under a memory limit ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Choose one strategy for each node of a graph, so that the sum of the costs of
// nodes and edges is least and the memory in use exceeds a limit at no time.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_PROBLEM_H
#define SHARDOPT_SOLVERS_SELECTION_PROBLEM_H

#include "shardopt/Support/Error.h"
#include "shardopt/Support/Span.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::solve {

/// Rows of different lengths, one behind the other.
template <typename T> struct Rows {
  std::vector<uint64_t> offsets = {0}; ///< of the first value of each row
  std::vector<T> values;

  size_t size() const { return offsets.size() - 1; }
  Span<const T> operator[](size_t row) const {
    return {values.data() + offsets[row], offsets[row + 1] - offsets[row]};
  }
  /// What was appended to `values` since the last call is a row.
  void endRow() { offsets.push_back(values.size()); }
  void add(std::initializer_list<T> row) {
    values.insert(values.end(), row);
    endRow();
  }
};

/// The integer times t with begin <= t < end.
struct Interval {
  int64_t begin;
  int64_t end;
};

/// What "infinite" costs are in files. It adds like any other number; but where
/// all finite costs together are less than it, no best solution pays it unless
/// all do.
constexpr int64_t infiniteCost = 1000000000000000000;

struct Problem {
  std::string name;

  std::vector<Interval> intervals; ///< when each node uses memory
  Rows<int64_t> costs;             ///< of each strategy of each node
  Rows<int64_t> usages;            ///< memory of each strategy of each node

  /// The nodes of each edge, any number of them, with repetitions.
  Rows<int32_t> edgeNodes;
  /// The costs of each edge, row-major over its nodes, the last one fastest.
  Rows<int64_t> edgeCosts;

  std::optional<int64_t> usageLimit;

  size_t numNodes() const { return costs.size(); }
  size_t numEdges() const { return edgeNodes.size(); }
  size_t numStrategies(size_t node) const { return costs[node].size(); }

  /// Whether rows have the lengths that they must have, numbers are not
  /// negative and edges join nodes that exist; otherwise an error that gives
  /// the place, "/problem/edges/nodes/3: …". All else here takes this as given.
  std::optional<Error> check() const;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_PROBLEM_H
