//===- SimulatorOption.h - The option 'simulator' ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_SIMULATOROPTION_H
#define SHARDOPT_LIB_PLANNING_SIMULATOROPTION_H

#include "shardopt/Planning/Scenario.h"

#include <memory>
#include <string>

namespace shardopt {

/// What the option names: "roofline", "calibrated", "procedural:runtime",
/// "plugin:<file>", "exec:<command>".
struct SimulatorChoice {
  enum class Kind : uint8_t {
    Roofline,
    Calibrated,
    ProceduralRuntime,
    ProceduralFixed,
    Plugin,
    Exec,
  };
  Kind kind = Kind::Roofline;
  std::string argument; ///< the file or the command
};

/// Reads the option. An unknown simulator is an error with the known ones.
ErrorOr<SimulatorChoice> parseSimulator(const std::string &text);

/// Makes the simulator of `choice` for what `scenario` knows; null for the
/// roofline and for calibrated times, which the scenario's cost model has.
ErrorOr<std::unique_ptr<search::Simulator>>
makeSimulator(const SimulatorChoice &choice, const Scenario &scenario);

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_SIMULATOROPTION_H
