//===- Tightening.cpp - A bound from joined nodes -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Tightening.h"

#include "shardopt/Solvers/Selection/JoinedPairs.h"
#include "shardopt/Solvers/Selection/Reductions.h"

using namespace shardopt;
using namespace shardopt::solve;

void Tightening::step(const Network &network, Incumbent &best) {
  if (!joined)
    return join(network, best);
  Incumbent found;
  found.cost = best.cost;
  uint64_t workBefore = joined->descent.work();
  joined->descent.step(found);
  visited += joined->descent.work() - workBefore;
  if (!found.assignment.empty())
    best.improve(network,
                 expand(joined->graph, joined->network, found.assignment));
  if (joined->descent.isDone())
    endDescent(best);
}

/// Nothing is left that is cheaper than the best assignment.
void Tightening::endWithProof() {
  current = nullptr;
  joined = nullptr;
  done = true;
}

void Tightening::join(const Network &network, Incumbent &best) {
  constexpr int64_t steps = 200;
  Graph graph = current->graph;
  visited += 4 * current->network.tables.size();
  size_t count = joinPairs(graph, current->descent.multipliers().prices);
  if (count)
    reduce(graph);
  if (graph.isInfeasible)
    return endWithProof();
  done = count == 0;
  if (done)
    return;
  joined = std::make_unique<PricedGraph>(std::move(graph));
  visited += 4 * joined->network.tables.size();
  if (joined->network.numNodes() == 0) {
    best.improve(network, expand(joined->graph, joined->network, {}));
    return endWithProof();
  }
  joined->descent.setSchedule(steps);
  joined->descent.aimAtBound(true);
}

void Tightening::endDescent(const Incumbent &best) {
  constexpr int mostPasses = 4;
  std::optional<Certificate> certificate =
      certify(joined->network, joined->descent.messages(),
              joined->descent.multipliers(), joined->graph.constant);
  Graph graph = joined->graph;
  if (certificate) {
    least = std::max(least, certificate->bound);
    Int128 target = targetOf(best);
    if (least >= target)
      return endWithProof();
    if (dropTooDear(graph, joined->network, *certificate, target - 1))
      reduce(graph);
    if (graph.isInfeasible)
      return endWithProof();
  }
  current = std::make_shared<PricedGraph>(std::move(graph), joined->descent,
                                          joined->network);
  joined = nullptr;
  done = ++passes == mostPasses;
}
