//===- toy_plugin.cpp - A toy simulator as a plugin -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A shared library for `simulator=plugin:`. It needs one header of shardopt and
// links nothing of it. The made-up model is that of toy_simulator.py.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/SimulatorPlugin.h"

#include <cstdio>
#include <new>

namespace {

class ToySimulator {
public:
  explicit ToySimulator(const ShardOptProblem &problem) : problem(problem) {}

  ShardOptEvaluation evaluate(const ShardOptStrategy &strategy) const;

private:
  const ShardOptProblem &problem; // stays until the simulator is destroyed
};

} // namespace

ShardOptEvaluation
ToySimulator::evaluate(const ShardOptStrategy &strategy) const {
  const double tp = strategy.degrees[0], ep = strategy.degrees[1],
               pp = strategy.degrees[2], batch = strategy.degrees[3];
  const double devices = strategy.devices;

  // An op that is cut takes a tp-th of the work and the weights; a change of
  // the dim from one op to the next costs a fifth of a millisecond.
  double share = 0;
  int changes = 0;
  for (size_t i = 0; i < problem.num_ops; ++i) {
    share += strategy.dims[i] == 2 ? 1.0 : 1.0 / tp;
    changes += i > 0 && strategy.dims[i] != strategy.dims[i - 1];
  }
  share /= problem.num_ops;
  const double cache = batch * problem.context * 1e-5;

  ShardOptEvaluation result = {};
  result.latency_ms = 40.0 * share + 2.0 * pp + 0.2 * changes + cache / devices;
  result.memory_gb = 400.0 * share / (ep * pp) + cache / devices;
  result.throughput = batch / (result.latency_ms * 1e-3) / devices;
  if (result.memory_gb > problem.memory_capacity_gb)
    result.reason = "memory";
  else if (result.latency_ms > problem.slo_ms)
    result.reason = "slo";
  result.valid = result.reason == nullptr;
  return result;
}

//===----------------------------------------------------------------------===//
// The C interface
//===----------------------------------------------------------------------===//

static void *create(const ShardOptProblem *problem, char *error,
                    size_t errorSize) {
  auto *simulator = new (std::nothrow) ToySimulator(*problem);
  if (!simulator)
    std::snprintf(error, errorSize, "out of memory");
  return simulator;
}

static int evaluate(void *simulator, const ShardOptStrategy *strategy,
                    ShardOptEvaluation *evaluation) {
  *evaluation = static_cast<ToySimulator *>(simulator)->evaluate(*strategy);
  return 0;
}

static void destroy(void *simulator) {
  delete static_cast<ToySimulator *>(simulator);
}

const ShardOptSimulatorPlugin *shardoptSimulatorPlugin() {
  static const char *const degrees[] = {"tp", "ep", "pp", "batch", nullptr};
  static const ShardOptSimulatorPlugin plugin = {
      SHARDOPT_SIMULATOR_PLUGIN_VERSION,
      "toy",
      degrees,
      create,
      evaluate,
      destroy};
  return &plugin;
}
