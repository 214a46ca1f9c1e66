//===- RooflineTest.cpp - Times of kernels and collectives ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Roofline.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

constexpr double KiB = 1024, MiB = 1024 * KiB;

/// Microseconds of a collective over `n` ranks at stride 1.
double tpUs(CollectiveKind kind, double bytes, int64_t n,
            CommModel comm = CommModel::Fast, Machine machine = h100()) {
  return Roofline(machine, comm)
             .seconds({kind, Axis::Tp, bytes}, {n, 1, 1, 1}) *
         1e6;
}

double allGatherUs(double bytes, int64_t n) {
  return tpUs(CollectiveKind::AllGather, bytes, n);
}

double allReduceUs(double bytes, int64_t n) {
  return tpUs(CollectiveKind::AllReduce, bytes, n);
}

double expertAllToAllUs(double bytes, int64_t n, int64_t stride) {
  return Roofline(h100()).seconds({CollectiveKind::AllToAll, Axis::Ep, bytes},
                                  {stride, n, 1, 1}) *
         1e6;
}

TEST(Roofline, AllGatherAndReduceScatterCostTheSame) {
  EXPECT_NEAR(allGatherUs(64 * KiB, 2), 5.091, 5e-4);
  EXPECT_NEAR(allGatherUs(64 * KiB, 8), 5.1593, 5e-5);
  EXPECT_NEAR(allGatherUs(1572864, 8), 8.8229, 5e-5);
  EXPECT_NEAR(allGatherUs(1572864, 16), 17.0075, 5e-5);
  EXPECT_NEAR(allGatherUs(16 * MiB, 8), 45.778, 5e-4);
  EXPECT_NEAR(allGatherUs(16 * MiB, 64), 104.5559, 5e-5);
  EXPECT_EQ(tpUs(CollectiveKind::ReduceScatter, 16 * MiB, 64),
            allGatherUs(16 * MiB, 64));
}

TEST(Roofline, AllReduceTakesTheBestAlgorithm) {
  EXPECT_NEAR(allReduceUs(64 * KiB, 2), 5.182, 5e-4);
  EXPECT_NEAR(allReduceUs(64 * KiB, 8), 6.2743, 5e-5);
  EXPECT_NEAR(allReduceUs(1572864, 8), 12.3254, 5e-5);
  EXPECT_NEAR(allReduceUs(1572864, 16), 24.1945, 5e-5);
  EXPECT_NEAR(allReduceUs(16 * MiB, 8), 68.6378, 5e-5);
  EXPECT_NEAR(allReduceUs(16 * MiB, 64), 187.6937, 5e-5);
}

TEST(Roofline, AllReduceByCommModel) {
  auto expectUs = [](CommModel comm, std::vector<double> expected) {
    const double bytes[] = {4e3, 1e6, 4e6, 16e6};
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(tpUs(CollectiveKind::AllReduce, bytes[i], 8, comm),
                  expected[i], 0.05);
  };
  expectUs(CommModel::Fast, {5.1, 10.2, 21.3, 65.8});
  expectUs(CommModel::Ring, {15.0, 19.9, 34.4, 92.8});
  // Two passes over one domain.
  expectUs(CommModel::Direct, {8.0, 12.9, 27.4, 85.8});
}

TEST(Roofline, AllReduceWithoutMulticastOfTheSwitch) {
  Machine machine = h100();
  machine.multicastBandwidth.reset();
  auto us = [&](int64_t n) {
    return tpUs(CollectiveKind::AllReduce, 16 * MiB, n, CommModel::Fast,
                machine);
  };
  EXPECT_GT(us(8), allReduceUs(16 * MiB, 8));
  EXPECT_GT(us(16), allReduceUs(16 * MiB, 16));
  EXPECT_EQ(us(8),
            tpUs(CollectiveKind::AllReduce, 16 * MiB, 8, CommModel::Direct));
}

TEST(Roofline, ExpertAllToAllIsStridedByTp) {
  EXPECT_NEAR(expertAllToAllUs(64 * KiB, 16, 8), 9.3653, 5e-5);
  EXPECT_NEAR(expertAllToAllUs(1572864, 16, 8), 40.768, 5e-4);
  EXPECT_NEAR(expertAllToAllUs(64 * KiB, 4, 2), 5.1365, 5e-5);
  EXPECT_NEAR(expertAllToAllUs(64 * KiB, 8, 2), 8.7282, 5e-5);
}

TEST(Roofline, AllToAllOfTheRingModelKeepsDirectLatencies) {
  auto us = [](CommModel comm) {
    return tpUs(CollectiveKind::AllToAll, MiB, 16, comm);
  };
  EXPECT_NEAR(us(CommModel::Ring) - us(CommModel::Fast), 6.6 - 2, 1e-9);
}

TEST(Roofline, GroupsDoNotStraddleDomains) {
  // 12 ranks: 6 in each of two domains; 11 ranks: one in each of eleven.
  double six = 2 + (3 + 6) +
               1e6 * (6e6 * 5 / 6 / (450e9 * 0.8) + 1e6 * 1 / 2 / (50e9 * 0.9));
  EXPECT_NEAR(allGatherUs(6e6, 12), six, 1e-9);
  double eleven = 2 + 4 * 6 + 1e6 * 11e6 * 10 / 11 / (50e9 * 0.9);
  EXPECT_NEAR(allGatherUs(11e6, 11), eleven, 1e-9);
}

TEST(Roofline, OneRankTakesNoTime) {
  for (CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::AllGather,
        CollectiveKind::ReduceScatter, CollectiveKind::AllToAll})
    EXPECT_EQ(tpUs(kind, MiB, 1), 0);
}

TEST(Roofline, KernelsRunAtTheSlowerOfArithmeticAndMemory) {
  Roofline time(h100());
  Kernel small = gemm(1, 4096, 4096, 2.0 * 4096 * 4096, WeightType::Bf16, 2);
  EXPECT_FALSE(time.isComputeBound(small));
  EXPECT_DOUBLE_EQ(time.seconds(small), small.bytes / (3.35e12 * 0.85) + 2e-6);
  Kernel large = gemm(1e6, 4096, 4096, 2.0 * 4096 * 4096, WeightType::Bf16, 2);
  EXPECT_TRUE(time.isComputeBound(large));
  EXPECT_DOUBLE_EQ(time.seconds(large), large.flops / (989e12 * 0.75) + 2e-6);
  large.weights = WeightType::Fp8;
  EXPECT_DOUBLE_EQ(time.seconds(large), large.flops / (1978e12 * 0.75) + 2e-6);
  large.launch = false;
  EXPECT_DOUBLE_EQ(time.seconds(large), large.flops / (1978e12 * 0.75));
}

TEST(Roofline, Fp8RunsAtThePeakOfBf16WhereThereIsNoOther) {
  Machine machine = h100();
  machine.fp8Flops.reset();
  Kernel kernel = gemm(1e6, 4096, 4096, 4096 * 4096, WeightType::Fp8, 2);
  EXPECT_DOUBLE_EQ(Roofline(machine).seconds(kernel),
                   kernel.flops / (989e12 * 0.75) + 2e-6);
}

TEST(TimeModel, ReshardsUseOneCollective) {
  auto kind = [](Layout from, Layout to) {
    return reshardCollective(from, to, 16, 100, {4, 1, 1, 1});
  };
  EXPECT_EQ(kind(Layout::P, Layout::R)->kind, CollectiveKind::AllReduce);
  EXPECT_EQ(kind(Layout::P, Layout::T)->kind, CollectiveKind::ReduceScatter);
  EXPECT_EQ(kind(Layout::P, Layout::H)->kind, CollectiveKind::ReduceScatter);
  EXPECT_EQ(kind(Layout::T, Layout::R)->kind, CollectiveKind::AllGather);
  EXPECT_EQ(kind(Layout::H, Layout::R)->kind, CollectiveKind::AllGather);
  EXPECT_EQ(kind(Layout::T, Layout::H)->kind, CollectiveKind::AllToAll);
  EXPECT_EQ(kind(Layout::H, Layout::T)->kind, CollectiveKind::AllToAll);
  EXPECT_EQ(kind(Layout::H, Layout::R)->bytes, 1600);
  EXPECT_EQ(kind(Layout::H, Layout::T)->bytes, 400); // of one rank
  for (Layout layout : {Layout::R, Layout::T, Layout::H, Layout::P}) {
    EXPECT_FALSE(kind(layout, layout));
    EXPECT_FALSE(kind(Layout::R, layout));
    EXPECT_FALSE(reshardCollective(layout, Layout::T, 16, 100, {1, 1, 1, 1}));
  }
}

TEST(TimeModel, ReplicatedActivationsAreSentWholeOrInParts) {
  Roofline time(h100());
  Degrees degrees{8, 1, 2, 1};
  EXPECT_EQ(time.transfer(Layout::R, 1 * KiB, degrees).size(), 1u);
  EXPECT_EQ(time.transfer(Layout::R, 16 * MiB, degrees).size(), 2u);
  auto part = time.transfer(Layout::T, 16 * MiB, degrees);
  ASSERT_EQ(part.size(), 1u);
  EXPECT_EQ(part[0].bytes, 2 * MiB);
}

TEST(TimeModel, StagesShareADomainOnlyIfTheWholeGridDoes) {
  Roofline time(h100());
  Collective send{CollectiveKind::Send, Axis::Pp, 0};
  EXPECT_DOUBLE_EQ(time.seconds(send, {2, 2, 2, 1}), 5e-6);
  EXPECT_DOUBLE_EQ(time.seconds(send, {2, 2, 4, 1}), 8e-6);
}

} // namespace
