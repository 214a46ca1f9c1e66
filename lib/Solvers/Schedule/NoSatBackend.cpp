//===- NoSatBackend.cpp - A build without CaDiCaL -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SatProgram.h"
#include "shardopt/Solvers/Schedule/Backends.h"

using namespace shardopt;
using namespace shardopt::schedule;

std::unique_ptr<Backend> schedule::makeSatBackend() { return nullptr; }

SatOutcome schedule::solveBySat(int64_t, const BuildSteps &, int64_t,
                                const Budget &) {
  return {};
}
