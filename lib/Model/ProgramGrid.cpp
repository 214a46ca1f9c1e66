//===- ProgramGrid.cpp - The grid that a program runs on ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/ProgramGrid.h"

#include <algorithm>

using namespace shardopt;

const char *shardopt::spell(Axis axis) {
  switch (axis) {
  case Axis::Tp:
    return "tp";
  case Axis::Dp:
    return "dp";
  case Axis::Ep:
    return "ep";
  case Axis::Etp:
    return "etp";
  case Axis::Q:
    return "q";
  case Axis::C:
    return "c";
  case Axis::Outer:
    return "outer";
  case Axis::Cp:
    return "cp";
  case Axis::Tp1:
    return "tp1";
  case Axis::Tp2:
    return "tp2";
  case Axis::Stage:
    return "stage";
  case Axis::Pp:
    return "pp";
  }
  return "";
}

std::optional<Axis> shardopt::parseAxis(std::string_view name) {
  for (Axis axis : {Axis::Pp, Axis::Dp, Axis::Ep, Axis::Tp, Axis::Etp, Axis::Cp,
                    Axis::Tp1, Axis::Tp2})
    if (name == spell(axis))
      return axis;
  return std::nullopt;
}

Axis shardopt::writtenAxis(Axis axis, const StageGrid &grid) {
  if (axis == Axis::Dp && grid.size(Axis::Dp) == grid.size(Axis::Ep))
    return Axis::Ep;
  if (axis == Axis::Etp && grid.size(Axis::Etp) == grid.size(Axis::Tp))
    return Axis::Tp;
  return axis;
}

ProgramGrid::ProgramGrid(const StageGrid &groups) : stage(groups) {
  // Repeats are kept, so that tp and dp keep an axis of 1 each.
  std::vector<int64_t> cuts = {1, stage.size(Axis::Tp),
                               stage.size(Axis::Stage)};
  for (Axis axis : {Axis::Etp, Axis::Cp, Axis::Tp2})
    if (std::find(cuts.begin(), cuts.end(), stage.size(axis)) == cuts.end())
      cuts.push_back(stage.size(axis));
  std::sort(cuts.begin(), cuts.end());
  sizes = {stage.size(Axis::Pp)};
  strides = {stage.size(Axis::Stage)};
  for (size_t i = cuts.size() - 1; i > 0; --i) {
    sizes.push_back(cuts[i] / cuts[i - 1]);
    strides.push_back(cuts[i - 1]);
  }
}

std::vector<int16_t> ProgramGrid::axes(Axis axis) const {
  if (axis == Axis::Pp)
    return {0};
  AxisGroup group = stage.group(axis);
  std::vector<int16_t> axes;
  for (size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i] > 1 && strides[i] >= group.stride &&
        strides[i] * sizes[i] <= group.stride * group.size)
      axes.push_back(int16_t(i));
  return axes;
}

std::optional<Axis>
ProgramGrid::find(const std::vector<int16_t> &wanted) const {
  if (wanted.empty())
    return std::nullopt;
  for (Axis axis :
       {Axis::Tp, Axis::Ep, Axis::Dp, Axis::Etp, Axis::Q, Axis::C, Axis::Outer,
        Axis::Cp, Axis::Tp1, Axis::Tp2, Axis::Stage, Axis::Pp})
    if (axes(axis) == wanted)
      return axis;
  // One of 1 that nothing is said about.
  if (wanted.size() == 1 && sizes.size() == numGridAxes && wanted[0] > 0)
    return wanted[0] == 1 ? Axis::Ep : Axis::Tp;
  return std::nullopt;
}
