//===- StageGrid.cpp - Groups of devices of a stage -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StageGrid.h"

#include <algorithm>
#include <cassert>

using namespace shardopt;

StageGrid::StageGrid(const Degrees &degrees)
    : tp(degrees.tp), dp(degrees.dp), ep(degrees.ep), pp(degrees.pp),
      cp(degrees.cp), tp2(degrees.tp2) {
  groupEtp = dp == ep ? tp : std::max<int64_t>(1, tp * dp / ep);
  sizeC = std::min(tp, groupEtp);
  sizeQ = std::max(tp, groupEtp) / sizeC;
}

AxisGroup StageGrid::group(Axis axis) const {
  switch (axis) {
  case Axis::Tp:
    return {tp, 1};
  case Axis::Dp:
    return {dp, tp};
  case Axis::Ep:
    return {ep, groupEtp};
  case Axis::Etp:
    return {groupEtp, 1};
  case Axis::Q:
    return {sizeQ, sizeC};
  case Axis::C:
    return {sizeC, 1};
  case Axis::Outer:
    return {tp * dp / sizeC, sizeC};
  case Axis::Cp:
    return {cp, 1};
  case Axis::Tp1:
    return {tp / tp2, tp2};
  case Axis::Tp2:
    return {tp2, 1};
  case Axis::Stage:
    return {tp * dp, 1};
  case Axis::Pp:
    return {pp, tp * dp};
  }
  assert(false && "unknown axis");
  return {};
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The value that is nearest to `value` among those that `fits`, as ", nearest
/// that does: 4"; the smaller of two that are as near.
template <typename Fits> static std::string nearest(int64_t value, Fits fits) {
  constexpr int64_t farthest = 1 << 16;
  for (int64_t step = 1; step < farthest; ++step)
    for (int64_t candidate : {value - step, value + step})
      if (candidate >= 1 && candidate <= maxDegree && fits(candidate))
        return ", the nearest that does is " + std::to_string(candidate);
  return "";
}

static std::string number(int64_t value) { return std::to_string(value); }

static bool oneDivides(int64_t a, int64_t b) {
  return a % b == 0 || b % a == 0;
}

static bool cutsExperts(const Degrees &degrees, int64_t ep) {
  int64_t devices = degrees.tp * degrees.dp;
  return devices % ep == 0 && oneDivides(degrees.tp, devices / ep);
}

/// Of experts that are cut. Where etp > tp, cp is a part of tp alone.
static bool cutsContext(const Degrees &degrees, int64_t cp) {
  int64_t etp = degrees.tp * degrees.dp / degrees.ep;
  return degrees.tp % cp == 0 && (etp > degrees.tp || oneDivides(cp, etp));
}

/// Both axes of tp have several devices, and runs of neighbours nest.
static bool cutsTp(const Degrees &degrees, int64_t tp2) {
  if (tp2 == 1)
    return true;
  int64_t etp = degrees.tp * degrees.dp / degrees.ep;
  return degrees.tp % tp2 == 0 && tp2 < degrees.tp &&
         oneDivides(tp2, degrees.cp) &&
         (etp > degrees.tp || oneDivides(tp2, etp));
}

bool shardopt::hasGrid(const Degrees &degrees, bool hasExperts) {
  if (!hasExperts && (degrees.ep != degrees.dp || degrees.gathers()))
    return false;
  if (degrees.hasEplb() && (!hasExperts || degrees.ep == 1))
    return false;
  return cutsExperts(degrees, degrees.ep) && cutsContext(degrees, degrees.cp) &&
         cutsTp(degrees, degrees.tp2);
}

std::optional<std::string> shardopt::gridError(const Degrees &degrees,
                                               bool hasExperts) {
  if (hasGrid(degrees, hasExperts))
    return std::nullopt;
  if (!hasExperts && degrees.gathers())
    return "exchange gather needs experts, and the model has none";
  if (!hasExperts && degrees.ep != degrees.dp)
    return "ep " + number(degrees.ep) + " is not dp " + number(degrees.dp) +
           ": without experts both are the number of replicas";
  if (degrees.hasEplb() && (!hasExperts || degrees.ep == 1))
    return "eplb " + spell(Degree::Eplb, degrees.eplb) + " needs " +
           (hasExperts ? "ep above 1, found 1"
                       : "experts, and the model has none");
  int64_t tp = degrees.tp, ep = degrees.ep, cp = degrees.cp;
  int64_t devices = tp * degrees.dp;
  if (!cutsExperts(degrees, ep)) {
    std::string found =
        devices % ep != 0
            ? "ep " + number(ep) + " does not divide tp * dp " + number(devices)
            : "ep " + number(ep) + " leaves etp = tp * dp / ep " +
                  number(devices / ep) + ", and of tp " + number(tp) +
                  " and it neither divides the other";
    return found +
           nearest(ep, [&](int64_t ep) { return cutsExperts(degrees, ep); });
  }
  if (!cutsContext(degrees, cp)) {
    std::string found =
        tp % cp != 0 ? "cp " + number(cp) + " does not divide tp " + number(tp)
                     : "of cp " + number(cp) + " and etp = tp * dp / ep " +
                           number(devices / ep) + " neither divides the other";
    return found +
           nearest(cp, [&](int64_t cp) { return cutsContext(degrees, cp); });
  }
  int64_t tp2 = degrees.tp2, etp = devices / ep;
  std::string found = "tp2 " + number(tp2);
  if (tp % tp2 != 0 || tp2 == tp)
    found += " does not properly divide tp " + number(tp);
  else
    found = "of " + found + " and " +
            (oneDivides(tp2, cp) ? "etp = tp * dp / ep " + number(etp)
                                 : "cp " + number(cp)) +
            " neither divides the other";
  return found +
         nearest(tp2, [&](int64_t tp2) { return cutsTp(degrees, tp2); });
}
