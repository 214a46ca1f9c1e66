//===- ProgramGrid.h - The grid that a program runs on ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The devices of a stage are grouped in several ways (StageGrid.h), and a
// program has one grid. Its axes are elementary: the number of a device in its
// stage is cut at 1, tp, tp * dp and, where they are not among these, at etp,
// cp and tp2. Every group is a run of consecutive axes.
//
// Example: tp 8, dp 4, ep 16, cp 2 is cut at 1, 2, 8 and 32, a grid pp x 4 x 4
// x 2. tp is its axes 2 and 3, dp 1, ep 1 and 2, etp and cp 3.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_PROGRAMGRID_H
#define SHARDOPT_MODEL_PROGRAMGRID_H

#include "shardopt/Model/StageGrid.h"

#include <string_view>
#include <vector>

namespace shardopt {

/// "tp", "dp", "ep", "etp", "cp", "tp1", "tp2" or "pp"; "q", "c", "outer" or
/// "stage" for groups that no degree is the size of.
const char *spell(Axis axis);
/// The axis that a degree, or etp, is the size of.
std::optional<Axis> parseAxis(std::string_view name);

/// Where device `rank` stands in its group along `axis`.
inline int64_t coordinateOf(int64_t rank, const StageGrid &grid, Axis axis) {
  AxisGroup group = grid.group(axis);
  return rank / group.stride % group.size;
}

/// The name by which a program calls `axis`: ep is dp and tp is etp where they
/// are alike.
Axis writtenAxis(Axis axis, const StageGrid &grid);

class ProgramGrid {
public:
  ProgramGrid() : ProgramGrid(StageGrid()) {}
  explicit ProgramGrid(const Degrees &degrees)
      : ProgramGrid(StageGrid(degrees)) {}
  explicit ProgramGrid(const StageGrid &groups);

  const StageGrid &groups() const { return stage; }
  /// Sizes of the elementary axes, stages first.
  const std::vector<int64_t> &shape() const { return sizes; }
  /// The elementary axes of the groups along `axis`, slowest first: those that
  /// are longer than 1. Of the stages always the first.
  std::vector<int16_t> axes(Axis axis) const;
  /// Along what the axes, as `axes` lists them, group devices.
  std::optional<Axis> find(const std::vector<int16_t> &axes) const;

private:
  StageGrid stage;
  std::vector<int64_t> sizes, strides;
};

} // namespace shardopt

#endif // SHARDOPT_MODEL_PROGRAMGRID_H
