//===- GridAxis.cpp - Axes of the grid of devices -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/GridAxis.h"

using namespace shardopt;

AxisMap<int64_t> shardopt::gridShape(const Degrees &degrees) {
  return {{degrees.pp, degrees.ep, degrees.tp}};
}

AxisGroup shardopt::groupOf(GridAxis axis, const Degrees &degrees) {
  AxisMap<int64_t> shape = gridShape(degrees);
  AxisGroup group;
  group.size = shape[axis];
  for (size_t inner = size_t(axis) + 1; inner < numGridAxes; ++inner)
    group.stride *= shape.entries[inner];
  return group;
}

AxisMap<int64_t> shardopt::coordinatesOf(int64_t rank,
                                         const AxisMap<int64_t> &shape) {
  AxisMap<int64_t> coordinates;
  for (size_t axis = numGridAxes; axis-- > 0;) {
    coordinates.entries[axis] = rank % shape.entries[axis];
    rank /= shape.entries[axis];
  }
  return coordinates;
}

static constexpr AxisMap<const char *> names = {{"pp", "ep", "tp"}};

const char *shardopt::spell(GridAxis axis) { return names[axis]; }

std::optional<GridAxis> shardopt::parseGridAxis(std::string_view name) {
  for (GridAxis axis : allAxes)
    if (name == names[axis])
      return axis;
  return std::nullopt;
}
