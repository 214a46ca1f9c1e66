//===- ExitWriter.cpp - Where layers are entered and left -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphWriter.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::selection;
using namespace shardopt::cost;

//===----------------------------------------------------------------------===//
// Embedding and head
//===----------------------------------------------------------------------===//

void GraphWriter::writeEmbedding() {
  const Node &embed = model.embed;
  size_t node = addNode(
      embed.name, {{"dim", PortKind::Dim}, {"residual", PortKind::Layout}});
  graph.nodeList[node].variable = embed.variable;
  size_t numStages = graph.stageList.size();
  std::vector<double> first(numStages);
  first.front() = 1;
  for (const DimChoice &choice : embed.op->choices()) {
    if (!contains(embed, choice.dim))
      continue;
    Placement made =
        embed.op->rule(choice.dim, {}, graph.outer).results[0].placement;
    OpCost cost = embed.op->cost(choice.dim, {}, graph.outer);
    for (Layout anchor : {Layout::R, Layout::T, Layout::H}) {
      GraphNode &to = graph.nodeList[node];
      double moving =
          reshard(made.layout, anchor, rows, made.rowBytes, made.over);
      addStrategy(to,
                  std::vector<int32_t>{int32_t(choice.dim), int32_t(anchor)},
                  time.seconds(cost, degrees) + moving, first);
      to.bytes.resize(to.seconds.size());
      to.bytes[to.bytes.size() - numStages] = cost.weightBytes;
    }
  }
  join({node, 1}, anchors[costs.layers().firstBody()]);
  embedDim = {node, 0};
}

GraphWriter::Wanted GraphWriter::writeHead() {
  const Node &head = model.head;
  // A table that embedding and head share is held once.
  bool mayShare = degrees.pp == 1 && model.tiedEmbeddings;
  std::vector<Port> ports = {{"dim", PortKind::Dim},
                             {"output", PortKind::Layout},
                             {"request", PortKind::Request}};
  if (mayShare)
    ports.push_back({"embedding's dim", PortKind::Dim});
  size_t node = addNode(head.name, ports);
  graph.nodeList[node].variable = head.variable;
  Wanted wanted{{node, 2}, PortKind::Request, {}, PortOf{node, 1}};
  std::optional<Collective> back = costs.tokenReturn(degrees);
  double returning = back ? time.seconds(*back, degrees) : 0;
  std::vector<double> last(graph.stageList.size());
  last.back() = 1;
  for (const DimChoice &choice : head.op->choices())
    for (Layout output : {Layout::R, Layout::T}) {
      Placement incoming{output, model.rowBytes};
      Span<const Placement> operands(&incoming, 1);
      Rule rule = head.op->rule(choice.dim, operands, graph.outer);
      if (!contains(head, choice.dim) || !rule.isLegal())
        continue;
      const OperandRule &taken = rule.operands[0];
      auto known = std::find_if(wanted.options.begin(), wanted.options.end(),
                                [&](auto &option) {
                                  return option.to == taken.required.layout &&
                                         option.rows == taken.rows;
                                });
      auto request = int32_t(known - wanted.options.begin());
      if (known == wanted.options.end())
        wanted.options.push_back({request, taken.required.layout, taken.rows});
      OpCost cost = head.op->cost(choice.dim, operands, graph.outer);
      std::vector<Dim> embeds = {Dim::None};
      if (mayShare)
        embeds = {Dim::Zero, Dim::One, Dim::None};
      for (Dim embed : embeds) {
        std::vector<int32_t> row = {int32_t(choice.dim), int32_t(output),
                                    request};
        if (mayShare)
          row.push_back(int32_t(embed));
        GraphNode &to = graph.nodeList[node];
        addStrategy(to, row, time.seconds(cost, degrees) + returning, last);
        to.bytes.resize(to.seconds.size());
        bool shares = mayShare && model.sharesTable(embed, choice.dim);
        to.bytes.back() = shares ? 0 : cost.weightBytes;
      }
    }
  if (mayShare)
    join(embedDim, {node, 3});
  return wanted;
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

void GraphWriter::writeExit(unsigned body, const Wanted &wanted,
                            Span<const double> counts) {
  const Body &layer = model.bodies[body];
  LayerExit alike; // as if all of them lay so
  for (size_t i = 0; i < layer.exitResiduals.size(); ++i)
    alike.residuals.push_back(Layout::R);
  for (size_t i = 0; i < layer.exitOutputs.size(); ++i)
    alike.outputs.push_back(Layout::R);
  bool hasOutputs = !layer.exitOutputs.empty();
  if (hasOutputs)
    for (size_t i = 0; i < layer.exitResiduals.size(); ++i)
      writeSummand(body, i, layer.exitResiduals[i], wanted, counts);
  writeSum(body, hasOutputs ? layer.exitOutputs : layer.exitResiduals,
           alike.addsInPlace(), wanted, counts);
}

/// One summand that is moved alone.
void GraphWriter::writeSummand(unsigned body, size_t i, ValueId id,
                               const Wanted &wanted,
                               Span<const double> counts) {
  const Value &value = values[body][id];
  size_t node =
      addNode(graph.nodeList[value.layout.node].name + ".leaves",
              {{"summand", PortKind::Layout}, {"wanted", wanted.kind}});
  for (const std::optional<Placement> &at : value.places) {
    if (!at)
      continue;
    for (const Wanted::Option &option : wanted.options)
      addStrategy(graph.nodeList[node],
                  std::vector<int32_t>{int32_t(at->layout), option.value},
                  secondsToMove(i, at->layout, false, option), counts);
  }
  join(value.layout, {node, 0});
  join(wanted.port, {node, 1});
}

/// Seconds that summand number `i` takes.
double GraphWriter::secondsToMove(size_t i, Layout layout, bool inPlace,
                                  const Wanted::Option &wanted) const {
  LayerExit::Move move = LayerExit::move(i, layout, inPlace, wanted.to);
  double seconds = 0;
  if (move.isSource)
    seconds += reshard(layout, wanted.to, wanted.rows, model.rowBytes);
  if (move.join)
    seconds += time.seconds(
        joinKernel(*move.join, wanted.rows, model.rowBytes, graph.outer));
  return seconds;
}

namespace {

/// What is known of the first summands of a sum, where those that all lie alike
/// are added in place. Whether that is so is guessed before the first of them,
/// and shown by the last.
struct SumSoFar {
  bool inPlace = false;
  bool differ = false;      ///< two of them do
  Layout first = Layout::R; ///< unless they differ
  bool areCut = true;       ///< the rows of all

  int32_t number() const {
    return int32_t(first) * 8 + inPlace * 4 + differ * 2 + areCut;
  }
};

} // namespace

/// Summands that may have to lie alike, or whose rows may all have to
/// be sharded: a node each, which hands on what the next has to know.
void GraphWriter::writeSum(unsigned body, const std::vector<ValueId> &summands,
                           bool mayAddInPlace, const Wanted &wanted,
                           Span<const double> counts) {
  std::vector<SumSoFar> before = {SumSoFar()};
  if (mayAddInPlace) {
    before.push_back(SumSoFar());
    before.back().inPlace = true;
  }
  PortOf previous;
  for (size_t i = 0; i < summands.size(); ++i) {
    const Value &value = values[body][summands[i]];
    bool isLast = i + 1 == summands.size();
    std::vector<Port> ports = {{"summand", PortKind::Layout},
                               {"wanted", wanted.kind},
                               {"before", PortKind::Sum},
                               {"after", PortKind::Sum}};
    if (isLast && wanted.output)
      ports.push_back({"output", PortKind::Layout});
    size_t node =
        addNode(graph.nodeList[value.layout.node].name + ".leaves", ports);
    std::vector<SumSoFar> after;
    for (const SumSoFar &sum : before)
      for (const std::optional<Placement> &at : value.places) {
        if (!at)
          continue;
        SumSoFar next = sum;
        if (i == 0)
          next.first = at->layout;
        else if (!sum.differ && at->layout != sum.first)
          next.differ = true;
        next.areCut &= passThrough(at->layout) == Layout::T;
        if (next.differ)
          next.first = Layout::R;
        // Was the guess right?
        if (next.inPlace && next.differ)
          continue;
        if (isLast && mayAddInPlace && !next.inPlace && !next.differ)
          continue;
        if (std::none_of(after.begin(), after.end(), [&](auto &known) {
              return known.number() == next.number();
            }))
          after.push_back(next);
        for (const Wanted::Option &option : wanted.options) {
          std::vector<int32_t> row = {int32_t(at->layout), option.value,
                                      sum.number(), next.number()};
          if (isLast && wanted.output)
            row.push_back(int32_t(next.areCut ? Layout::T : Layout::R));
          addStrategy(graph.nodeList[node], row,
                      secondsToMove(i, at->layout, next.inPlace, option),
                      counts);
        }
      }
    join(value.layout, {node, 0});
    join(wanted.port, {node, 1});
    if (i > 0)
      join(previous, {node, 2});
    if (isLast && wanted.output)
      join(*wanted.output, {node, 4});
    previous = {node, 3};
    before = std::move(after);
  }
}
