//===- Export.cpp - Problems for other solvers ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Export.h"

#include "CompressedTimes.h"
#include "Exported.h"
#include "shardopt/Solvers/Selection/Graph.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace shardopt;
using namespace shardopt::solve;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TextStream &TextStream::addNumber(int64_t number) {
  char digits[24];
  char *end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  return *this << std::string_view(digits, size_t(end - digits));
}

TextStream &TextStream::operator<<(Int128 number) {
  return *this << toString(number);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

std::vector<int32_t> ExportedProblem::scope(size_t table) const {
  if (table < numNodes())
    return {int32_t(table)};
  Span<const int32_t> members = problem.edgeNodes[table - numNodes()];
  std::vector<int32_t> nodes(members.begin(), members.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

void solve::nextEntry(const ExportedProblem &problem, const CostTable &table,
                      std::vector<size_t> &digits) {
  for (size_t d = digits.size(); d-- > 0;) {
    if (++digits[d] < problem.size(table.nodes[d]))
      return;
    digits[d] = 0;
  }
}

CostTable ExportedProblem::makeTable(size_t table) const {
  CostTable result{scope(table), {}};
  if (table < numNodes()) {
    result.costs.assign(problem.costs[table].begin(),
                        problem.costs[table].end());
    return result;
  }
  size_t edge = table - numNodes();
  Span<const int32_t> members = problem.edgeNodes[edge];
  // How far a step of each node goes in the costs of the edge.
  std::vector<size_t> strides(result.nodes.size(), 0);
  for (size_t j = members.size(), stride = 1; j-- > 0;) {
    strides[std::lower_bound(result.nodes.begin(), result.nodes.end(),
                             members[j]) -
            result.nodes.begin()] += stride;
    stride *= size(members[j]);
  }
  size_t count = 1;
  for (int32_t node : result.nodes)
    count *= size(node);
  std::vector<size_t> digits(result.nodes.size(), 0);
  result.costs.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    size_t index = 0;
    for (size_t d = 0; d < digits.size(); ++d)
      index += strides[d] * digits[d];
    result.costs.push_back(problem.edgeCosts[edge][index]);
    nextEntry(*this, result, digits);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ExportedProblem::ExportedProblem(const Problem &problem) : problem(problem) {
  top = sumLargest(problem, infiniteCost) + 1;
  live.assign(numNodes(), {0, 0});
  findCapacities();
}

/// The times that say something, unless all that may be in use then fits.
void ExportedProblem::findCapacities() {
  if (!problem.usageLimit)
    return;
  CompressedTimes times(problem);
  // What begins and, negative, ends at each time; then what is there.
  struct Change {
    Int128 least = 0, most = 0, sum = 0;
    int64_t numTakers = 0;
  };
  std::vector<Change> changes(times.size() + 1);
  for (size_t i = 0; i < numNodes(); ++i) {
    Span<const int64_t> usages = problem.usages[i];
    auto [least, most] = std::minmax_element(usages.begin(), usages.end());
    leastUsages.push_back(*least);
    const Interval &interval = problem.intervals[i];
    if (interval.begin >= interval.end)
      continue;
    live[i] = {times.countBefore(interval.begin),
               times.countBefore(interval.end)};
    Int128 sum = 0;
    int64_t numTakers = 0;
    for (int64_t usage : usages) {
      sum += usage - *least;
      numTakers += usage > *least;
    }
    for (auto [time, sign] :
         {std::pair(live[i].first, 1), {live[i].second, -1}}) {
      changes[time].least += sign * Int128(*least);
      changes[time].most += sign * Int128(*most);
      changes[time].sum += sign * sum;
      changes[time].numTakers += sign * numTakers;
    }
  }
  std::vector<int32_t> before; // of each time: capacities
  Change now;
  for (size_t t = 0; t < times.size(); ++t) {
    before.push_back(int32_t(capacities.size()));
    now.least += changes[t].least;
    now.most += changes[t].most;
    now.sum += changes[t].sum;
    now.numTakers += changes[t].numTakers;
    if (now.most > *problem.usageLimit)
      capacities.push_back(
          {now.numTakers, now.sum, *problem.usageLimit - now.least});
  }
  before.push_back(int32_t(capacities.size()));
  for (auto &[first, last] : live) {
    first = before[first];
    last = before[last];
  }
}

void ExportedProblem::forEachCapacity(
    const std::function<void(const Capacity &, const std::vector<int32_t> &)>
        &visit) const {
  std::vector<std::vector<int32_t>> begins(capacities.size()),
      ends(capacities.size() + 1);
  for (size_t i = 0; i < numNodes(); ++i)
    if (live[i].first < live[i].second) {
      begins[live[i].first].push_back(int32_t(i));
      ends[live[i].second].push_back(int32_t(i));
    }
  std::set<int32_t> nodes;
  for (size_t t = 0; t < capacities.size(); ++t) {
    for (int32_t node : ends[t])
      nodes.erase(node);
    nodes.insert(begins[t].begin(), begins[t].end());
    visit(capacities[t], {nodes.begin(), nodes.end()});
  }
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

std::optional<Error> solve::exportProblem(const Problem &problem,
                                          ExportFormat format,
                                          const TextSink &sink) {
  if (chooseScaling(problem, /*pays=*/false).forbiddenFrom != infiniteCost)
    return Error{"finite costs sum to as much as an infinite one, 10^18: no "
                 "other format tells them apart"};
  ExportedProblem exported(problem);
  TextStream text(sink);
  if (format == ExportFormat::Mps) {
    writeMps(exported, text);
    return std::nullopt;
  }
  constexpr Int128 mostCost = Int128(512409557603043100); // of toulbar2
  if (exported.top > mostCost)
    return Error{"finite costs sum to up to " + toString(exported.top - 1) +
                 ", more than the " + toString(mostCost - 1) +
                 " of cost function networks"};
  (format == ExportFormat::Cfn ? writeCfn : writeWcsp)(exported, text);
  return std::nullopt;
}
