//===- Activations.cpp - Values between ops, as they live -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/Activations.h"

#include "shardopt/Cost/LiveValues.h"

#include <algorithm>
#include <map>

using namespace shardopt;
using namespace shardopt::selection;
using namespace shardopt::cost;

namespace {

/// The buffers of one body.
class BodyBuffers {
public:
  BodyBuffers(const StrategyGraph &graph, unsigned body, size_t firstMoment,
              std::vector<Buffer> &out);

  void write();

private:
  /// Calls `visit` with each strategy of an op, the placements of its operands
  /// and its rule.
  template <typename Visit> void forStrategies(size_t op, Visit visit) const;
  void writeResults(size_t op);
  void writeTransients(size_t op);
  void writeReads(ValueId value);
  /// What an op brings operand `i` to, by number of the request.
  std::map<int32_t, Layout> requestsOf(size_t op, size_t operand) const;

  void add(size_t node, size_t begin, size_t end, std::vector<double> bytes);
  const StrategyGraph &graph;
  const Body &body;
  const Context context;
  const LiveValues live;
  const size_t firstMoment;
  std::vector<Buffer> &out;
  std::vector<size_t> opNodes; ///< by op
  /// By value: the nodes of its reads, in order, where copies are kept.
  std::vector<std::vector<size_t>> reads;
};

} // namespace

BodyBuffers::BodyBuffers(const StrategyGraph &graph, unsigned body,
                         size_t firstMoment, std::vector<Buffer> &out)
    : graph(graph), body(graph.costs().model().bodies[body]),
      context(graph.costs().contextOfBody(graph.context().degrees, body)),
      live(graph.costs(), body, context), firstMoment(firstMoment), out(out),
      opNodes(this->body.nodes.size()), reads(this->body.numValues) {
  for (size_t node = 0; node < graph.nodes().size(); ++node) {
    const std::optional<LayerPlace> &place = graph.nodes()[node].place;
    if (!place || place->body != body)
      continue;
    if (place->read)
      reads[*place->read].push_back(node);
    else
      opNodes[place->op] = node;
  }
}

template <typename Visit>
void BodyBuffers::forStrategies(size_t op, Visit visit) const {
  const Node &node = body.nodes[op];
  const GraphNode &at = graph.nodes()[opNodes[op]];
  for (size_t s = 0; s < at.numStrategies(); ++s) {
    auto dim = Dim(at.value(s, 0));
    std::vector<Placement> incoming;
    for (size_t i = 0; i < node.operands.size(); ++i)
      incoming.push_back(op == 0 ? Placement{Layout(at.value(s, 1 + i)),
                                             graph.costs().model().rowBytes}
                                 : *live.placement(node.operands[i],
                                                   Layout(at.value(s, 1 + i))));
    visit(s, incoming, node.op->rule(dim, incoming, context));
  }
}

void BodyBuffers::add(size_t node, size_t begin, size_t end,
                      std::vector<double> bytes) {
  end = std::min(end, body.nodes.size());
  bool isEmpty = std::all_of(bytes.begin(), bytes.end(),
                             [](double count) { return count == 0; });
  if (begin < end && !isEmpty)
    out.push_back(
        {node, firstMoment + begin, firstMoment + end, std::move(bytes)});
}

/// What an op leaves, until it is read or, where copies are kept, until the
/// first reader, which hands on what there is from then on.
void BodyBuffers::writeResults(size_t op) {
  std::vector<ValueId> made = body.nodes[op].results;
  std::vector<std::vector<double>> bytes(made.size());
  if (op == 0) {
    made.push_back(body.residual);
    bytes.emplace_back();
  }
  forStrategies(op, [&](size_t, auto &incoming, const Rule &rule) {
    for (size_t i = 0; i < made.size(); ++i) {
      bool isResidual = i == body.nodes[op].results.size();
      Layout layout =
          (isResidual ? incoming[0] : rule.results[i].placement).layout;
      bytes[i].push_back(live.bytes(made[i], layout));
    }
  });
  for (size_t i = 0; i < made.size(); ++i) {
    const std::vector<size_t> &readers = reads[made[i]];
    size_t end = readers.empty() ? live.lastRead(made[i]) + 1
                                 : graph.nodes()[readers.front()].place->op;
    add(opNodes[op], std::max(op, live.ownFrom(made[i])), end,
        std::move(bytes[i]));
  }
}

/// What an op brings operands to whose copies are not kept.
void BodyBuffers::writeTransients(size_t op) {
  const Node &node = body.nodes[op];
  std::vector<double> bytes;
  forStrategies(op, [&](size_t, auto &incoming, const Rule &rule) {
    double sum = 0;
    for (size_t i = 0; op > 0 && i < node.operands.size(); ++i) {
      ValueId value = node.operands[i];
      const Placement &to = rule.operands[i].required;
      bool isCopied =
          incoming[i].layout != to.layout && incoming[i].layout != Layout::R;
      bool isFirst =
          std::find(node.operands.begin(), node.operands.begin() + long(i),
                    value) == node.operands.begin() + long(i);
      if (isCopied && isFirst && reads[value].empty() &&
          op >= live.ownFrom(value))
        sum += live.copied(value, to);
    }
    bytes.push_back(sum);
  });
  add(opNodes[op], op, op + 1, std::move(bytes));
}

std::map<int32_t, Layout> BodyBuffers::requestsOf(size_t op,
                                                  size_t operand) const {
  const GraphNode &at = graph.nodes()[opNodes[op]];
  std::string name = "request " + std::to_string(operand);
  auto port =
      std::find_if(at.ports.begin(), at.ports.end(),
                   [&](const Port &known) { return known.name == name; });
  std::map<int32_t, Layout> requests;
  forStrategies(op, [&](size_t s, auto &, const Rule &rule) {
    requests[at.value(s, size_t(port - at.ports.begin()))] =
        rule.operands[operand].required.layout;
  });
  return requests;
}

/// The copies of a value from one reader to the next.
void BodyBuffers::writeReads(ValueId value) {
  const std::vector<size_t> &readers = reads[value];
  for (size_t k = 0; k < readers.size(); ++k) {
    const GraphNode &read = graph.nodes()[readers[k]];
    size_t op = read.place->op;
    size_t next = k + 1 < readers.size()
                      ? graph.nodes()[readers[k + 1]].place->op
                      : live.lastRead(value) + 1;
    std::map<int32_t, Layout> requests = requestsOf(op, read.place->operand);
    std::vector<double> during, behind;
    for (size_t s = 0; s < read.numStrategies(); ++s) {
      auto before = LayoutSet(read.value(s, 0));
      auto after = LayoutSet(read.value(s, 2));
      LayoutSet all = before | after;
      auto taken = requests.find(read.value(s, 1));
      if (!(before & bit(Layout::R)) && taken != requests.end())
        all |= bit(taken->second);
      // A second operand that is the same value counts what is left.
      during.push_back(
          live.bytes(value, LayoutSet(next == op ? all & ~after : all)));
      behind.push_back(live.bytes(value, after));
    }
    size_t from = live.ownFrom(value);
    if (op >= from)
      add(readers[k], op, op + 1, std::move(during));
    add(readers[k], std::max(op + 1, from), next, std::move(behind));
  }
}

void BodyBuffers::write() {
  for (size_t op = 0; op < body.nodes.size(); ++op) {
    writeResults(op);
    writeTransients(op);
  }
  for (ValueId value = 0; value < body.numValues; ++value)
    writeReads(value);
}

Activations selection::activationsOf(const StrategyGraph &graph) {
  Activations activations;
  const std::vector<Body> &bodies = graph.costs().model().bodies;
  for (unsigned body = 0; body < bodies.size(); ++body) {
    BodyBuffers(graph, body, activations.moments.size(), activations.buffers)
        .write();
    for (const Node &node : bodies[body].nodes)
      activations.moments.push_back(node.name);
  }
  return activations;
}
