//===- MachineReader.h - Machines from JSON text ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_MACHINE_MACHINEREADER_H
#define SHARDOPT_MODEL_MACHINE_MACHINEREADER_H

#include "shardopt/Model/Machine/Machine.h"

#include <string>
#include <string_view>

namespace shardopt {

/// Reads a machine from JSON (docs/Machines.md has its fields); `fileName`
/// stands for the text in messages. Peaks of the data sheet are multiplied by
/// the efficiencies next to them. Every physical value must be finite and
/// positive; unknown keys are errors.
ErrorOr<Machine> parseMachine(std::string_view text,
                              const std::string &fileName);

} // namespace shardopt

#endif // SHARDOPT_MODEL_MACHINE_MACHINEREADER_H
