//===- Resharding.cpp - What it costs to change a layout ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Resharding.h"

#include "llvm/ADT/STLExtras.h"

#include <queue>

using namespace shardopt;
using namespace shardopt::graphs;

double Resharding::collective(cost::CollectiveKind kind, size_t axis,
                              double bytes) const {
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

/// Whether no later axis shards the dim of `axis`, so that its blocks are the
/// smallest.
static bool isLast(const Layout &layout, size_t axis) {
  for (size_t later = axis + 1; later < mostAxes; ++later)
    if (layout[later] == layout[axis])
      return false;
  return true;
}

/// Dijkstra's algorithm over the layouts that `tensor` may have.
Resharding::Distances Resharding::distancesFrom(const TensorSize &tensor,
                                                const Layout &from) const {
  using Entry = std::pair<double, Layout>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  Distances best = {{from, 0}};
  open.push({0, from});
  while (!open.empty()) {
    const auto [spent, at] = open.top();
    open.pop();
    if (spent > best[at])
      continue;
    auto step = [&](size_t axis, int8_t dim, double seconds) {
      Layout next = at;
      next[axis] = dim;
      if (dim >= 0 &&
          (!isLast(next, axis) || !mesh.divides(next, tensor.shape)))
        return;
      const auto [place, isNew] = best.try_emplace(next, spent + seconds);
      if (!isNew && place->second <= spent + seconds)
        return;
      place->second = spent + seconds;
      open.push({place->second, next});
    };
    for (size_t axis = 0; axis < mesh.axes().size(); ++axis) {
      const int8_t sharded = at[axis];
      if (sharded >= 0 && !isLast(at, axis))
        continue;
      const double bytes = tensor.bytes / double(mesh.blocks(at));
      if (sharded >= 0)
        step(axis, -1,
             collective(cost::CollectiveKind::AllGather, axis,
                        bytes * double(mesh.axes()[axis].size)));
      for (size_t dim = 0; dim < tensor.shape.size(); ++dim)
        if (int8_t(dim) != sharded)
          step(axis, int8_t(dim),
               sharded < 0
                   ? 0
                   : collective(cost::CollectiveKind::AllToAll, axis, bytes));
    }
  }
  return best;
}

double Resharding::seconds(const TensorSize &tensor, const Layout &from,
                           const Layout &to) {
  if (from == to)
    return 0;
  const auto [place, isNew] = known.try_emplace({tensor, from});
  if (isNew)
    place->second = distancesFrom(tensor, from);
  return place->second.at(to);
}
