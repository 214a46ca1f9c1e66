//===- Backends.h - The ways to find schedules ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_BACKENDS_H
#define SHARDOPT_SOLVERS_SCHEDULE_BACKENDS_H

#include "shardopt/Solvers/Schedule/Search.h"

#include <memory>

namespace shardopt::schedule {

/// One operator after the other (Sequential.cpp).
std::unique_ptr<Backend> makeSequential();

/// Devices for groups that are free (FreePlacement.cpp): those of HEFT, and
/// better ones by annealing. Comes before all that take the devices of the best
/// schedule.
std::unique_ptr<Backend> makeFreePlacement(uint64_t seed, bool anneals);

/// List scheduling by each rule of a family (RuleSweep.cpp).
std::unique_ptr<Backend> makeRuleSweep(int threads);

/// Moves of operators along their machines (OrderSearch.cpp), from the best
/// schedule; as many as `standardRounds` where the budget does not say.
std::unique_ptr<Backend> makeOrderSearch(uint64_t seed, int64_t standardRounds);

/// Makespans decided by CaDiCaL (SatBackend.cpp); null in a build without it.
std::unique_ptr<Backend> makeSatBackend();

/// The steady state, and what becomes of it at both ends (ModuloBackend.cpp);
/// null in a build without CaDiCaL.
std::unique_ptr<Backend> makeModulo();

/// The same questions answered by CBC, a mixed-integer solver (MipBackend.cpp);
/// null in a build without it.
std::unique_ptr<Backend> makeMipBackend();

/// Of a memory objective: bisects the least memory in which one operator after
/// the other fits.
std::unique_ptr<Backend> makeLeastMemory();

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_BACKENDS_H
