//===- Elimination.cpp - The best assignment of a region ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Elimination.h"

#include "Kernels.h"

#include <algorithm>
#include <limits>
#include <set>

using namespace shardopt;
using namespace shardopt::solve;

Elimination::Elimination(const Network &network)
    : network(network), placeOf(network.numNodes(), -1) {}

//===----------------------------------------------------------------------===//
// The order
//===----------------------------------------------------------------------===//

namespace {
/// The neighbours of each node of a region among those that are left.
class RegionGraph {
public:
  RegionGraph(const Network &network, const std::vector<int32_t> &region,
              const std::vector<int32_t> &indexOf,
              const Elimination::Domains *domains)
      : neighbours(region.size()), isLeft(region.size(), 1),
        weights(region.size(), 0.0) {
    for (size_t i = 0; i < region.size(); ++i) {
      sizes.push_back(domains
                          ? double(domains->first[i + 1] - domains->first[i])
                          : network.sizes[region[i]]);
      for (const Network::Link &link : network.linksOf(region[i]))
        if (indexOf[link.other] >= 0)
          insert(neighbours[i], indexOf[link.other]);
    }
    for (size_t i = 0; i < region.size(); ++i)
      weigh(int32_t(i));
  }

  /// The node whose elimination makes the smallest table, -1 if none is left.
  int32_t smallest() const {
    return byWeight.empty() ? -1 : byWeight.begin()->second;
  }
  int32_t mostConnected() const {
    int32_t best = -1;
    for (size_t i = 0; i < neighbours.size(); ++i)
      if (isLeft[i] &&
          (best < 0 || neighbours[i].size() > neighbours[best].size()))
        best = int32_t(i);
    return best;
  }
  double weight(int32_t node) const { return weights[node]; }
  const std::vector<int32_t> &neighboursOf(int32_t node) const {
    return neighbours[node];
  }

  void remove(int32_t node, bool connect) {
    isLeft[node] = 0;
    byWeight.erase({weights[node], node});
    std::vector<int32_t> list = neighbours[node];
    for (int32_t i : list) {
      std::vector<int32_t> &own = neighbours[i];
      own.erase(std::lower_bound(own.begin(), own.end(), node));
      if (connect)
        for (int32_t j : list)
          if (i != j)
            insert(own, j);
    }
    for (int32_t i : list)
      weigh(i);
  }

private:
  static void insert(std::vector<int32_t> &list, int32_t node) {
    auto place = std::lower_bound(list.begin(), list.end(), node);
    if (place == list.end() || *place != node)
      list.insert(place, node);
  }
  void weigh(int32_t node) {
    double entries = sizes[node];
    for (int32_t other : neighbours[node])
      entries *= sizes[other];
    byWeight.erase({weights[node], node});
    byWeight.insert({entries, node});
    weights[node] = entries;
  }

  std::vector<std::vector<int32_t>> neighbours; ///< sorted
  std::vector<char> isLeft;
  std::vector<double> sizes, weights;
  std::set<std::pair<double, int32_t>> byWeight; ///< those that are left
};
} // namespace

void Elimination::plan(const std::vector<int32_t> &region, size_t mostEntries,
                       const Domains *domains) {
  for (int32_t node : order)
    placeOf[node] = -1;
  order.clear();
  scopes.clear();
  choices.clear();
  firstChoice.assign(1, 0);
  entries = 0;
  for (size_t i = 0; i < region.size(); ++i)
    placeOf[region[i]] = int32_t(i);
  RegionGraph graph(network, region, placeOf, domains);
  for (int32_t node : region)
    placeOf[node] = -1;

  std::vector<std::vector<int32_t>> neighbours;
  for (int32_t next = graph.smallest(); next >= 0; next = graph.smallest()) {
    if (graph.weight(next) > double(mostEntries)) {
      graph.remove(graph.mostConnected(), /*connect=*/false);
      continue;
    }
    entries += size_t(graph.weight(next));
    placeOf[region[next]] = int32_t(order.size());
    order.push_back(region[next]);
    if (domains)
      choices.insert(choices.end(),
                     domains->strategies.begin() + domains->first[next],
                     domains->strategies.begin() + domains->first[next + 1]);
    else
      for (int32_t s = 0; s < network.sizes[region[next]]; ++s)
        choices.push_back(s);
    firstChoice.push_back(choices.size());
    neighbours.push_back(graph.neighboursOf(next));
    graph.remove(next, /*connect=*/true);
  }
  // Nodes that were left as they are afterwards have no place.
  for (const std::vector<int32_t> &list : neighbours) {
    std::vector<int32_t> &scope = scopes.emplace_back();
    for (int32_t i : list)
      if (placeOf[region[i]] >= 0)
        scope.push_back(placeOf[region[i]]);
    std::sort(scope.begin(), scope.end());
  }
}

//===----------------------------------------------------------------------===//
// The minimum
//===----------------------------------------------------------------------===//

const double *Elimination::tableBetween(const Network::Edge &edge,
                                        int32_t place, int32_t other) {
  Span<const int32_t> rows = domainOf(place), columns = domainOf(other);
  const double *table = network.tableFrom(edge, order[place]);
  size_t width = network.sizes[order[other]];
  if (rows.size() == size_t(network.sizes[order[place]]) &&
      columns.size() == width)
    return table;
  const double *part = parts.data() + parts.size();
  for (int32_t x : rows)
    for (int32_t y : columns)
      parts.push_back(table[size_t(x) * width + y]);
  return part;
}

void Elimination::addBoundary(const std::vector<double> &unary,
                              const Assignment &assignment) {
  size_t n = order.size(), numLinks = 0, numParts = 0;
  costs.resize(std::max(costs.size(), n));
  buckets.resize(std::max(buckets.size(), n));
  for (size_t p = 0; p < n; ++p) {
    numLinks += network.linksOf(order[p]).size();
    for (const Network::Link &link : network.linksOf(order[p]))
      if (placeOf[link.other] > int32_t(p))
        numParts +=
            domainOf(int32_t(p)).size() * domainOf(placeOf[link.other]).size();
  }
  pairs.clear();
  pairs.reserve(numLinks); // factors point into both
  parts.clear();
  parts.reserve(numParts);
  for (size_t p = 0; p < n; ++p) {
    buckets[p].clear();
    int32_t node = order[p];
    Span<const int32_t> domain = domainOf(int32_t(p));
    size_t width = network.sizes[node];
    costs[p].clear();
    for (int32_t s : domain)
      costs[p].push_back(unary[network.first[node] + s]);
    for (const Network::Link &link : network.linksOf(node)) {
      const Network::Edge &edge = network.edges[link.edge];
      int32_t place = placeOf[link.other];
      if (place > int32_t(p)) {
        pairs.push_back({int32_t(p), place});
        buckets[p].push_back(
            {tableBetween(edge, int32_t(p), place), pairs.back()});
      } else if (place < 0) {
        const double *row = network.tableFrom(edge, link.other) +
                            size_t(assignment[link.other]) * width;
        for (size_t x = 0; x < domain.size(); ++x)
          costs[p][x] += row[domain[x]];
      }
    }
  }
}

void Elimination::placeCursors(int32_t place) {
  const std::vector<int32_t> &scope = scopes[place];
  cursors.clear();
  strides.assign(buckets[place].size() * scope.size(), 0);
  for (size_t c = 0; c < buckets[place].size(); ++c) {
    const Factor &factor = buckets[place][c];
    size_t *own = strides.data() + c * scope.size();
    size_t stride = 1;
    for (size_t d = factor.scope.size(); d-- > 1;) {
      size_t at =
          std::lower_bound(scope.begin(), scope.end(), factor.scope[d]) -
          scope.begin();
      own[at] = stride;
      stride *= sizes[at];
    }
    // The last of the scope comes last in every factor that has it.
    bool hasLast = !scope.empty() && own[scope.size() - 1] == 1;
    size_t rowStride = scope.size() < 2 ? 0 : own[scope.size() - 2];
    cursors.push_back({factor.table, stride, rowStride, hasLast});
  }
}

void Elimination::nextBlock() {
  for (size_t d = digits.size(); d-- > 0;) {
    bool carries = ++digits[d] == sizes[d];
    for (size_t c = 0; c < cursors.size(); ++c) {
      size_t stride = strides[c * sizes.size() + d];
      cursors[c].at +=
          carries ? -ptrdiff_t((sizes[d] - 1) * stride) : ptrdiff_t(stride);
    }
    if (!carries)
      return;
    digits[d] = 0;
  }
}

void Elimination::eliminate(int32_t place) {
  const std::vector<int32_t> &scope = scopes[place];
  size_t k = domainOf(place).size();
  sizes.clear();
  size_t total = 1;
  for (int32_t p : scope) {
    sizes.push_back(domainOf(p).size());
    total *= sizes.back();
  }
  // A block has all strategies of the last two of the scope.
  size_t length = scope.empty() ? 1 : sizes.back();
  size_t count = scope.size() < 2 ? 1 : sizes[scope.size() - 2];
  digits.assign(scope.size() < 2 ? 0 : scope.size() - 2, 0);
  placeCursors(place);

  std::vector<double> &table = tables[place];
  table.assign(total, std::numeric_limits<double>::infinity());
  scalars.resize(cursors.size());
  rows.resize(cursors.size());
  for (size_t at = 0; at < total; at += count * length) {
    for (size_t x = 0; x < k; ++x) {
      size_t numScalars = 0, numRows = 0;
      for (const Cursor &cursor : cursors) {
        Strided next{cursor.at + x * cursor.ownStride, cursor.rowStride};
        (cursor.hasLast ? rows[numRows++] : scalars[numScalars++]) = next;
      }
      lowerBlock(costs[place][x], {scalars.data(), numScalars},
                 {rows.data(), numRows}, count, length, table.data() + at);
    }
    nextBlock();
  }
  if (scope.empty())
    constant += table[0];
  else if (scope.size() == 1)
    for (size_t y = 0; y < total; ++y)
      costs[scope[0]][y] += table[y];
  else
    buckets[scope[0]].push_back({table.data(), scope});
}

bool Elimination::minimize(const std::vector<double> &unary,
                           Assignment &assignment) {
  addBoundary(unary, assignment);
  tables.resize(std::max(tables.size(), order.size()));
  constant = 0;
  for (size_t place = 0; place < order.size(); ++place)
    eliminate(int32_t(place));
  if (!(constant < std::numeric_limits<double>::infinity()))
    return false;
  chosen.resize(order.size());
  for (size_t place = order.size(); place-- > 0;) {
    chosen[place] = choose(int32_t(place));
    assignment[order[place]] = domainOf(int32_t(place))[chosen[place]];
  }
  return true;
}

int32_t Elimination::choose(int32_t place) const {
  int32_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int32_t x = 0; x < int32_t(domainOf(place).size()); ++x) {
    double sum = costs[place][x];
    for (const Factor &factor : buckets[place]) {
      size_t index = x;
      for (size_t d = 1; d < factor.scope.size(); ++d) {
        int32_t other = factor.scope[d];
        index = index * domainOf(other).size() + chosen[other];
      }
      sum += factor.table[index];
    }
    if (sum < least) {
      least = sum;
      best = x;
    }
  }
  return best;
}
