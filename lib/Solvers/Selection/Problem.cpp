//===- Problem.cpp - Checks of problems -----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Problem.h"

#include <limits>

using namespace shardopt;
using namespace shardopt::solve;

static std::string text(uint64_t number) { return std::to_string(number); }

static Error at(const std::string &place, size_t row, const std::string &what) {
  return Error{"/problem/" + place + "/" + text(row) + ": " + what};
}

/// Errors about rows that are not as many as there are nodes or edges.
static std::optional<Error> expectRows(const std::string &place, size_t found,
                                       size_t wanted, const char *what) {
  if (found == wanted)
    return std::nullopt;
  return Error{"/problem/" + place + ": expected " + text(wanted) +
               " elements, one for each " + what + ", found " + text(found)};
}

static std::optional<Error> expectNatural(const std::string &place,
                                          const Rows<int64_t> &rows) {
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t i = 0; i < rows[row].size(); ++i)
      if (rows[row][i] < 0)
        return at(place, row,
                  "expected integers of at least 0, found " +
                      std::to_string(rows[row][i]) + " at " + text(i));
  return std::nullopt;
}

static std::optional<Error> checkNodes(const Problem &problem) {
  size_t n = problem.numNodes();
  if (auto error = expectRows("nodes/intervals", problem.intervals.size(), n,
                              "element of nodes/costs"))
    return error;
  if (auto error = expectRows("nodes/usages", problem.usages.size(), n,
                              "element of nodes/costs"))
    return error;
  for (size_t i = 0; i < n; ++i) {
    const Interval &interval = problem.intervals[i];
    if (interval.begin < 0)
      return at("nodes/intervals", i,
                "expected times of at least 0, found " +
                    std::to_string(interval.begin));
    if (interval.end < interval.begin)
      return at("nodes/intervals", i,
                "ends at " + std::to_string(interval.end) +
                    ", before it begins at " + std::to_string(interval.begin));
    if (problem.costs[i].empty())
      return at("nodes/costs", i, "expected at least one strategy, found none");
    if (problem.usages[i].size() != problem.costs[i].size())
      return at("nodes/usages", i,
                "expected " + text(problem.costs[i].size()) +
                    " elements, as nodes/costs has, found " +
                    text(problem.usages[i].size()));
  }
  if (auto error = expectNatural("nodes/costs", problem.costs))
    return error;
  return expectNatural("nodes/usages", problem.usages);
}

/// The number of combinations of strategies of an edge, or nothing if it is
/// more than any table can have.
static std::optional<uint64_t> countCombinations(const Problem &problem,
                                                 Span<const int32_t> nodes) {
  uint64_t count = 1;
  for (int32_t node : nodes) {
    uint64_t k = problem.numStrategies(node);
    if (count > std::numeric_limits<uint64_t>::max() / k)
      return std::nullopt;
    count *= k;
  }
  return count;
}

static std::optional<Error> checkEdges(const Problem &problem) {
  if (auto error = expectRows("edges/costs", problem.edgeCosts.size(),
                              problem.numEdges(), "element of edges/nodes"))
    return error;
  for (size_t edge = 0; edge < problem.numEdges(); ++edge) {
    std::string product;
    for (int32_t node : problem.edgeNodes[edge]) {
      if (node < 0 || size_t(node) >= problem.numNodes())
        return at("edges/nodes", edge,
                  "no node " + std::to_string(node) + " among " +
                      text(problem.numNodes()) + " nodes");
      product +=
          (product.empty() ? "" : " x ") + text(problem.numStrategies(node));
    }
    std::optional<uint64_t> wanted =
        countCombinations(problem, problem.edgeNodes[edge]);
    size_t found = problem.edgeCosts[edge].size();
    if (!wanted || *wanted != found)
      return at("edges/costs", edge,
                "expected " + (product.empty() ? "1" : product) +
                    " elements, found " + text(found));
  }
  return expectNatural("edges/costs", problem.edgeCosts);
}

std::optional<Error> Problem::check() const {
  if (auto error = checkNodes(*this))
    return error;
  if (auto error = checkEdges(*this))
    return error;
  if (usageLimit && *usageLimit < 0)
    return Error{"/problem/usage_limit: expected an integer of at least 0, "
                 "found " +
                 std::to_string(*usageLimit)};
  return std::nullopt;
}
