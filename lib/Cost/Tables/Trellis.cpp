//===- Trellis.cpp - All walks of layouts through one layer ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/Trellis.h"

#include "ExitSeconds.h"
#include "KeyedValues.h"
#include "OpEntries.h"
#include "StateNumbers.h"
#include "VariationSet.h"
#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Model/LayerState.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <optional>

using namespace shardopt;
using namespace shardopt::cost;

namespace {

class TrellisBuilder {
public:
  /// Of all kinds of a body, or of one of them alone.
  TrellisBuilder(const CostModel &costs, unsigned bodyNumber,
                 const TableRequest &request,
                 std::optional<unsigned> onlyKind = std::nullopt);
  Trellis build();
  double leastSecondsOfFirst(size_t numNodes);

private:
  void addStep(size_t nodeNumber);
  OpEntries &entriesOf(const Node &node);
  void addEdge(size_t nodeNumber, size_t edge, const StateKey &from, Dim dim);
  Edge makeEdge(size_t nodeNumber, const StateKey &from, Dim dim, double &held);
  OpEntry &entry(const Node &node, Dim dim, Span<const Placement> incoming);
  void fill(OpEntry &entry, const Node &node, Dim dim,
            Span<const Placement> incoming);
  uint16_t variation(const OpModel &op, Dim dim, Span<const Placement> incoming,
                     double seconds, double bytes);
  double reshardSeconds(OpEntry &entry, unsigned operand, Layout from,
                        double rowBytes);

  void addExits();
  void addLeaves(const std::vector<LayerExit> &ends);
  void addHeads(const std::vector<LayerExit> &ends);

  StateKey pack(const std::vector<ValueId> &live, uint16_t variation) const;
  void unpack(const std::vector<ValueId> &live, const StateKey &key);

  const CostModel &costs;
  const TimeModel &time;
  const Body &body;
  const BodyIndex &index;
  const unsigned bodyNumber;
  const Degrees &degrees;
  const Span<const DimSet> domains;
  SharedCosts *const shared;
  /// The kinds of this body and what their ops see. Edges cost the first.
  std::vector<unsigned> kinds;
  std::vector<Context> contexts;

  Trellis trellis;
  std::optional<LiveValues> moments; ///< where values are limited
  VariationSet variations;
  LayerState state;
  /// The placement of each value in each layout; the layout implies the rest.
  std::vector<std::array<Placement, numLayouts>> places;
  StateNumbers states, nextStates;
  OpEntries own;                ///< of an op that shares nothing
  Pool<OpEntry> ownEntries;     ///< the same
  OpEntries *entries = nullptr; ///< of the op at hand
};

} // namespace

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

StateKey TrellisBuilder::pack(const std::vector<ValueId> &live,
                              uint16_t variation) const {
  StateKey key;
  key.setVariation(variation);
  for (size_t i = 0; i < live.size(); ++i) {
    LayoutSet copies = 0;
    if (index.values[live[i]].fansOut)
      copies = withoutNeedless(state.copies(live[i]));
    key.setValue(i, state.layout(live[i]), copies);
  }
  return key;
}

void TrellisBuilder::unpack(const std::vector<ValueId> &live,
                            const StateKey &key) {
  for (size_t i = 0; i < live.size(); ++i) {
    Layout layout = key.layout(i);
    LayoutSet copies = key.copies(i);
    state.restore(live[i], places[live[i]][int(layout)],
                  copies ? copies : bit(layout));
  }
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

TrellisBuilder::TrellisBuilder(const CostModel &costs, unsigned bodyNumber,
                               const TableRequest &request,
                               std::optional<unsigned> onlyKind)
    : costs(costs), time(costs.time()), body(costs.model().bodies[bodyNumber]),
      index(costs.body(bodyNumber)), bodyNumber(bodyNumber),
      degrees(request.degrees), domains(request.domains),
      shared(request.shared), state(index), places(body.numValues) {
  const std::vector<LayerKind> &all = costs.layers().kinds();
  for (unsigned kind = 0; kind < all.size(); ++kind) {
    if (all[kind].body != bodyNumber || kind != onlyKind.value_or(kind))
      continue;
    kinds.push_back(kind);
    contexts.push_back(costs.context(degrees, all[kind], request.range));
  }
  if (costs.limits().limitsActivations())
    moments.emplace(costs, bodyNumber, contexts.front());
}

Trellis TrellisBuilder::build() {
  states.number(StateKey());
  for (size_t i = 0; i < body.nodes.size(); ++i)
    addStep(i);
  addExits();
  return std::move(trellis);
}

double TrellisBuilder::leastSecondsOfFirst(size_t numNodes) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  states.number(StateKey());
  std::vector<double> seconds = {0}, after;
  for (size_t i = 0; i < numNodes; ++i) {
    addStep(i);
    after.assign(states.size(), unbounded);
    const Trellis::Step &step = trellis.steps.back();
    for (size_t e = 0; e < size_t(step.numStates) * step.numDims; ++e) {
      const Edge &edge = trellis.edges[step.firstEdge + e];
      if (!edge.legal || !edge.fits)
        continue;
      double &least = after[edge.next];
      least = std::min(least, seconds[e / step.numDims] + edge.seconds);
    }
    std::swap(seconds, after);
  }
  return *std::min_element(seconds.begin(), seconds.end());
}

void TrellisBuilder::addStep(size_t nodeNumber) {
  const Node &node = body.nodes[nodeNumber];
  assert(node.operands.size() <= maxOperands && "too many operands");
  assert(index.liveAfter[nodeNumber].size() <= Body::maxLiveValues &&
         "too many live values");
  Span<const DimChoice> choices = node.op->choices();
  Trellis::Step step;
  step.variable = node.variable;
  step.firstEdge = unsigned(trellis.edges.size());
  step.numStates = unsigned(states.size());
  step.numDims = numDims(choices);
  trellis.steps.push_back(step);
  trellis.edges.resize(step.firstEdge + size_t(step.numStates) * step.numDims);
  if (moments)
    trellis.liveBytes.resize(trellis.edges.size());
  entries = &entriesOf(node);
  entries->reserve(step.numDims, node.operands.size());
  nextStates.clear();
  for (unsigned from = 0; from < step.numStates; ++from)
    for (const DimChoice &choice : choices)
      if (domains.empty() || contains(domains[node.variable], choice.dim))
        addEdge(nodeNumber, step.edge(from, choice.dim), states[from],
                choice.dim);
  std::swap(states, nextStates);
}

void TrellisBuilder::addEdge(size_t nodeNumber, size_t edge,
                             const StateKey &from, Dim dim) {
  double held = 0;
  trellis.edges[edge] = makeEdge(nodeNumber, from, dim, held);
  if (moments)
    trellis.liveBytes[edge] = held;
}

/// Entries of `node`, as far as they are known. Variations are numbered by
/// trellis.
OpEntries &TrellisBuilder::entriesOf(const Node &node) {
  bool varies = kinds.size() > 1 && node.op->dependsOnWindow();
  if (shared && !varies)
    if (std::optional<OpKey> key = OpKey::of(node, contexts.front()))
      return shared->entries(*key);
  own = OpEntries();
  ownEntries.clear();
  return own;
}

/// Where values are followed as they live, `held` is what there is of them.
Edge TrellisBuilder::makeEdge(size_t nodeNumber, const StateKey &from, Dim dim,
                              double &held) {
  const Node &node = body.nodes[nodeNumber];
  if (nodeNumber > 0) {
    unpack(index.liveAfter[nodeNumber - 1], from);
  } else {
    // The first op finds the residual as it wants it.
    Placement residual;
    residual.rowBytes = costs.model().rowBytes;
    Rule rule = node.op->rule(dim, Span<const Placement>(&residual, 1),
                              contexts.front());
    residual = rule.operands[0].required;
    trellis.anchors[int(dim)] = residual.layout;
    places[body.residual][int(residual.layout)] = residual;
    state.leave(body.residual, residual);
  }

  InlineVector<Placement, maxOperands> incoming;
  for (ValueId operand : node.operands)
    incoming.push_back(state.placement(operand));
  OpEntry &found = entry(node, dim, incoming);
  Edge edge;
  edge.legal = found.legal;
  if (!edge.legal)
    return edge;

  edge.seconds = found.seconds;
  edge.bytes = found.bytes;
  if (moments) {
    held = moments->held(nodeNumber, state, found.operands, found.results);
    edge.fits = held <= costs.limits().activationBytes;
  }
  for (unsigned i = 0; i < incoming.size(); ++i) {
    ValueId value = node.operands[i];
    double cheapest = -1;
    for (Layout copy : allLayouts) {
      if (!(state.copies(value) & bit(copy)))
        continue;
      double seconds = reshardSeconds(found, i, copy, incoming[i].rowBytes);
      if (cheapest < 0 || seconds < cheapest)
        cheapest = seconds;
    }
    edge.seconds += cheapest;
    state.take(value, found.operands[i]);
  }
  for (size_t i = 0; i < node.results.size(); ++i) {
    const Placement &place = found.results[i].placement;
    places[node.results[i]][int(place.layout)] = place;
    state.leave(node.results[i], place);
  }

  edge.next = nextStates.number(
      pack(index.liveAfter[nodeNumber],
           variations.sum(from.variation(), found.variation)));
  return edge;
}

OpEntry &TrellisBuilder::entry(const Node &node, Dim dim,
                               Span<const Placement> incoming) {
  size_t number = size_t(dim);
  for (const Placement &placement : incoming)
    number = number * numLayouts + size_t(placement.layout);
  uint16_t &place = entries->places[number];
  bool isNew = place == 0;
  if (isNew) {
    entries->filled.push_back(entries == &own ? &ownEntries.add()
                                              : &shared->newEntry());
    place = uint16_t(entries->filled.size());
  }
  OpEntry &found = *entries->filled[place - 1];
  // A layout says all else of a placement, but perhaps not for all degrees.
  if (isNew ||
      !std::equal(incoming.begin(), incoming.end(), found.incoming.begin()))
    fill(found, node, dim, incoming);
  return found;
}

void TrellisBuilder::fill(OpEntry &entry, const Node &node, Dim dim,
                          Span<const Placement> incoming) {
  entry.incoming = {};
  entry.variation = 0;
  entry.seconds = entry.bytes = 0;
  for (const Placement &placement : incoming)
    entry.incoming.push_back(placement);
  Rule rule = node.op->rule(dim, incoming, contexts.front());
  entry.legal = rule.isLegal();
  if (!entry.legal)
    return;
  entry.operands = rule.operands;
  entry.results = rule.results;
  std::fill_n(&entry.reshards[0][0], maxOperands * numLayouts, -1.0);

  OpCost cost = node.op->cost(dim, incoming, contexts.front());
  entry.seconds = time.seconds(cost, degrees);
  entry.bytes = cost.weightBytes + cost.cacheBytes;
  if (kinds.size() > 1 && node.op->dependsOnWindow())
    entry.variation =
        variation(*node.op, dim, incoming, entry.seconds, entry.bytes);
}

/// What the other kinds of this body pay for the op beyond `seconds` and
/// `bytes`.
uint16_t TrellisBuilder::variation(const OpModel &op, Dim dim,
                                   Span<const Placement> incoming,
                                   double seconds, double bytes) {
  std::vector<Variation> more(costs.layers().kinds().size());
  for (size_t i = 1; i < kinds.size(); ++i) {
    OpCost cost = op.cost(dim, incoming, contexts[i]);
    more[kinds[i]] = {time.seconds(cost, degrees) - seconds,
                      cost.weightBytes + cost.cacheBytes - bytes};
  }
  return variations.add(more);
}

double TrellisBuilder::reshardSeconds(OpEntry &entry, unsigned operand,
                                      Layout from, double rowBytes) {
  double &seconds = entry.reshards[operand][int(from)];
  const OperandRule &rule = entry.operands[operand];
  if (seconds < 0)
    seconds = time.reshard(from, rule.required.layout, rule.rows, rowBytes,
                           degrees, rule.required.over);
  return seconds;
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

void TrellisBuilder::addExits() {
  std::vector<LayerExit> ends;
  trellis.exits.resize(states.size());
  for (size_t i = 0; i < states.size(); ++i) {
    unpack(index.liveAfter.back(), states[i]);
    ends.push_back(
        makeExit(body, [this](ValueId value) { return state.layout(value); }));
    trellis.exits[i].variations = variations[states[i].variation()];
  }
  addLeaves(ends);
  if (bodyNumber == costs.layers().lastBody())
    addHeads(ends);
}

void TrellisBuilder::addLeaves(const std::vector<LayerExit> &ends) {
  const Context &context = contexts.front();
  ExitSeconds exits(time, double(context.rows), costs.model().rowBytes,
                    context);
  for (size_t i = 0; i < ends.size(); ++i)
    for (Layout to : {Layout::R, Layout::T, Layout::H})
      trellis.exits[i].leaveSeconds[int(to)] = exits.leave(ends[i], to);
}

void TrellisBuilder::addHeads(const std::vector<LayerExit> &ends) {
  const Context &context = contexts.front();
  const OpModel &head = *costs.model().head.op;
  double rowBytes = costs.model().rowBytes;
  std::optional<Collective> back = costs.tokenReturn(degrees);
  double returning = back ? time.seconds(*back, degrees) : 0;
  for (const DimChoice &choice : head.choices()) {
    Dim dim = choice.dim;
    // What the head does, by whether the output arrives in T.
    for (Layout output : {Layout::R, Layout::T}) {
      Placement incoming{output, rowBytes};
      Span<const Placement> operands(&incoming, 1);
      OperandRule taken = head.rule(dim, operands, context).operands[0];
      double busy =
          time.seconds(head.cost(dim, operands, context), degrees) + returning;
      ExitSeconds exits(time, taken.rows, rowBytes, context);
      for (size_t i = 0; i < ends.size(); ++i)
        if (ends[i].outputLayout() == output)
          trellis.exits[i].headSeconds[int(dim)] =
              exits.leave(ends[i], taken.required.layout) + busy;
    }
  }
}

Trellis cost::buildTrellis(const CostModel &costs, unsigned body,
                           const TableRequest &request) {
  return TrellisBuilder(costs, body, request).build();
}

double cost::leastSecondsOfFirst(const CostModel &costs, unsigned kind,
                                 size_t numNodes, const TableRequest &request) {
  unsigned body = costs.layers().kinds()[kind].body;
  return TrellisBuilder(costs, body, request, kind)
      .leastSecondsOfFirst(numNodes);
}
