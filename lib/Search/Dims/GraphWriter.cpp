//===- GraphWriter.cpp - Writes the graph of a model ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphWriter.h"

#include "shardopt/Cost/Copies.h"
#include "shardopt/Model/LayerState.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::selection;
using namespace shardopt::cost;

GraphWriter::GraphWriter(StrategyGraph &graph, Span<const DimSet> domains)
    : graph(graph), domains(domains), costs(graph.costs()),
      model(costs.model()), time(costs.time()),
      degrees(graph.context().degrees), rows(double(graph.context().rows)),
      values(model.bodies.size()), anchors(model.bodies.size()) {}

void GraphWriter::write() {
  for (unsigned body = 0; body < model.bodies.size(); ++body)
    writeBody(body);
  writeEmbedding();
  Wanted head = writeHead();
  const LayerIndex &layers = costs.layers();
  size_t numStages = graph.stageList.size();
  for (size_t t = 0; t < layers.transitions().size(); ++t) {
    const Transition &transition = layers.transitions()[t];
    Wanted next{anchors[transition.next], PortKind::Layout, {}, {}};
    for (Layout to : {Layout::R, Layout::T, Layout::H})
      next.options.push_back({int32_t(to), to, rows});
    std::vector<double> counts(numStages);
    for (size_t stage = 0; stage < numStages; ++stage)
      counts[stage] = double(graph.stageList[stage].transitions[t]);
    writeExit(transition.body, next, counts);
  }
  std::vector<double> last(numStages);
  last.back() = 1;
  writeExit(layers.lastBody(), head, last);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

size_t GraphWriter::addNode(const std::string &name, std::vector<Port> ports) {
  graph.nodeList.emplace_back();
  graph.nodeList.back().name = name;
  graph.nodeList.back().ports = std::move(ports);
  return graph.nodeList.size() - 1;
}

void GraphWriter::addStrategy(GraphNode &node, Span<const int32_t> values,
                              double seconds, Span<const double> counts) {
  assert(values.size() == node.ports.size() && "a value for each port");
  node.values.insert(node.values.end(), values.begin(), values.end());
  for (double count : counts)
    node.seconds.push_back(count * seconds);
}

double GraphWriter::reshard(Layout from, Layout to, double rows,
                            double rowBytes, Axis over) const {
  return time.reshard(from, to, rows, rowBytes, degrees, over);
}

/// How many layers of `body` the stages have.
std::vector<double> GraphWriter::layersOf(unsigned body) const {
  std::vector<double> counts;
  for (const Stage &stage : graph.stageList) {
    double count = 0;
    for (size_t kind = 0; kind < stage.kinds.size(); ++kind)
      if (costs.layers().kinds()[kind].body == body)
        count += double(stage.kinds[kind]);
    counts.push_back(count);
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

void GraphWriter::writeBody(unsigned body) {
  values[body].resize(model.bodies[body].numValues);
  countReads(model.bodies[body], costs.body(body));
  for (size_t i = 0; i < model.bodies[body].nodes.size(); ++i)
    writeOp(body, i);
}

/// Finds the values whose copies matter: those that something was made of
/// before a reader pays for what it takes. What a reader takes of a value that
/// is passed on is a copy of its root as well.
void GraphWriter::countReads(const Body &body, const BodyIndex &index) {
  std::vector<Value> &of = values[&body - model.bodies.data()];
  std::vector<size_t> reads(of.size());
  for (size_t i = 1; i < body.nodes.size(); ++i)
    for (ValueId value : body.nodes[i].operands) {
      of[value].lastPaid = ++reads[value];
      if (ValueId root = index.values[value].root; root != value)
        ++reads[root];
    }
  for (Value &value : of)
    value.isShared = value.lastPaid > 1;
}

/// The set of copies in which `copy` is, too. A whole one gives every other for
/// nothing.
static int32_t withCopy(int32_t copies, Layout copy) {
  return withoutNeedless(LayoutSet(copies) | bit(copy));
}

/// Calls `visit` for every combination of layouts in which `operands` come.
template <typename Values, typename Visit>
static void forEachIncoming(const std::vector<ValueId> &operands,
                            const Values &values,
                            std::vector<Placement> &incoming, Visit visit) {
  if (incoming.size() == operands.size())
    return visit();
  ValueId value = operands[incoming.size()];
  // A value that is read twice comes in one layout.
  for (size_t i = 0; i < incoming.size(); ++i)
    if (operands[i] == value) {
      incoming.push_back(Placement(incoming[i]));
      forEachIncoming(operands, values, incoming, visit);
      incoming.pop_back();
      return;
    }
  for (const std::optional<Placement> &place : values[value].places) {
    if (!place)
      continue;
    incoming.push_back(*place);
    forEachIncoming(operands, values, incoming, visit);
    incoming.pop_back();
  }
}

/// An op of a body as a node: its ports, and what its strategies share.
struct GraphWriter::OpNode {
  OpNode(const GraphWriter &writer, unsigned body, size_t number);

  /// Whether `made[i]` is the residual, which the first op of a body finds.
  bool isResidual(size_t i) const { return i == op.results.size(); }

  const unsigned body;
  const size_t number;
  const Node &op;
  const bool isFirst;
  std::vector<unsigned> kinds;   ///< of the layers that have this body
  std::vector<Context> contexts; ///< by kind
  std::vector<double> counts;    ///< layers by stage
  /// What is made here: its copies matter where it is shared.
  std::vector<ValueId> made;
  std::vector<Requests> requests; ///< by operand

  std::vector<Port> ports;
  size_t firstOperand = 0, firstResult = 0;
  std::vector<size_t> copiesPorts;  ///< of what is made, where it is shared
  std::vector<size_t> requestPorts; ///< by operand; none of a first op
  size_t node = 0;
};

GraphWriter::OpNode::OpNode(const GraphWriter &writer, unsigned body,
                            size_t number)
    : body(body), number(number), op(writer.model.bodies[body].nodes[number]),
      isFirst(number == 0), counts(writer.layersOf(body)), made(op.results),
      requests(op.operands.size()), requestPorts(op.operands.size()) {
  const auto &all = writer.costs.layers().kinds();
  for (unsigned kind = 0; kind < all.size(); ++kind)
    if (all[kind].body == body) {
      kinds.push_back(kind);
      contexts.push_back(writer.costs.context(writer.degrees, all[kind]));
    }
  if (isFirst)
    made.push_back(writer.model.bodies[body].residual);

  ports = {{"dim", PortKind::Dim}};
  firstOperand = ports.size();
  for (size_t i = 0; i < op.operands.size(); ++i)
    ports.push_back({"operand " + std::to_string(i), PortKind::Layout});
  firstResult = ports.size();
  for (size_t i = 0; i < op.results.size(); ++i)
    ports.push_back({"result " + std::to_string(i), PortKind::Layout});
  for (ValueId value : made) {
    copiesPorts.push_back(ports.size());
    if (writer.values[body][value].isShared)
      ports.push_back({"copies", PortKind::Copies});
  }
  for (size_t i = 0; i < op.operands.size() && !isFirst; ++i) {
    requestPorts[i] = ports.size();
    ports.push_back({"request " + std::to_string(i), PortKind::Request});
  }
}

void GraphWriter::writeOp(unsigned body, size_t number) {
  OpNode at(*this, body, number);
  at.node = addNode(at.op.name, at.ports);
  graph.nodeList[at.node].variable = at.op.variable;
  graph.nodeList[at.node].place = LayerPlace{body, number};
  for (const DimChoice &choice : at.op.op->choices()) {
    if (!contains(at.op, choice.dim))
      continue;
    std::vector<Placement> incoming;
    if (at.isFirst) {
      // It finds the residual as it wants it.
      Placement any{Layout::R, model.rowBytes};
      Rule rule = at.op.op->rule(choice.dim, {&any, 1}, at.contexts.front());
      incoming = {rule.operands[0].required};
      addStrategies(at, choice.dim, incoming);
      continue;
    }
    forEachIncoming(at.op.operands, values[body], incoming,
                    [&] { addStrategies(at, choice.dim, incoming); });
  }
  finishResults(at);
  if (at.isFirst)
    anchors[body] = {at.node, at.firstOperand};
  else
    readOperands(at);
}

int32_t GraphWriter::numberOf(const Request &request, Requests &known) {
  auto same = std::find(known.begin(), known.end(), request);
  int32_t number = int32_t(same - known.begin());
  if (same == known.end())
    known.push_back(request);
  return number;
}

/// The strategy of an op that is sharded on `dim` and whose operands come as
/// `incoming` says, if there is one.
void GraphWriter::addStrategies(OpNode &at, Dim dim,
                                const std::vector<Placement> &incoming) {
  Rule rule = at.op.op->rule(dim, incoming, at.contexts.front());
  if (!rule.isLegal())
    return;
  std::vector<Value> &of = values[at.body];
  std::vector<int32_t> row(at.ports.size());
  row[0] = int32_t(dim);
  double moving = 0;
  for (size_t i = 0; i < incoming.size(); ++i) {
    const OperandRule &taken = rule.operands[i];
    row[at.firstOperand + i] = int32_t(incoming[i].layout);
    if (at.isFirst)
      continue;
    Request request{taken.required.layout, taken.rows, incoming[i].rowBytes,
                    taken.required.over, taken.copy};
    row[at.requestPorts[i]] = numberOf(request, at.requests[i]);
    if (!of[at.op.operands[i]].isShared)
      moving += reshard(incoming[i].layout, request.to, request.rows,
                        request.rowBytes, request.over);
  }
  for (size_t i = 0; i < at.made.size(); ++i) {
    Placement to = at.isResidual(i) ? incoming[0] : rule.results[i].placement;
    of[at.made[i]].places[size_t(to.layout)] = to;
    if (!at.isResidual(i))
      row[at.firstResult + i] = int32_t(to.layout);
    if (of[at.made[i]].isShared)
      row[at.copiesPorts[i]] = withCopy(0, to.layout);
  }
  GraphNode &to = graph.nodeList[at.node];
  size_t begin = to.seconds.size();
  addStrategy(to, row, moving, at.counts);
  to.bytes.resize(to.seconds.size());
  addCosts(at, dim, incoming, begin);
}

/// What the newest strategy of an op costs, from entry `begin` on: by stage.
void GraphWriter::addCosts(const OpNode &at, Dim dim,
                           const std::vector<Placement> &incoming,
                           size_t begin) {
  GraphNode &to = graph.nodeList[at.node];
  for (size_t k = 0; k < at.kinds.size(); ++k) {
    OpCost cost = at.op.op->cost(dim, incoming, at.contexts[k]);
    double seconds = time.seconds(cost, degrees);
    for (size_t stage = 0; stage < at.counts.size(); ++stage) {
      double layers = double(graph.stageList[stage].kinds[at.kinds[k]]);
      to.seconds[begin + stage] += layers * seconds;
      to.bytes[begin + stage] += layers * (cost.weightBytes + cost.cacheBytes);
    }
  }
  if (!at.isFirst)
    return;
  // The residual goes from stage to stage in the layout of the next one.
  double sending = 0;
  if (degrees.pp > 1)
    for (const Collective &collective :
         time.transfer(incoming[0].layout, rows * model.rowBytes, degrees))
      sending += time.seconds(collective, degrees);
  for (size_t stage = 0; stage < at.counts.size(); ++stage)
    if (const Stage &next = graph.stageList[stage];
        !next.isLast && next.nextBody == at.body)
      to.seconds[begin + stage] += sending;
}

/// Says where the values that an op makes are found, and in what copies.
void GraphWriter::finishResults(const OpNode &at) {
  for (size_t i = 0; i < at.made.size(); ++i) {
    Value &value = values[at.body][at.made[i]];
    value.layout = {at.node,
                    at.isResidual(i) ? at.firstOperand : at.firstResult + i};
    if (!value.isShared)
      continue;
    value.copies = {at.node, at.copiesPorts[i]};
    for (const std::optional<Placement> &place : value.places)
      if (place)
        value.sets.push_back(withCopy(0, place->layout));
  }
}

/// Joins the operands of an op with what made them, and pays for its copies.
void GraphWriter::readOperands(const OpNode &at) {
  std::vector<Value> &of = values[at.body];
  const BodyIndex &index = costs.body(at.body);
  for (size_t i = 0; i < at.op.operands.size(); ++i) {
    ValueId value = at.op.operands[i], root = index.values[value].root;
    join(of[value].layout, {at.node, at.firstOperand + i});
    PortOf requested{at.node, at.requestPorts[i]};
    writeRead(at.op, of[value], {at.body, at.number, value, i}, true, requested,
              at.requests[i], at.counts);
    if (root != value)
      writeRead(at.op, of[root], {at.body, at.number, root, i}, false,
                requested, at.requests[i], at.counts);
  }
}

/// One more reader of `value`, which takes from the copies there are; one that
/// is not paid takes from the copies of a value that this one is passed on as.
void GraphWriter::writeRead(const Node &op, Value &value,
                            const LayerPlace &place, bool isPaid,
                            PortOf requested, const Requests &requests,
                            Span<const double> counts) {
  if (!value.isShared || ++value.reads > value.lastPaid)
    return;
  size_t node = addNode(op.name + ".read", {{"before", PortKind::Copies},
                                            {"request", PortKind::Request},
                                            {"after", PortKind::Copies}});
  graph.nodeList[node].place = place;
  struct Copy {
    Layout layout;
  };
  std::vector<int32_t> after;
  for (int32_t before : value.sets)
    for (size_t i = 0; i < requests.size(); ++i) {
      const Request &request = requests[i];
      double seconds = 0;
      if (isPaid) {
        InlineVector<Copy, numLayouts> copies;
        for (Layout layout : allLayouts)
          if (before & bit(layout))
            copies.push_back({layout});
        Layout from = cheapestCopy(copies,
                                   {request.to, request.rows, request.rowBytes,
                                    request.over},
                                   time, degrees)
                          .layout;
        seconds = reshard(from, request.to, request.rows, request.rowBytes,
                          request.over);
      }
      int32_t left = before;
      if (request.copy == OperandRule::Copy::Required)
        left = withCopy(before, request.to);
      else if (request.copy == OperandRule::Copy::Whole)
        left = withCopy(before, Layout::R);
      after.push_back(left);
      addStrategy(graph.nodeList[node],
                  std::vector<int32_t>{before, int32_t(i), left}, seconds,
                  counts);
    }
  join(value.copies, {node, 0});
  join(requested, {node, 1});
  value.copies = {node, 2};
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  value.sets = std::move(after);
}
