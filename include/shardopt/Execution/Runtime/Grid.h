//===- Grid.h - Ranks on a grid, and their groups ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_GRID_H
#define SHARDOPT_EXECUTION_RUNTIME_GRID_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace shardopt::runtime {

/// The ranks that differ along some axes only: a collective is between them.
struct Group {
  int64_t axes = 0;             ///< packed, see packAxes
  std::vector<int64_t> members; ///< ranks; the first axis is the slowest
  size_t own = 0;               ///< where the rank itself stands in `members`

  size_t size() const { return members.size(); }
};

/// A list of axes in one number, as compiled code passes it: four bits an axis,
/// axis + 1, the first in the lowest. No axis, a group of one, is 0.
int64_t packAxes(const std::vector<int64_t> &axes);
std::vector<int64_t> unpackAxes(int64_t packed);

/// "[1, 2]".
std::string describeAxes(int64_t packed);

/// Ranks in row-major order over the axes of a grid.
class Grid {
public:
  /// Sizes are positive; a grid without axes has one rank.
  explicit Grid(std::vector<int64_t> shape) : sizes(std::move(shape)) {}

  const std::vector<int64_t> &shape() const { return sizes; }
  int64_t size() const;
  /// Where `rank` stands along `axis`.
  int64_t coordinate(int64_t rank, int64_t axis) const;
  /// Whether these are different axes of this grid.
  bool hasAxes(int64_t packed) const;
  /// The group of `rank` along `axes`, which the grid has, in their order.
  Group group(int64_t rank, int64_t axes) const;

private:
  int64_t stride(int64_t axis) const;

  std::vector<int64_t> sizes;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_GRID_H
