//===- StrategyGraph.h - Sharding dims as strategies of nodes ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All strategies of given degrees as a graph. Each op is a node; its strategies
// are its dims, each with every combination of layouts in which its operands
// can come. What the cost model charges where values meet is a node as well:
//
//   a read     of a value that several ops read: which copies there are, which
//              one is made of them, and what that reshard takes; a value is
//              resharded to one layout once
//   a summand  that leaves a layer for the next one, or for the head
//   the embedding, which brings the residual to its first reader
//
// Strategies have values at *ports*: the layout of an operand, the set of
// copies after a read. A *link* joins two ports whose values must be equal.
// All seconds and bytes are of nodes, by stage of the pipeline, so that any of
// them can be what is minimised or what is limited.
//
//   attn_norm -- copies of normed --.
//       |                           |
//    qkv_proj -- attention -- …   read of normed by ffn_up -- ffn_up -- …
//
// Nothing is computed here that the cost model does not compute: rules and
// costs are those of its ops, reshards those of its clock, and what is summed
// up for a choice of dims is its `Pipeline`, but for rounding.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_STRATEGYGRAPH_H
#define SHARDOPT_SEARCH_DIMS_STRATEGYGRAPH_H

#include "shardopt/Cost/Tables/Trellis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardopt::selection {

/// What the values at a port say.
enum class PortKind : uint8_t {
  Layout,  ///< cost::Layout
  Copies,  ///< a set of layouts, a bit for each
  Request, ///< which reshard an op asks for, by number
  Sum,     ///< what summands so far are like, by number
  Dim,     ///< shardopt::Dim
};

struct Port {
  std::string name;
  PortKind kind = PortKind::Layout;
};

/// Where in a layer a node stands: an op of a body, or a value that the op
/// reads as an operand and keeps copies of.
struct LayerPlace {
  unsigned body = 0;
  size_t op = 0;
  std::optional<cost::ValueId> read = {};
  size_t operand = 0; ///< where the value is read
};

/// One decision. Rows of `values`, `seconds` and `bytes` are of one strategy.
struct GraphNode {
  std::string name;
  /// The variable that it decides: its dim is at port 0.
  std::optional<unsigned> variable;
  std::optional<LayerPlace> place; ///< if it stands in a layer
  std::vector<Port> ports;
  std::vector<int32_t> values; ///< by strategy and port
  std::vector<double> seconds; ///< by strategy and stage
  std::vector<double> bytes;   ///< by strategy and stage; empty: none

  size_t numStrategies() const { return values.size() / ports.size(); }
  int32_t value(size_t strategy, size_t port) const {
    return values[strategy * ports.size() + port];
  }
};

struct PortOf {
  size_t node = 0;
  size_t port = 0;
};

/// Values at `a` and `b` are equal.
struct Link {
  PortOf a, b;
};

/// A strategy for each node.
using Choice = std::vector<int32_t>;

class StrategyGraph {
public:
  /// Of dims in `domains`, one set a variable. `degrees` fit. A body with more
  /// live values than a trellis can have is as good as any other.
  StrategyGraph(const cost::CostModel &costs, const Degrees &degrees,
                Span<const cost::DimSet> domains);

  const cost::CostModel &costs() const { return *model; }
  /// What embedding and head see; the degrees are here.
  const cost::Context &context() const { return outer; }
  const std::vector<cost::Stage> &stages() const { return stageList; }
  const std::vector<GraphNode> &nodes() const { return nodeList; }
  const std::vector<Link> &links() const { return linkList; }

  /// Seconds and bytes of the stages under `choice`.
  cost::Pipeline pipeline(const Choice &choice) const;
  /// Its dims.
  std::vector<Dim> dims(const Choice &choice) const;
  /// The choice that `dims` makes; none if one of them is illegal, or not in
  /// the domains.
  std::optional<Choice> follow(Span<const Dim> dims) const;

  /// "qkv_proj: dim 1, normed T, result H".
  std::string describe(size_t node, size_t strategy) const;

private:
  friend class GraphWriter;

  const cost::CostModel *model;
  cost::Context outer;
  std::vector<cost::Stage> stageList;
  std::vector<GraphNode> nodeList;
  std::vector<Link> linkList;
};

} // namespace shardopt::selection

#endif // SHARDOPT_SEARCH_DIMS_STRATEGYGRAPH_H
