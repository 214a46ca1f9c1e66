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

#ifndef SHARDOPT_MODEL_GRIDAXIS_H
#define SHARDOPT_MODEL_GRIDAXIS_H

#include <cstddef>
#include <cstdint>

namespace shardopt {

/// An axis of the grid, outermost first.
enum class GridAxis : uint8_t { Pp, Ep, Tp };

inline constexpr size_t numGridAxes = 3;

/// How many devices a group has, and how far apart their numbers are.
struct AxisGroup {
  int64_t size = 1;
  int64_t stride = 1;
};

} // namespace shardopt

#endif // SHARDOPT_MODEL_GRIDAXIS_H
