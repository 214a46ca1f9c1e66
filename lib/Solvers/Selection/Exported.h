//===- Exported.h - What all formats say of a problem -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SELECTION_EXPORTED_H
#define SHARDOPT_LIB_SOLVERS_SELECTION_EXPORTED_H

#include "shardopt/Solvers/Selection/Export.h"
#include "shardopt/Solvers/Selection/Verify.h"

#include <functional>
#include <type_traits>

namespace shardopt::solve {

/// Text on its way to whoever takes it, in pieces.
class TextStream {
public:
  explicit TextStream(const TextSink &sink) : sink(sink) {
    buffer.reserve(2 * pieceBytes);
  }
  ~TextStream() { sink(buffer); }
  TextStream(const TextStream &) = delete;
  TextStream &operator=(const TextStream &) = delete;

  TextStream &operator<<(std::string_view text) {
    buffer += text;
    if (buffer.size() >= pieceBytes) {
      sink(buffer);
      buffer.clear();
    }
    return *this;
  }
  TextStream &operator<<(Int128 number);
  template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  TextStream &operator<<(T number) {
    return addNumber(int64_t(number));
  }

private:
  static constexpr size_t pieceBytes = 1 << 16;
  TextStream &addNumber(int64_t number);

  const TextSink &sink;
  std::string buffer;
};

/// Costs of a set of nodes, each there once; row-major, the last one fastest.
struct CostTable {
  std::vector<int32_t> nodes;
  std::vector<int64_t> costs;
};

/// The limit at some time, of the strategies that use more than the least of
/// their nodes, the takers.
struct Capacity {
  int64_t numTakers = 0;
  Int128 sum = 0;   ///< of what all takers use more than the least
  Int128 slack = 0; ///< what of it fits
  /// What has to be not taken at least.
  Int128 requirement() const { return sum - slack; }
};

/// A problem as all formats say it. It is read where it stands: only what is
/// small compared with it is kept.
class ExportedProblem {
public:
  explicit ExportedProblem(const Problem &problem);

  size_t numNodes() const { return problem.numNodes(); }
  size_t size(size_t node) const { return problem.numStrategies(node); }
  /// Of nodes and then edges.
  size_t numTables() const { return problem.numNodes() + problem.numEdges(); }
  /// The nodes of a table, in order, each once.
  std::vector<int32_t> scope(size_t table) const;
  CostTable makeTable(size_t table) const;

  /// Capacities at which a node is live: [first, second).
  std::pair<int32_t, int32_t> liveAt(size_t node) const { return live[node]; }
  /// What a strategy uses more than the least of its node; those with more than
  /// nothing are takers.
  int64_t extraUsage(size_t node, size_t strategy) const {
    return problem.usages[node][strategy] - leastUsages[node];
  }
  /// Calls `visit(capacity, nodes)` for all capacities in order, with the nodes
  /// that are live, in order.
  void forEachCapacity(
      const std::function<void(const Capacity &, const std::vector<int32_t> &)>
          &visit) const;

  const Problem &problem;
  std::vector<Capacity> capacities;
  /// No assignment without infinite costs costs as much.
  Int128 top = 0;

private:
  void findCapacities();

  std::vector<int64_t> leastUsages;              ///< of nodes
  std::vector<std::pair<int32_t, int32_t>> live; ///< of nodes
};

/// Goes on to the next entry of a row-major table: the digits of its nodes.
void nextEntry(const ExportedProblem &problem, const CostTable &table,
               std::vector<size_t> &digits);

void writeCfn(const ExportedProblem &problem, TextStream &text);
void writeWcsp(const ExportedProblem &problem, TextStream &text);
void writeMps(const ExportedProblem &problem, TextStream &text);

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVERS_SELECTION_EXPORTED_H
