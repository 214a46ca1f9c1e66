//===- MachineWriter.h - Machines as JSON text ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_MACHINE_MACHINEWRITER_H
#define SHARDOPT_MODEL_MACHINE_MACHINEWRITER_H

#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Support/Json.h"

namespace shardopt {

/// Writes `machine` as an object of the form that `parseMachine` reads. Its
/// rates are the attained ones, so that the efficiencies next to them are 1,
/// but for the slower of links and multicast, whose common peak is the faster
/// one.
void writeMachine(json::Writer &writer, const Machine &machine);

/// Of the constants of measured kernels and the peaks that they are shares of:
/// with another one times are others.
std::string fingerprintOf(const Calibration &calibration);

} // namespace shardopt

#endif // SHARDOPT_MODEL_MACHINE_MACHINEWRITER_H
