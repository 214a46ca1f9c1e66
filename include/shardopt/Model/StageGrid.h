//===- StageGrid.h - Groups of devices of a stage ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tp * dp devices of a stage are grouped twice. Outside of the experts dp
// replicas of tp devices share the sequences; inside of them ep expert groups
// of etp = tp * dp / ep devices share the experts. With c = min(tp, etp) the
// number of a device in its stage is row-major in (a, q, c):
//
//   etp <= tp:  dp = a,      tp = q * c    outside
//               ep = a * q,  etp = c       inside
//   etp >  tp:  dp = a * q,  tp = c        outside
//               ep = a,      etp = q * c   inside
//
// so the q axis is of tp on the one side and of the experts' groups on the
// other. Where etp is tp, q is 1 and both sides agree.
//
// Weights that are sharded on both dims see tp as tp1 * tp2, row-major: devices
// along tp2 are neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_STAGEGRID_H
#define SHARDOPT_MODEL_STAGEGRID_H

#include "shardopt/Model/Degrees.h"
#include "shardopt/Model/GridAxis.h"

#include <optional>
#include <string>

namespace shardopt {

/// What a collective can run along, and a layout can be over.
enum class Axis : uint8_t {
  Tp,
  Dp,
  Ep,
  Etp,   ///< the devices of an expert group
  Q,     ///< the part of the larger of tp and etp that the smaller has not
  C,     ///< the smaller of tp and etp
  Outer, ///< a and q: all of a stage with one c coordinate
  Cp,    ///< neighbours in tp that share the positions of a sequence
  Tp1,   ///< the devices of tp with one tp2 coordinate
  Tp2,   ///< neighbours in tp
  Stage, ///< all devices of a stage
  Pp,
};

/// The groups of a stage. Meaningful where `hasGrid`.
class StageGrid {
public:
  StageGrid() = default;
  explicit StageGrid(const Degrees &degrees);

  int64_t etp() const { return groupEtp; }
  int64_t q() const { return sizeQ; }
  int64_t c() const { return sizeC; }
  /// Whether the q axis belongs to tp outside of the experts (etp <= tp), and
  /// not to their groups.
  bool isQOutside() const { return groupEtp <= tp; }

  /// How many devices stand along `axis`, and how far apart their numbers are.
  AxisGroup group(Axis axis) const;
  int64_t size(Axis axis) const { return group(axis).size; }

private:
  int64_t tp = 1, dp = 1, ep = 1, pp = 1, cp = 1, tp2 = 1;
  int64_t groupEtp = 1, sizeQ = 1, sizeC = 1;
};

/// The group along `axis` of the grid of `degrees`, without the grid where the
/// degrees say it.
inline AxisGroup groupOf(Axis axis, const Degrees &degrees) {
  switch (axis) {
  case Axis::Tp:
    return {degrees.tp, 1};
  case Axis::Cp:
    return {degrees.cp, 1};
  case Axis::Dp:
    return {degrees.dp, degrees.tp};
  default:
    return StageGrid(degrees).group(axis);
  }
}

/// Whether the devices of a stage can be grouped by `degrees`, for a model with
/// or without routed experts.
bool hasGrid(const Degrees &degrees, bool hasExperts);

/// Why the devices of a stage cannot be grouped by `degrees`, with the nearest
/// value that can; none: they can.
std::optional<std::string> gridError(const Degrees &degrees, bool hasExperts);

/// The axis of a grid pp x ep x tp that devices along `axis` stand on.
constexpr GridAxis gridAxisOf(Axis axis) {
  switch (axis) {
  case Axis::Dp:
  case Axis::Ep:
  case Axis::Outer:
    return GridAxis::Ep;
  case Axis::Pp:
    return GridAxis::Pp;
  default:
    return GridAxis::Tp;
  }
}

} // namespace shardopt

#endif // SHARDOPT_MODEL_STAGEGRID_H
