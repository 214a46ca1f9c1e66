//===- Resharding.cpp - What it costs to change a layout ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Resharding.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <queue>

using namespace shardopt;
using namespace shardopt::graphs;

double graphs::collectiveSeconds(const cost::TimeModel &time, const Mesh &mesh,
                                 cost::CollectiveKind kind, size_t axis,
                                 double bytes) {
  const MeshAxis &along = mesh.axes()[axis];
  cost::Collective collective;
  collective.kind = kind;
  collective.bytes = bytes;
  // A group of neighbours is tp, and one of strides is dp around it.
  Degrees degrees(along.size, 1, 1, 1);
  if (along.stride > 1) {
    degrees.tp = along.stride;
    degrees.dp = along.size;
    collective.axis = Axis::Dp;
  }
  return time.seconds(collective, degrees);
}

Resharding::Resharding(const cost::TimeModel &time, const Mesh &mesh,
                       llvm::ArrayRef<int64_t> shape, double bytes)
    : time(time), mesh(mesh), shape(shape), bytes(bytes) {
  AxisDims last = replicated;
  for (size_t axis = 0; axis < mesh.axes().size(); ++axis)
    last[axis] = int8_t(int64_t(shape.size()) - 1);
  known.resize(numberOf(last) + 1);
}

/// Its digits are the dims of the axes.
size_t Resharding::numberOf(const AxisDims &layout) const {
  size_t number = 0;
  for (size_t axis = 0; axis < mesh.axes().size(); ++axis)
    number = number * (shape.size() + 1) + size_t(layout[axis] + 1);
  return number;
}

/// Whether no later axis shards the dim of `axis`, so that its blocks are the
/// smallest.
static bool isLast(const AxisDims &layout, size_t axis) {
  for (size_t later = axis + 1; later < mostAxes; ++later)
    if (layout[later] == layout[axis])
      return false;
  return true;
}

/// Dijkstra's algorithm over the layouts that the tensor may have.
std::vector<ReshardCost> Resharding::waysFrom(const AxisDims &from) const {
  using Entry = std::pair<double, AxisDims>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  std::vector<ReshardCost> best(known.size(),
                                {std::numeric_limits<double>::infinity(), 0});
  best[numberOf(from)] = {};
  open.push({0, from});
  while (!open.empty()) {
    auto [spent, at] = open.top();
    open.pop();
    ReshardCost before = best[numberOf(at)];
    if (spent > before.seconds)
      continue;
    auto step = [&, at = at](size_t axis, int8_t dim, const ReshardCost &cost) {
      AxisDims next = at;
      next[axis] = dim;
      if (dim >= 0 && (!isLast(next, axis) || !mesh.divides(next, shape)))
        return;
      ReshardCost &known = best[numberOf(next)];
      if (known.seconds <= before.seconds + cost.seconds)
        return;
      known = {before.seconds + cost.seconds, before.bytes + cost.bytes};
      open.push({known.seconds, next});
    };
    double held = bytes / double(mesh.blocks(at));
    for (size_t axis = 0; axis < mesh.axes().size(); ++axis) {
      int8_t sharded = at[axis];
      if (sharded >= 0 && !isLast(at, axis))
        continue;
      auto collective = [&](cost::CollectiveKind kind, double made) {
        return ReshardCost{collectiveSeconds(time, mesh, kind, axis, made),
                           made};
      };
      if (sharded >= 0)
        step(axis, -1,
             collective(cost::CollectiveKind::AllGather,
                        held * double(mesh.axes()[axis].size)));
      ReshardCost exchange =
          sharded < 0 ? ReshardCost()
                      : collective(cost::CollectiveKind::AllToAll, held);
      for (size_t dim = 0; dim < shape.size(); ++dim)
        if (int8_t(dim) != sharded)
          step(axis, int8_t(dim), exchange);
    }
  }
  return best;
}

ReshardCost Resharding::cost(const AxisDims &from, const AxisDims &to) {
  if (from == to)
    return {};
  std::vector<ReshardCost> &ways = known[numberOf(from)];
  if (ways.empty())
    ways = waysFrom(from);
  return ways[numberOf(to)];
}
