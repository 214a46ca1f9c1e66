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
  const Wanted head = writeHead();
  const LayerIndex &layers = costs.layers();
  const size_t numStages = graph.stageList.size();
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

/// Finds the values whose copies matter: those of which something was made
/// before a reader pays for what it takes. What a reader takes of a value that
/// is passed on is a copy of its root as well.
void GraphWriter::countReads(const Body &body, const BodyIndex &index) {
  std::vector<Value> &of = values[&body - model.bodies.data()];
  std::vector<size_t> reads(of.size());
  for (size_t i = 1; i < body.nodes.size(); ++i)
    for (ValueId value : body.nodes[i].operands) {
      of[value].lastPaid = ++reads[value];
      if (const ValueId root = index.values[value].root; root != value)
        ++reads[root];
    }
  for (Value &value : of)
    value.isShared = value.lastPaid > 1;
}

/// The set of copies in which `copy` is, too. A whole one gives every other for
/// nothing.
static int32_t withCopy(int32_t copies, Layout copy) {
  copies |= bit(copy);
  return copies & bit(Layout::R) ? bit(Layout::R) : copies;
}

/// Calls `visit` for every combination of layouts in which `operands` come.
template <typename Values, typename Visit>
static void forEachIncoming(const std::vector<ValueId> &operands,
                            const Values &values,
                            std::vector<Placement> &incoming, Visit visit) {
  if (incoming.size() == operands.size())
    return visit();
  const ValueId value = operands[incoming.size()];
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

void GraphWriter::writeOp(unsigned body, size_t number) {
  const Node &op = model.bodies[body].nodes[number];
  const BodyIndex &index = costs.body(body);
  const bool isFirst = number == 0;
  std::vector<Value> &of = values[body];
  std::vector<unsigned> kinds;
  std::vector<Context> contexts;
  for (unsigned kind = 0; kind < costs.layers().kinds().size(); ++kind)
    if (costs.layers().kinds()[kind].body == body) {
      kinds.push_back(kind);
      contexts.push_back(costs.context(degrees, costs.layers().kinds()[kind]));
    }
  const std::vector<double> counts = layersOf(body);

  std::vector<Port> ports = {{"dim", PortKind::Dim}};
  const size_t firstOperand = ports.size();
  for (size_t i = 0; i < op.operands.size(); ++i)
    ports.push_back({"operand " + std::to_string(i), PortKind::Layout});
  const size_t firstResult = ports.size();
  for (size_t i = 0; i < op.results.size(); ++i)
    ports.push_back({"result " + std::to_string(i), PortKind::Layout});
  // What is made here and whose copies matter, and what is read of such.
  std::vector<ValueId> made(op.results);
  if (isFirst)
    made.push_back(model.bodies[body].residual);
  std::vector<size_t> copiesPorts, requestPorts(op.operands.size());
  for (ValueId value : made) {
    copiesPorts.push_back(ports.size());
    if (of[value].isShared)
      ports.push_back({"copies", PortKind::Copies});
  }
  for (size_t i = 0; i < op.operands.size() && !isFirst; ++i) {
    requestPorts[i] = ports.size();
    ports.push_back({"request " + std::to_string(i), PortKind::Request});
  }

  const size_t node = addNode(op.name, ports);
  graph.nodeList[node].variable = op.variable;
  graph.nodeList[node].place = LayerPlace{body, number};
  std::vector<Requests> requests(op.operands.size());
  auto place = [&](ValueId value, const Placement &at) {
    of[value].places[size_t(at.layout)] = at;
  };
  auto addStrategies = [&](Dim dim, const std::vector<Placement> &incoming) {
    const Rule rule = op.op->rule(dim, incoming, contexts.front());
    if (!rule.isLegal())
      return;
    std::vector<int32_t> row(graph.nodeList[node].ports.size());
    row[0] = int32_t(dim);
    double moving = 0;
    for (size_t i = 0; i < incoming.size(); ++i) {
      const OperandRule &taken = rule.operands[i];
      row[firstOperand + i] = int32_t(incoming[i].layout);
      if (isFirst)
        continue;
      const Request request{taken.required.layout, taken.rows,
                            incoming[i].rowBytes, taken.required.over,
                            taken.copy};
      Requests &known = requests[i];
      auto same = std::find_if(known.begin(), known.end(), [&](auto &other) {
        return other.to == request.to && other.rows == request.rows &&
               other.rowBytes == request.rowBytes &&
               other.over == request.over && other.copy == request.copy;
      });
      row[requestPorts[i]] = int32_t(same - known.begin());
      if (same == known.end())
        known.push_back(request);
      if (!of[op.operands[i]].isShared)
        moving += reshard(incoming[i].layout, request.to, request.rows,
                          request.rowBytes, request.over);
    }
    for (size_t i = 0; i < made.size(); ++i) {
      const bool isResidual = i == op.results.size();
      const Placement at = isResidual ? incoming[0] : rule.results[i].placement;
      place(made[i], at);
      if (!isResidual)
        row[firstResult + i] = int32_t(at.layout);
      if (of[made[i]].isShared)
        row[copiesPorts[i]] = withCopy(0, at.layout);
    }
    GraphNode &to = graph.nodeList[node];
    const size_t begin = to.seconds.size();
    addStrategy(to, row, moving, counts);
    to.bytes.resize(to.seconds.size());
    for (size_t k = 0; k < kinds.size(); ++k) {
      const OpCost cost = op.op->cost(dim, incoming, contexts[k]);
      const double seconds = time.seconds(cost, degrees);
      for (size_t stage = 0; stage < counts.size(); ++stage) {
        const double layers = double(graph.stageList[stage].kinds[kinds[k]]);
        to.seconds[begin + stage] += layers * seconds;
        to.bytes[begin + stage] +=
            layers * (cost.weightBytes + cost.cacheBytes);
      }
    }
    if (!isFirst)
      return;
    // The residual goes from stage to stage in the layout of the next one.
    double sending = 0;
    if (degrees.pp > 1)
      for (const Collective &collective :
           time.transfer(incoming[0].layout, rows * model.rowBytes, degrees))
        sending += time.seconds(collective, degrees);
    for (size_t stage = 0; stage < counts.size(); ++stage)
      if (const Stage &at = graph.stageList[stage];
          !at.isLast && at.nextBody == body)
        to.seconds[begin + stage] += sending;
  };

  for (const DimChoice &choice : op.op->choices()) {
    if (!contains(op, choice.dim))
      continue;
    std::vector<Placement> incoming;
    if (isFirst) {
      // It finds the residual as it wants it.
      const Placement any{Layout::R, model.rowBytes};
      const Rule rule = op.op->rule(choice.dim, {&any, 1}, contexts.front());
      incoming = {rule.operands[0].required};
      addStrategies(choice.dim, incoming);
      continue;
    }
    forEachIncoming(op.operands, of, incoming,
                    [&] { addStrategies(choice.dim, incoming); });
  }

  for (size_t i = 0; i < made.size(); ++i) {
    const bool isResidual = i == op.results.size();
    Value &value = of[made[i]];
    value.layout = {node, isResidual ? firstOperand : firstResult + i};
    if (!value.isShared)
      continue;
    value.copies = {node, copiesPorts[i]};
    for (const std::optional<Placement> &at : value.places)
      if (at)
        value.sets.push_back(withCopy(0, at->layout));
  }
  if (isFirst) {
    anchors[body] = {node, firstOperand};
    return;
  }
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const ValueId value = op.operands[i], root = index.values[value].root;
    join(of[value].layout, {node, firstOperand + i});
    const PortOf requested{node, requestPorts[i]};
    const LayerPlace place{body, number, value, i};
    writeRead(op, of[value], place, true, requested, requests[i], counts);
    if (root != value)
      writeRead(op, of[root], {body, number, root, i}, false, requested,
                requests[i], counts);
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
  const size_t node =
      addNode(op.name + ".read", {{"before", PortKind::Copies},
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
        const Layout from = cheapestCopy(copies,
                                         {request.to, request.rows,
                                          request.rowBytes, request.over},
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
