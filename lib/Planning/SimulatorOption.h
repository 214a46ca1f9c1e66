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

/// What the option names: "auto", "roofline", "calibrated",
/// "procedural:runtime", "plugin:<file>", "exec:<command>".
struct SimulatorChoice {
  enum class Kind : uint8_t {
    Auto,
    Roofline,
    Calibrated,
    ProceduralRuntime,
    ProceduralFixed,
    Plugin,
    Exec,
  };
  Kind kind = Kind::Roofline;
  std::string argument; ///< the file or the command

  /// Whose times the cost model has where it is the simulator; none where it is
  /// not.
  std::optional<TimeSource> source() const {
    switch (kind) {
    case Kind::Auto:
      return TimeSource::Auto;
    case Kind::Roofline:
      return TimeSource::Roofline;
    case Kind::Calibrated:
      return TimeSource::Calibrated;
    default:
      return std::nullopt;
    }
  }
};

/// Reads the option. An unknown simulator is an error with the known ones.
ErrorOr<SimulatorChoice> parseSimulator(const std::string &text);

/// Makes the simulator of `choice` for what `scenario` knows; null for the
/// roofline and for calibrated times, which the scenario's cost model has.
ErrorOr<std::unique_ptr<search::Simulator>>
makeSimulator(const SimulatorChoice &choice, const Scenario &scenario);

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_SIMULATOROPTION_H
