//===- MachineGroups.h - Clusters of unlike devices -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_MACHINE_MACHINEGROUPS_H
#define SHARDOPT_MODEL_MACHINE_MACHINEGROUPS_H

#include "shardopt/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shardopt {

/// Devices of a cluster that are alike, unlike those of other groups.
struct MachineGroup {
  std::string machine; ///< as `loadMachine` takes it
  int64_t devices = 0;
};

/// The groups that the file `nameOrFile` lists where others describe a machine;
/// none for those, and for names. Errors name the place in the file.
ErrorOr<std::vector<MachineGroup>>
loadMachineGroups(const std::string &nameOrFile);

} // namespace shardopt

#endif // SHARDOPT_MODEL_MACHINE_MACHINEGROUPS_H
