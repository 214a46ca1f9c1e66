//===- SimulatorOption.cpp - The option 'simulator' -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatorOption.h"
#include "shardopt/Cost/Simulation/ProceduralSimulator.h"
#include "shardopt/Search/BlackBox/PluginHost.h"
#include "shardopt/Support/Choice.h"

#include <cmath>

using namespace shardopt;

using Kind = SimulatorChoice::Kind;

/// Workers are processes: far more of them than cores gain nothing.
static constexpr unsigned maxWorkers = 256;
/// A day: a limit that is longer is a mistake, and would overflow later.
static constexpr double maxTimeoutSeconds = 86400;

ErrorOr<SimulatorChoice> shardopt::parseSimulator(const std::string &text) {
  for (auto [prefix, kind, what] :
       {std::tuple("plugin:", Kind::Plugin, "the file of a shared library"),
        std::tuple("exec:", Kind::Exec, "a command")}) {
    if (text.rfind(prefix, 0) != 0)
      continue;
    std::string argument = text.substr(std::string(prefix).size());
    if (argument.find_first_not_of(' ') == std::string::npos)
      return Error{"'simulator' is '" + text + "', expected " + what +
                   " after '" + prefix + "'"};
    return SimulatorChoice{kind, std::move(argument)};
  }
  ErrorOr<Kind> kind =
      parseChoice<Kind>("simulator", text,
                        {{"auto", Kind::Auto},
                         {"roofline", Kind::Roofline},
                         {"calibrated", Kind::Calibrated},
                         {"procedural:runtime", Kind::ProceduralRuntime},
                         {"procedural:fixed", Kind::ProceduralFixed},
                         {"plugin:<file>", Kind::Plugin},
                         {"exec:<command>", Kind::Exec}});
  if (!kind)
    return kind.error();
  return SimulatorChoice{*kind, ""};
}

static ErrorOr<std::unique_ptr<search::Simulator>>
makeProcedural(Kind kind, const Scenario &scenario) {
  using simulation::ProceduralSettings;
  if (scenario.isPrefill())
    return Error{"simulator '" + scenario.simulatorName() +
                 "' is for decode only, and the module's phase is prefill"};
  ProceduralSettings settings = kind == Kind::ProceduralRuntime
                                    ? ProceduralSettings::runtime()
                                    : ProceduralSettings::fixed();
  if (!scenario.expertSkew())
    settings.routingExponent = std::nullopt;
  return std::unique_ptr<search::Simulator>(
      std::make_unique<simulation::ProceduralSimulator>(
          scenario.costs(), scenario.machine(), settings));
}

static blackbox::SimulatedProblem problemOf(const Scenario &scenario) {
  blackbox::SimulatedProblem problem;
  problem.model = scenario.modelName();
  problem.latency = scenario.latencyKey();
  problem.context = scenario.workload().context;
  problem.machine = scenario.machine();
  problem.sloMs = scenario.sloMs();
  problem.ops = scenario.opNames();
  return problem;
}

static ErrorOr<std::unique_ptr<search::Simulator>>
makeExternal(std::vector<std::string> command, const Scenario &scenario) {
  const ScenarioOptions &options = scenario.options();
  if (options.simulatorWorkers < 1 || options.simulatorWorkers > maxWorkers)
    return Error{"'simulator-workers' is " +
                 std::to_string(options.simulatorWorkers) +
                 ", expected a number from 1 to " + std::to_string(maxWorkers)};
  double timeout = options.simulatorTimeoutSeconds;
  if (!(timeout > 0 && timeout <= maxTimeoutSeconds))
    return Error{"'simulator-timeout-s' is " + std::to_string(timeout) +
                 ", expected seconds above 0, and at most a day"};
  blackbox::ExternalOptions external;
  external.command = std::move(command);
  external.workers = options.simulatorWorkers;
  external.timeoutSeconds = timeout;
  external.startTimeoutSeconds =
      std::max(timeout, external.startTimeoutSeconds);
  external.stop = options.stop;
  external.warn = options.warn;
  auto simulator = blackbox::ExternalSimulator::create(problemOf(scenario),
                                                       std::move(external));
  if (!simulator)
    return Error{"'simulator' is '" + scenario.simulatorName() +
                 "': " + simulator.error().message};
  return std::unique_ptr<search::Simulator>(std::move(*simulator));
}

ErrorOr<std::unique_ptr<search::Simulator>>
shardopt::makeSimulator(const SimulatorChoice &choice,
                        const Scenario &scenario) {
  switch (choice.kind) {
  case Kind::Auto:
  case Kind::Roofline:
  case Kind::Calibrated:
    return std::unique_ptr<search::Simulator>();
  case Kind::ProceduralRuntime:
  case Kind::ProceduralFixed:
    return makeProcedural(choice.kind, scenario);
  case Kind::Plugin: {
    ErrorOr<std::vector<std::string>> command =
        blackbox::pluginCommand(choice.argument);
    if (!command)
      return command.error();
    return makeExternal(std::move(*command), scenario);
  }
  case Kind::Exec:
    return makeExternal(blackbox::shellCommand(choice.argument), scenario);
  }
  return Error{"unknown simulator"};
}
