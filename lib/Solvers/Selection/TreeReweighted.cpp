//===- TreeReweighted.cpp - Bounds and solutions from messages ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/TreeReweighted.h"

#include "Kernels.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

TreeReweighted::TreeReweighted(const Network &network) : network(network) {
  size_t count = 0;
  for (const Network::Edge &edge : network.edges) {
    offsets.push_back(count);
    count += network.sizes[edge.u] + network.sizes[edge.v];
  }
  messages.assign(count, 0.0);
  size_t largest = 0;
  for (size_t i = 0; i < network.numNodes(); ++i) {
    size_t earlier = 0, later = 0;
    for (const Network::Link &link : network.linksOf(int32_t(i)))
      ++(link.other < int32_t(i) ? earlier : later);
    gamma.push_back(1.0 / double(std::max<size_t>({earlier, later, 1})));
    largest = std::max(largest, size_t(network.sizes[i]));
  }
  beliefs.resize(largest);
  outgoing.resize(largest);
  scores.resize(largest);
}

void TreeReweighted::carryOver(const TreeReweighted &before,
                               const Network &old) {
  std::vector<int32_t> oldNodes(network.numNodes(), -1);
  for (size_t i = 0, j = 0; i < network.numNodes(); ++i) {
    while (j < old.numNodes() && old.graphNodes[j] < network.graphNodes[i])
      ++j;
    if (j < old.numNodes() && old.graphNodes[j] == network.graphNodes[i])
      oldNodes[i] = int32_t(j);
  }
  auto copy = [&](size_t edge, size_t oldEdge, int32_t node) {
    int32_t oldNode = oldNodes[node];
    const double *from =
        before.messages.data() + before.messageTo(oldEdge, oldNode);
    double *to = messages.data() + messageTo(edge, node);
    const int32_t *oldLabels = old.labels.data() + old.first[oldNode];
    const int32_t *labels = network.labels.data() + network.first[node];
    // Labels rise, and those that are left were there before.
    for (int32_t s = 0, r = 0; s < network.sizes[node]; ++s) {
      while (oldLabels[r] != labels[s])
        ++r;
      to[s] = from[r];
    }
  };
  for (size_t e = 0; e < network.edges.size(); ++e) {
    int32_t u = network.edges[e].u, v = network.edges[e].v;
    if (oldNodes[u] < 0 || oldNodes[v] < 0)
      continue;
    for (const Network::Link &link : old.linksOf(oldNodes[u]))
      if (link.other == oldNodes[v]) {
        copy(e, link.edge, u);
        copy(e, link.edge, v);
        break;
      }
  }
}

std::vector<double>
TreeReweighted::rises(const std::vector<double> &unary) const {
  std::vector<double> result = unary;
  for (size_t i = 0; i < network.numNodes(); ++i) {
    size_t k = network.sizes[i];
    double *own = result.data() + network.first[i];
    for (const Network::Link &link : network.linksOf(int32_t(i))) {
      const double *incoming =
          messages.data() + messageTo(link.edge, int32_t(i));
      for (size_t x = 0; x < k; ++x)
        own[x] += incoming[x];
    }
    double least = *std::min_element(own, own + k);
    for (size_t x = 0; x < k; ++x)
      own[x] -= least;
  }
  return result;
}

double TreeReweighted::sweep(const std::vector<double> &unary, bool forward,
                             Assignment &decoded) {
  int32_t n = int32_t(network.numNodes());
  decoded.resize(n);
  double bound = 0;
  for (int32_t step = 0; step < n; ++step) {
    int32_t i = forward ? step : n - 1 - step;
    size_t k = network.sizes[i];
    const double *own = unary.data() + network.first[i];
    std::copy(own, own + k, beliefs.begin());
    std::copy(own, own + k, scores.begin());
    size_t numNext = 0;
    for (const Network::Link &link : network.linksOf(i)) {
      const double *incoming = messages.data() + messageTo(link.edge, i);
      bool isNext = (link.other > i) == forward;
      numNext += isNext;
      for (size_t x = 0; x < k; ++x)
        beliefs[x] += incoming[x];
      const double *given = incoming;
      if (!isNext) // what the strategy chosen there costs
        given = network.tableFrom(network.edges[link.edge], link.other) +
                size_t(decoded[link.other]) * k;
      for (size_t x = 0; x < k; ++x)
        scores[x] += given[x];
    }
    decoded[i] = int32_t(std::min_element(scores.begin(), scores.begin() + k) -
                         scores.begin());
    double least = *std::min_element(beliefs.begin(), beliefs.begin() + k);
    bound += (1 - gamma[i] * double(numNext)) * least;

    for (const Network::Link &link : network.linksOf(i)) {
      if ((link.other > i) != forward)
        continue;
      const double *incoming = messages.data() + messageTo(link.edge, i);
      for (size_t x = 0; x < k; ++x)
        outgoing[x] = gamma[i] * beliefs[x] - incoming[x];
      double *message = messages.data() + messageTo(link.edge, link.other);
      size_t others = network.sizes[link.other];
      minPlus(outgoing.data(), k,
              network.tableFrom(network.edges[link.edge], i), others, message);
      double shift = *std::min_element(message, message + others);
      bound += shift;
      for (size_t y = 0; y < others; ++y)
        message[y] -= shift;
    }
  }
  return bound;
}
