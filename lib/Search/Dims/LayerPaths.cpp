//===- LayerPaths.cpp - The best walks through one layer ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerPaths.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace shardopt;
using namespace shardopt::cost;

/// The dims that may be taken at step number `i`.
static DimSet dimsAt(const Trellis &trellis, size_t i, Dim anchor,
                     Span<const DimSet> domains) {
  if (i == 0)
    return only(anchor);
  return domains[trellis.steps[i].variable];
}

static size_t numStatesAfter(const Trellis &trellis, size_t step) {
  return step + 1 < trellis.steps.size() ? trellis.steps[step + 1].numStates
                                         : trellis.exits.size();
}

/// Calls `visit(state, edge, dim)` for every legal edge at step number `i`
/// whose dim is in `allowed`.
template <typename Visit>
static void forEachLegal(const Trellis &trellis, size_t i, DimSet allowed,
                         Visit visit) {
  const Trellis::Step &step = trellis.steps[i];
  for (unsigned state = 0; state < step.numStates; ++state) {
    for (Dim dim : dimsBelow(step.numDims)) {
      const Edge &edge = trellis.edge(step, state, dim);
      if (edge.legal && contains(allowed, dim))
        visit(state, edge, dim);
    }
  }
}

/// The same for every edge that may be taken.
template <typename Visit>
static void forEachEdge(const Trellis &trellis, size_t i, Dim anchor,
                        Span<const DimSet> domains, Visit visit) {
  forEachLegal(trellis, i, dimsAt(trellis, i, anchor, domains),
               [&](unsigned state, const Edge &edge, Dim dim) {
                 if (edge.fits)
                   visit(state, edge, dim);
               });
}

std::vector<LeastCost> cost::leastCosts(const Trellis &trellis, Dim anchor,
                                        Span<const DimSet> domains) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<LeastCost> before(1), after;
  for (size_t i = 0; i < trellis.steps.size(); ++i) {
    after.assign(numStatesAfter(trellis, i), {infinity, infinity});
    forEachEdge(trellis, i, anchor, domains,
                [&](unsigned state, const Edge &edge, Dim) {
                  LeastCost &least = after[edge.next];
                  least.seconds = std::min(
                      least.seconds, before[state].seconds + edge.seconds);
                  least.bytes =
                      std::min(least.bytes, before[state].bytes + edge.bytes);
                });
    std::swap(before, after);
  }
  return before;
}

double cost::leastLiveBytes(const Trellis &trellis,
                            Span<const DimSet> domains) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> before(1), after;
  for (size_t i = 0; i < trellis.steps.size(); ++i) {
    const Trellis::Step &step = trellis.steps[i];
    after.assign(numStatesAfter(trellis, i), infinity);
    forEachLegal(trellis, i, domains[step.variable],
                 [&](unsigned state, const Edge &edge, Dim dim) {
                   double &least = after[edge.next];
                   double held = trellis.liveBytes[step.edge(state, dim)];
                   least = std::min(least, std::max(before[state], held));
                 });
    std::swap(before, after);
  }
  return *std::min_element(before.begin(), before.end());
}

LayerPaths::LayerPaths(const Trellis &trellis, Dim anchor,
                       Span<const DimSet> domains)
    : trellis(trellis), labels(1) {
  // Labels of each state, as ranges of `labels`.
  std::vector<std::pair<uint32_t, uint32_t>> before{{0, 1}}, after;
  std::vector<std::vector<Label>> candidates;
  for (size_t i = 0; i < trellis.steps.size(); ++i) {
    size_t numStates = numStatesAfter(trellis, i);
    candidates.resize(std::max(candidates.size(), numStates));
    for (std::vector<Label> &list : candidates)
      list.clear();
    forEachEdge(trellis, i, anchor, domains,
                [&](unsigned state, const Edge &edge, Dim dim) {
                  for (uint32_t parent = before[state].first;
                       parent < before[state].second; ++parent)
                    candidates[edge.next].push_back(
                        {labels[parent].seconds + edge.seconds,
                         labels[parent].bytes + edge.bytes, parent, dim});
                });
    after.clear();
    for (size_t state = 0; state < numStates; ++state) {
      prune(candidates[state]);
      auto begin = uint32_t(labels.size());
      labels.insert(labels.end(), candidates[state].begin(),
                    candidates[state].end());
      after.push_back({begin, uint32_t(labels.size())});
    }
    std::swap(before, after);
  }

  for (unsigned exit = 0; exit < before.size(); ++exit)
    for (uint32_t i = before[exit].first; i < before[exit].second; ++i)
      pathList.push_back({exit, labels[i].seconds, labels[i].bytes, i});
}

/// Leaves the candidates that no other equals or beats in both seconds and
/// bytes.
void LayerPaths::prune(std::vector<Label> &candidates) {
  std::sort(candidates.begin(), candidates.end(),
            [](const Label &a, const Label &b) {
              return std::tie(a.seconds, a.bytes, a.parent, a.dim) <
                     std::tie(b.seconds, b.bytes, b.parent, b.dim);
            });
  size_t kept = 0;
  for (const Label &candidate : candidates)
    if (kept == 0 || candidate.bytes < candidates[kept - 1].bytes)
      candidates[kept++] = candidate;
  candidates.resize(kept);
}

void LayerPaths::writeDims(const Path &path, Span<Dim> dims) const {
  uint32_t label = path.label;
  for (size_t i = trellis.steps.size(); i-- > 0;) {
    dims[trellis.steps[i].variable] = labels[label].dim;
    label = labels[label].parent;
  }
}
