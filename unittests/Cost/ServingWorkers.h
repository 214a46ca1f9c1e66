//===- ServingWorkers.h - Workers of serving engines ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_COST_SERVINGWORKERS_H
#define SHARDOPT_UNITTESTS_COST_SERVINGWORKERS_H

#include "TestModels.h"
#include "shardopt/Cost/Serving/EngineClock.h"
#include "shardopt/Cost/Serving/ServiceLoop.h"

#include <gtest/gtest.h>

namespace shardopt::cost::test {

inline constexpr const char *engines[] = {"trtllm", "vllm", "sglang"};

inline ServingEngine engineOf(const std::string &name) {
  auto engine = findEngine(name, /*version=*/"", /*isTuned=*/true);
  EXPECT_TRUE(engine);
  return *engine;
}

/// A machine with constants of its kernels.
inline Machine measured(const std::string &name = "h100_sxm") {
  auto machine = loadMachine(name);
  EXPECT_TRUE(machine);
  return *machine;
}

/// Megatron's dims of the ops of `model`, by their kinds.
inline Strategy megatron(const Model &model, const Degrees &degrees) {
  Strategy strategy;
  strategy.degrees = degrees;
  for (const std::string &name : model.opNames()) {
    std::string op = name.substr(name.rfind('.') + 1);
    bool isColumns = op == "qkv_proj" || op == "q_up" || op == "ffn_up" ||
                     op == "shared_up" || op == "lm_head";
    bool isRows = op == "attention" || op == "out_proj" || op == "ffn_down" ||
                  op == "shared_down" || op == "embed";
    strategy.dims.push_back(isColumns ? Dim::One
                            : isRows  ? Dim::Zero
                                      : Dim::None);
  }
  return strategy;
}

/// A worker of `config` under an engine, with what it refers to.
struct Served {
  Served(const ModelConfig &config, const std::string &engineName,
         const Degrees &degrees, const Machine &machine = measured())
      : engine(engineOf(engineName)),
        costs(makeModel(config, {Phase::Decode, 1024}), clockOf(machine),
              std::nullopt, Limits()),
        steps(costs, megatron(costs.model(), degrees), std::nullopt,
              engine.expertReach) {
    EXPECT_TRUE(steps.isLegal());
  }
  std::shared_ptr<const EngineClock> clockOf(const Machine &machine) const {
    auto clock = EngineClock::create(machine, engine);
    EXPECT_TRUE(clock);
    return *clock;
  }
  ServingWorker worker() const { return {&steps, 72e9, 50e9}; }

  ServingEngine engine;
  CostModel costs;
  StepTimes steps;
};

inline Degrees experts(int64_t tp, int64_t dp, int64_t ep) {
  Degrees degrees(tp, ep, 1, 1);
  degrees.dp = dp;
  degrees.exchange = exchangeGather;
  return degrees;
}

} // namespace shardopt::cost::test

#endif // SHARDOPT_UNITTESTS_COST_SERVINGWORKERS_H
