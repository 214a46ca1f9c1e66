//===- GridAxis.h - Axes of the grid of devices -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices stand on a grid, in row-major order: the last axis is the innermost,
// whose neighbours have neighbouring numbers. A group is the devices that
// differ along one axis only; collectives are between them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_GRIDAXIS_H
#define SHARDOPT_SUPPORT_GRIDAXIS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shardopt {

struct Degrees;

/// An axis of the grid, outermost first.
enum class GridAxis : uint8_t { Pp, Ep, Tp };

inline constexpr std::array<GridAxis, 3> allAxes = {GridAxis::Pp, GridAxis::Ep,
                                                    GridAxis::Tp};
inline constexpr size_t numGridAxes = allAxes.size();

/// One T for each axis.
template <typename T> struct AxisMap {
  std::array<T, numGridAxes> entries = {};

  T &operator[](GridAxis axis) { return entries[size_t(axis)]; }
  const T &operator[](GridAxis axis) const { return entries[size_t(axis)]; }
  auto begin() { return entries.begin(); }
  auto begin() const { return entries.begin(); }
  auto end() { return entries.end(); }
  auto end() const { return entries.end(); }
  static constexpr size_t size() { return numGridAxes; }

  friend bool operator==(const AxisMap &a, const AxisMap &b) {
    return a.entries == b.entries;
  }
};

/// How many devices a group has, and how far apart their numbers are.
struct AxisGroup {
  int64_t size = 1;
  int64_t stride = 1;
};

/// The sizes of the axes.
AxisMap<int64_t> gridShape(const Degrees &degrees);
/// The groups along `axis`.
AxisGroup groupOf(GridAxis axis, const Degrees &degrees);
/// Where device `rank` stands on a grid.
AxisMap<int64_t> coordinatesOf(int64_t rank, const AxisMap<int64_t> &shape);

/// "pp", "ep" or "tp": the name of the degree that is its size.
const char *spell(GridAxis axis);
std::optional<GridAxis> parseGridAxis(std::string_view name);

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_GRIDAXIS_H
