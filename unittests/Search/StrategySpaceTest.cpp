//===- StrategySpaceTest.cpp - Domains, pins and limits -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/StrategySpace.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

#include <set>

using namespace shardopt;
using namespace shardopt::search;

static SpaceFacts facts(int64_t layers, int64_t experts) {
  return {layers, experts, {"embed", "ffn_up", "ffn_down"}};
}

static StrategySpace create(const SpaceFacts &facts,
                            const SpaceRequest &request = {}) {
  ErrorOr<StrategySpace> space = StrategySpace::create(facts, request);
  EXPECT_TRUE(space) << space.error().message;
  return *space;
}

static std::string errorOf(const SpaceRequest &request) {
  ErrorOr<StrategySpace> space = StrategySpace::create(facts(60, 16), request);
  return space ? "" : space.error().message;
}

using Values = std::vector<int64_t>;

TEST(StrategySpace, DefaultDomainsOfSixteenExperts) {
  StrategySpace space = create(facts(60, 16));
  EXPECT_EQ(space.degreeDomain(Degree::Tp), (Values{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(space.degreeDomain(Degree::Ep), (Values{1, 2, 4, 8, 16}));
  EXPECT_EQ(space.degreeDomain(Degree::Pp), (Values{1, 2, 3, 4, 6, 8, 12, 24}));
  EXPECT_EQ(space.degreeDomain(Degree::Batch).size(), 14u);
  EXPECT_EQ(space.degreeDomain(Degree::Batch).back(), 8192);
  EXPECT_EQ(space.degreeTuples().size(), 3920u);
  EXPECT_EQ(space.size(), 3920.0 * 27);
}

TEST(StrategySpace, MoreExpertsExtendEpAndBatch) {
  StrategySpace space = create(facts(61, 256));
  EXPECT_EQ(space.degreeDomain(Degree::Ep).back(), 256);
  EXPECT_EQ(space.degreeDomain(Degree::Batch).back(), 65536);
  // Sixty experts: no power of two beyond 32 is within them.
  EXPECT_EQ(create(facts(61, 60)).degreeDomain(Degree::Ep).back(), 32);
}

TEST(StrategySpace, DenseModelsHaveReplicas) {
  StrategySpace space = create(facts(80, 0));
  EXPECT_EQ(space.degreeDomain(Degree::Ep), (Values{1, 2, 4, 8, 16}));
  EXPECT_EQ(space.degreeDomain(Degree::Batch).back(), 8192);
}

TEST(StrategySpace, StagesEndAtTheLayers) {
  EXPECT_EQ(create(facts(7, 0)).degreeDomain(Degree::Pp),
            (Values{1, 2, 3, 4, 6}));
  EXPECT_EQ(create(facts(1, 0)).degreeDomain(Degree::Pp), (Values{1}));
}

TEST(StrategySpace, DeviceLimitDropsValuesAndCombinations) {
  SpaceRequest request;
  request.maxDevices = 8;
  StrategySpace space = create(facts(60, 16), request);
  EXPECT_EQ(space.degreeDomain(Degree::Tp).back(), 8);
  EXPECT_EQ(space.degreeDomain(Degree::Pp), (Values{1, 2, 3, 4, 6, 8}));
  for (const Degrees &degrees : space.degreeTuples())
    EXPECT_LE(degrees.devices(), 8);
}

TEST(StrategySpace, ExactNumberOfDevices) {
  SpaceRequest request;
  request.devices = 12;
  StrategySpace space = create(facts(60, 16), request);
  for (const Degrees &degrees : space.degreeTuples())
    EXPECT_EQ(degrees.devices(), 12);
  // tp 8 divides no such grid.
  EXPECT_EQ(space.degreeDomain(Degree::Tp), (Values{1, 2, 4}));
}

TEST(StrategySpace, ListsReplaceDefaultsInAnyOrder) {
  SpaceRequest request;
  request.lists[Degree::Tp] = Values{5, 3, 5};
  StrategySpace space = create(facts(60, 16), request);
  EXPECT_EQ(space.degreeDomain(Degree::Tp), (Values{3, 5}));
}

TEST(StrategySpace, PinsNarrowDomains) {
  SpaceRequest request;
  request.pinned[Degree::Pp] = 5; // not in the default list
  request.pinnedDims = {std::nullopt, Dim::One, std::nullopt};
  StrategySpace space = create(facts(60, 16), request);
  EXPECT_EQ(space.degreeDomain(Degree::Pp), (Values{5}));
  EXPECT_EQ(space.dimDomains()[1], (DimDomain{Dim::One}));
  EXPECT_EQ(space.dimDomains()[2].size(), 3u);
}

TEST(StrategySpace, WeightsAreShardedOnBothDimsWhereTpHasTwoAxes) {
  SpaceFacts ofNetwork = facts(60, 0);
  ofNetwork.bothDimsOps = {1, 2};
  for (SpaceKind kind : {SpaceKind::Uniform, SpaceKind::Serving}) {
    SpaceRequest request;
    request.kind = kind;
    StrategySpace plain = create(ofNetwork, request);
    request.lists[Degree::Tp2] = {1};
    StrategySpace listed = create(ofNetwork, request);
    for (const DimDomain &domain : plain.dimDomains())
      EXPECT_EQ(domain.size(), 3u);
    EXPECT_EQ(listed.dimDomains(), plain.dimDomains());
  }

  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4, 8};
  request.lists[Degree::Tp2] = {1, 2, 4};
  StrategySpace space = create(ofNetwork, request);
  EXPECT_EQ(space.dimDomains()[0].size(), 3u);
  EXPECT_EQ(space.dimDomains()[1],
            (DimDomain{Dim::Zero, Dim::One, Dim::None, dimBoth}));
  for (const Degrees &degrees : space.degreeTuples())
    EXPECT_TRUE(degrees.tp2 == 1 ||
                (degrees.tp % degrees.tp2 == 0 && degrees.tp2 < degrees.tp));

  request = {};
  request.pinnedDims = {std::nullopt, dimBoth, std::nullopt};
  ErrorOr<StrategySpace> refused = StrategySpace::create(ofNetwork, request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "'ffn_up' is pinned to dim 3 (both), which needs 'tp2' above 1: "
            "expected a list or a pin of it");
  request.pinned[Degree::Tp2] = 2;
  EXPECT_EQ(create(ofNetwork, request).dimDomains()[1], DimDomain{dimBoth});
}

TEST(StrategySpace, PinOutsideItsListNamesBoth) {
  SpaceRequest request;
  request.pinned[Degree::Tp] = 8;
  request.lists[Degree::Tp] = Values{1, 2, 4};
  EXPECT_EQ(errorOf(request), "'tp' is pinned to 8, but its list is 1, 2, 4");
}

TEST(StrategySpace, PinsBeyondTheDeviceLimitNameBoth) {
  SpaceRequest request;
  request.pinned[Degree::Tp] = 8;
  request.pinned[Degree::Ep] = 16;
  request.lists[Degree::Pp] = Values{2};
  request.maxDevices = 64;
  EXPECT_EQ(errorOf(request),
            "tp * ep * pp is at least 256, but 'max-devices' is 64: "
            "tp 8 (pinned), ep 16 (pinned), pp 2 (listed)");
}

TEST(StrategySpace, UnreachableNumberOfDevicesNamesBoth) {
  SpaceRequest request;
  request.devices = 7;
  request.pinned[Degree::Pp] = 1;
  EXPECT_EQ(errorOf(request), "no tp * ep * pp is 'devices' = 7: "
                              "tp 1, 2, 4, 8, 16, 32, 64 (default), "
                              "ep 1, 2, 4, 8, 16 (default), pp 1 (pinned)");
}

TEST(StrategySpace, BothDeviceLimitsMustAgree) {
  SpaceRequest request;
  request.devices = 128;
  request.maxDevices = 64;
  EXPECT_EQ(errorOf(request), "'devices' is 128, but 'max-devices' is 64");
}

TEST(StrategySpace, ValuesOutOfRange) {
  SpaceRequest zero;
  zero.lists[Degree::Ep] = Values{1, 0};
  EXPECT_EQ(errorOf(zero), "'ep' is 0, which is out of range: 1 to 1048576");
  SpaceRequest huge;
  huge.pinned[Degree::Batch] = int64_t(1) << 40;
  EXPECT_NE(errorOf(huge).find("pinned 'batch' is 1099511627776"),
            std::string::npos);
  SpaceRequest none;
  none.lists[Degree::Pp] = Values{};
  EXPECT_EQ(errorOf(none), "'pp' lists no value");
  SpaceRequest noDevices;
  noDevices.maxDevices = 0;
  EXPECT_NE(errorOf(noDevices).find("'max-devices' is 0"), std::string::npos);
}

TEST(StrategySpace, ListsThatMultiplyTooFarAreRefused) {
  Values many;
  for (int64_t value = 1; value <= 600; ++value)
    many.push_back(value);
  SpaceRequest request;
  request.lists[Degree::Tp] = request.lists[Degree::Ep] =
      request.lists[Degree::Pp] = many;
  EXPECT_EQ(errorOf(request), "the lists of 'tp', 'ep', 'pp' and 'batch' have "
                              "more than 16777216 combinations");
}

TEST(StrategySpace, PointsAndStrategiesCorrespond) {
  SpaceRequest request;
  request.lists[Degree::Tp] = Values{1, 2};
  request.lists[Degree::Ep] = Values{1, 4};
  request.lists[Degree::Pp] = Values{3};
  request.lists[Degree::Batch] = Values{8, 16};
  request.maxDevices = 12;
  StrategySpace space = create(facts(60, 16), request);
  size_t count = 0;
  forEachStrategy(space, [&](const Strategy &strategy) {
    ++count;
    std::optional<Point> point = space.pointOf(strategy);
    ASSERT_TRUE(point);
    EXPECT_EQ(space.strategyAt(*point), strategy);
  });
  EXPECT_EQ(count, space.size());
  std::vector<Dim> dims(3, Dim::Zero);
  EXPECT_TRUE(space.contains({{1, 4, 3, 8}, dims}));
  EXPECT_FALSE(space.contains({{2, 4, 3, 8}, dims})); // 24 devices
  EXPECT_FALSE(space.contains({{1, 2, 3, 8}, dims})); // ep 2
  EXPECT_FALSE(space.contains({{1, 4, 3, 8}, {}}));
}

TEST(StrategySpace, SamplesReachEveryGridAndNothingElse) {
  SpaceRequest request;
  request.devices = 24;
  StrategySpace space = create(facts(60, 16), request);
  Rng rng(1);
  std::set<Degrees> grids;
  for (int i = 0; i < 5000; ++i) {
    Strategy strategy = space.strategyAt(space.sample(rng));
    ASSERT_TRUE(space.contains(strategy));
    strategy.degrees.batch = 1;
    grids.insert(strategy.degrees);
  }
  size_t batches = space.degreeDomain(Degree::Batch).size();
  EXPECT_EQ(grids.size(), space.degreeTuples().size() / batches);
}

TEST(StrategySpace, RepairKeepsItsVariableAndChangesAsFewAsItCan) {
  SpaceRequest request;
  request.devices = 16;
  request.lists[Degree::Pp] = Values{1};
  StrategySpace space = create(facts(60, 16), request);
  Rng rng(1);
  // 16 * 1 * 1 with tp moved to 4: ep has to follow, to 4.
  Point point = *space.pointOf({{16, 1, 1, 1}, std::vector<Dim>(3)});
  constexpr size_t tp = 0;
  point[tp] = 2;
  space.repair(point, tp, rng);
  EXPECT_EQ(space.strategyAt(point).degrees, (Degrees{4, 4, 1, 1}));
  Point fine = point;
  space.repair(point, space.batch(), rng);
  EXPECT_EQ(point, fine);
}

TEST(StrategySpace, PinnedStagesPinPpAndAreInEveryStrategy) {
  SpaceRequest request;
  request.pinned.stages.layers = {30, 20, 10};
  StrategySpace space = create(facts(60, 16), request);
  EXPECT_EQ(space.degreeDomain(Degree::Pp), (Values{3}));
  Rng rng(1);
  Strategy strategy = space.strategyAt(space.sample(rng));
  EXPECT_EQ(strategy.degrees.stages, request.pinned.stages);
  EXPECT_TRUE(space.contains(strategy));
  strategy.degrees.stages = {};
  EXPECT_FALSE(space.contains(strategy));
}

TEST(StrategySpace, EvenStagesAreThoseThatSayNothing) {
  SpaceRequest request;
  request.pinned.stages.layers = {20, 20, 20};
  StrategySpace space = create(facts(60, 16), request);
  EXPECT_EQ(space.degreeDomain(Degree::Pp), (Values{3}));
  EXPECT_TRUE(space.stages().isEmpty());
}

TEST(StrategySpace, StagesThatDivideNothing) {
  SpaceRequest request;
  request.pinned.stages.layers = {30, 20};
  EXPECT_EQ(errorOf(request), "'stages' adds up to 50 layers, expected all 60, "
                              "such as 2 x 30");
  request.pinned.stages.layers = {60, 0};
  EXPECT_EQ(errorOf(request),
            "'stages' has 0 layers in stage 1, expected 1 to 1048576");
  request.pinned.stages.layers = {30, 30};
  request.pinned[Degree::Pp] = 3;
  EXPECT_EQ(errorOf(request),
            "'stages' has the layers of 2 stages, expected as many as pp, 3");
  request.pinned[Degree::Pp].reset();
  request.lists[Degree::Pp] = Values{1, 3};
  EXPECT_EQ(errorOf(request), "'pp' is pinned to 2, but its list is 1, 3");
}
