//===- Normal.h - Normally distributed random numbers -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SIMULATION_NORMAL_H
#define SHARDOPT_LIB_SIMULATION_NORMAL_H

#include "shardopt/Search/Rng.h"

#include <cmath>

namespace shardopt::simulation {

/// Mean 0, variance 1 (Box and Muller).
inline double normal(search::Rng &rng) {
  constexpr double twoPi = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log(1 - rng.real()));
  return radius * std::cos(twoPi * rng.real());
}

} // namespace shardopt::simulation

#endif // SHARDOPT_LIB_SIMULATION_NORMAL_H
