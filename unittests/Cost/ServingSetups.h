//===- ServingSetups.h - Replicas for tests of serving runs -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_COST_SERVINGSETUPS_H
#define SHARDOPT_UNITTESTS_COST_SERVINGSETUPS_H

#include "shardopt/Cost/ServingPlan.h"

#include <gtest/gtest.h>

#include <string>

namespace shardopt::cost::test {

inline calibrated::CalibratedKernels kernelsOf(const std::string &name) {
  ErrorOr<Machine> machine = loadMachine(name);
  EXPECT_TRUE(machine) << machine.error().message;
  ErrorOr<calibrated::CalibratedKernels> kernels =
      calibrated::CalibratedKernels::create(*machine);
  EXPECT_TRUE(kernels) << kernels.error().message;
  return *kernels;
}

inline ServedModel denseModel() {
  ServedModel model;
  model.vocab = 128256;
  model.hidden = 4096;
  model.denseLayers = 32;
  model.heads = 32;
  model.kvHeads = 8;
  model.headDim = 128;
  model.spans = {{0, 32}};
  model.denseInner = 14336;
  return model;
}

inline ServedModel expertModel() {
  ServedModel model;
  model.vocab = 129280;
  model.hidden = 7168;
  model.denseLayers = 3;
  model.expertLayers = 58;
  model.isLatent = true;
  model.heads = 128;
  model.queryRank = 1536;
  model.latentRank = 512;
  model.nopeDim = 128;
  model.ropeDim = 64;
  model.valueDim = 128;
  model.spans = {{0, 61}};
  model.denseInner = 18432;
  model.sharedInner = 2048;
  model.experts = 256;
  model.topk = 8;
  model.expertInner = 2048;
  return model;
}

inline ServingSetup denseSetup(double tp) {
  ServingSetup setup;
  setup.model = denseModel();
  setup.tp = tp;
  return setup;
}

inline ServingSetup expertSetup() {
  ServingSetup setup;
  setup.model = expertModel();
  setup.attentionType = setup.denseType = setup.expertType =
      ServedType::Fp8Block;
  setup.isCacheFp8 = true;
  setup.tp = setup.expertTp = 8;
  return setup;
}

inline ServingEngine engineOf(const std::string &name, bool isTuned = true) {
  ErrorOr<ServingEngine> engine = findEngine(name, "0.9", isTuned);
  EXPECT_TRUE(engine) << engine.error().message;
  return *engine;
}

} // namespace shardopt::cost::test

#endif // SHARDOPT_UNITTESTS_COST_SERVINGSETUPS_H
