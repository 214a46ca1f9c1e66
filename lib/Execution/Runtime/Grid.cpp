//===- Grid.cpp - Ranks on a grid, and their groups -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Grid.h"

using namespace shardopt;
using namespace shardopt::runtime;

int64_t runtime::packAxes(const std::vector<int64_t> &axes) {
  int64_t packed = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    packed |= (axes[i] + 1) << (4 * i);
  return packed;
}

std::vector<int64_t> runtime::unpackAxes(int64_t packed) {
  std::vector<int64_t> axes;
  for (auto left = uint64_t(packed); left != 0; left >>= 4)
    axes.push_back(int64_t(left & 15) - 1);
  return axes;
}

std::string runtime::describeAxes(int64_t packed) {
  std::string text;
  for (int64_t axis : unpackAxes(packed))
    text += (text.empty() ? "" : ", ") + std::to_string(axis);
  return "[" + text + "]";
}

int64_t Grid::size() const {
  int64_t size = 1;
  for (int64_t along : sizes)
    size *= along;
  return size;
}

int64_t Grid::stride(int64_t axis) const {
  int64_t stride = 1;
  for (size_t inner = axis + 1; inner < sizes.size(); ++inner)
    stride *= sizes[inner];
  return stride;
}

int64_t Grid::coordinate(int64_t rank, int64_t axis) const {
  return rank / stride(axis) % sizes[axis];
}

bool Grid::hasAxes(int64_t packed) const {
  std::vector<bool> seen(sizes.size());
  for (int64_t axis : unpackAxes(packed)) {
    if (axis < 0 || axis >= int64_t(sizes.size()) || seen[axis])
      return false;
    seen[axis] = true;
  }
  return true;
}

Group Grid::group(int64_t rank, int64_t axes) const {
  Group group{axes, {rank}, 0};
  for (int64_t axis : unpackAxes(axes)) {
    // Every member so far becomes one for each coordinate along this axis.
    std::vector<int64_t> wider;
    for (int64_t member : group.members) {
      int64_t first = member - coordinate(member, axis) * stride(axis);
      for (int64_t i = 0; i < sizes[axis]; ++i)
        wider.push_back(first + i * stride(axis));
    }
    group.members = std::move(wider);
  }
  while (group.members[group.own] != rank)
    ++group.own;
  return group;
}
