//===- GraphWriter.h - Writes the graph of a model --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_DIMS_GRAPHWRITER_H
#define SHARDOPT_LIB_SEARCH_DIMS_GRAPHWRITER_H

#include "shardopt/Cost/LayerExit.h"
#include "shardopt/Search/Dims/StrategyGraph.h"

#include <array>

namespace shardopt::selection {

class GraphWriter {
public:
  GraphWriter(StrategyGraph &graph, Span<const cost::DimSet> domains);
  void write();

private:
  using Layout = cost::Layout;
  struct OpNode;

  /// What a reader asks for; equal ones have one number.
  struct Request {
    Layout to = Layout::R;
    double rows = 0;
    double rowBytes = 0;
    Axis over = Axis::Tp;
    cost::OperandRule::Copy copy = cost::OperandRule::Copy::None;

    bool operator==(const Request &other) const {
      return to == other.to && rows == other.rows &&
             rowBytes == other.rowBytes && over == other.over &&
             copy == other.copy;
    }
  };
  using Requests = std::vector<Request>;

  /// The number of `request` among `known`, to which a new one is added.
  static int32_t numberOf(const Request &request, Requests &known);

  /// What is known of a value of a body.
  struct Value {
    PortOf layout; ///< where its op left it
    std::array<std::optional<cost::Placement>, cost::numLayouts> places;
    // If copies for one reader may serve another:
    bool isShared = false;
    PortOf copies;                  ///< made so far
    std::vector<int32_t> sets;      ///< values of that port
    size_t reads = 0, lastPaid = 0; ///< so far, and the last one that counts
  };

  /// What wants a sum: values of `port`, with what they stand for.
  struct Wanted {
    PortOf port;
    PortKind kind = PortKind::Layout;
    struct Option {
      int32_t value = 0;
      Layout to = Layout::R;
      double rows = 0;
    };
    std::vector<Option> options;
    std::optional<PortOf> output; ///< LayerExit::outputLayout, if it is wanted
  };

  // Nodes.
  size_t addNode(const std::string &name, std::vector<Port> ports);
  /// Adds a strategy that takes `seconds` as often as `counts` says, by stage.
  void addStrategy(GraphNode &node, Span<const int32_t> values, double seconds,
                   Span<const double> counts);
  void join(PortOf a, PortOf b) { graph.linkList.push_back({a, b}); }
  double reshard(Layout from, Layout to, double rows, double rowBytes,
                 Axis over = Axis::Tp) const;
  bool contains(const cost::Node &node, Dim dim) const {
    return cost::contains(domains[node.variable], dim);
  }

  // Layers.
  void writeBody(unsigned body);
  void countReads(const cost::Body &body, const cost::BodyIndex &index);
  void writeOp(unsigned body, size_t number);
  void addStrategies(OpNode &at, Dim dim,
                     const std::vector<cost::Placement> &incoming);
  void addCosts(const OpNode &at, Dim dim,
                const std::vector<cost::Placement> &incoming, size_t begin);
  void finishResults(const OpNode &at);
  void readOperands(const OpNode &at);
  void writeRead(const cost::Node &op, Value &value, const LayerPlace &place,
                 bool isPaid, PortOf requested, const Requests &requests,
                 Span<const double> counts);

  // Ends.
  void writeExit(unsigned body, const Wanted &wanted,
                 Span<const double> counts);
  void writeSummand(unsigned body, size_t i, cost::ValueId value,
                    const Wanted &wanted, Span<const double> counts);
  void writeSum(unsigned body, const std::vector<cost::ValueId> &summands,
                bool mayAddInPlace, const Wanted &wanted,
                Span<const double> counts);
  double secondsToMove(size_t i, Layout layout, bool inPlace,
                       const Wanted::Option &wanted) const;
  void writeEmbedding();
  Wanted writeHead();

  std::vector<double> layersOf(unsigned body) const;

  StrategyGraph &graph;
  const Span<const cost::DimSet> domains;
  const cost::CostModel &costs;
  const cost::Model &model;
  const cost::TimeModel &time;
  const Degrees &degrees;
  const double rows;

  std::vector<std::vector<Value>> values; ///< by body
  std::vector<PortOf> anchors;            ///< by body: layout of its residual
  PortOf embedDim;
};

} // namespace shardopt::selection

#endif // SHARDOPT_LIB_SEARCH_DIMS_GRAPHWRITER_H
