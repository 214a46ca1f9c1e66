//===- GridAxis.cpp - Axes of the grid of devices -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/GridAxis.h"

#include "shardopt/Support/Degrees.h"

using namespace shardopt;

/// The degree that is the size of each axis.
static constexpr AxisMap<Degree> sizes = [] {
  AxisMap<Degree> sizes;
  for (Degree degree : allDegrees)
    if (infoOf(degree).axis)
      sizes.entries[size_t(*infoOf(degree).axis)] = degree;
  return sizes;
}();

AxisMap<int64_t> shardopt::gridShape(const Degrees &degrees) {
  AxisMap<int64_t> shape;
  for (GridAxis axis : allAxes)
    shape[axis] = degrees[sizes[axis]];
  return shape;
}

AxisGroup shardopt::groupOf(GridAxis axis, const Degrees &degrees) {
  AxisGroup group;
  group.size = degrees[sizes[axis]];
  for (size_t inner = size_t(axis) + 1; inner < numGridAxes; ++inner)
    group.stride *= degrees[sizes.entries[inner]];
  return group;
}

const char *shardopt::spell(GridAxis axis) { return spell(sizes[axis]); }

std::optional<GridAxis> shardopt::parseGridAxis(std::string_view name) {
  std::optional<Degree> degree = parseDegree(name);
  return degree ? infoOf(*degree).axis : std::nullopt;
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
