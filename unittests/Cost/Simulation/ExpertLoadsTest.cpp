//===- ExpertLoadsTest.cpp - Sampled routing ------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/ExpertLoads.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::simulation;

namespace {

constexpr uint64_t seed = 7;

TEST(ExpertLoads, ATokenVisitsTopKExperts) {
  for (double exponent : {0.0, 0.8, 3.0}) {
    ExpertLoads loads(16, 2, exponent, seed);
    double sum = 0;
    for (int64_t expert = 0; expert < 16; ++expert) {
      EXPECT_LE(loads.chance(0, expert), 1);
      sum += loads.chance(0, expert);
    }
    EXPECT_NEAR(sum, 2, 1e-12);
  }
}

TEST(ExpertLoads, OneGroupGetsEverything) {
  ExpertLoads loads(16, 2, 0.8, seed);
  cost::Routing routing = loads.route(1000, 1, 1, 0, 0);
  EXPECT_NEAR(routing.copies, 2000, 1e-6);
  EXPECT_NEAR(routing.imbalance, 1, 1e-9);
  EXPECT_EQ(routing.localExperts, 16);
}

TEST(ExpertLoads, NoGroupGetsMoreThanEveryTokenForEachExpert) {
  ExpertLoads loads(16, 2, 5, seed);
  for (int64_t rows : {1, 3, 1000}) {
    cost::Routing routing = loads.route(rows, 16, 16, 0, 0);
    EXPECT_LE(routing.copies, 16.0 * double(rows));
    EXPECT_GE(routing.imbalance, 1);
  }
}

TEST(ExpertLoads, MoreSkewIsMoreLoadOnTheSlowestGroup) {
  double before = 0;
  for (double exponent : {0.0, 0.2, 0.4, 0.8}) {
    ExpertLoads loads(64, 4, exponent, seed);
    double copies = loads.route(100000, 8, 8, 0, 0).copies;
    EXPECT_GT(copies, before);
    before = copies;
  }
}

TEST(ExpertLoads, FewTokensReachFewExperts) {
  ExpertLoads loads(256, 8, 0.1, seed);
  EXPECT_LE(loads.route(1, 1, 1, 0, 0).activeExperts, 64);
  EXPECT_EQ(loads.route(10000, 1, 1, 0, 0).activeExperts, 256);
}

TEST(ExpertLoads, SamplesAndClassesDiffer) {
  ExpertLoads loads(64, 4, 0.8, seed);
  double copies = loads.route(100, 8, 8, 0, 0).copies;
  EXPECT_NE(copies, loads.route(100, 8, 8, 1, 0).copies);
  EXPECT_NE(copies, loads.route(100, 8, 8, 0, 1).copies);
  EXPECT_EQ(copies,
            ExpertLoads(64, 4, 0.8, seed).route(100, 8, 8, 0, 0).copies);
}

} // namespace
