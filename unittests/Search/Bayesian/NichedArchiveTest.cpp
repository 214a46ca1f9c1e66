//===- NichedArchiveTest.cpp - Elites, one a tuple of degrees -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/NichedArchive.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

static Evaluation valid(double throughput) {
  return {true, Reason::None, throughput, 10, 10};
}

static Evaluation overMemory(double memoryGb) {
  return {false, Reason::Memory, 1000, 10, memoryGb};
}

static const Objective objective{Goal::Throughput, 50, 80};

/// tp, then the dim of one op; the other degrees are 0.
static Point at(uint32_t tp, uint32_t dim) { return {tp, 0, 0, 0, dim}; }

static std::vector<Point> points(const NichedArchive &archive) {
  std::vector<Point> points;
  for (const NichedArchive::Elite &elite : archive.elites())
    points.push_back(elite.point);
  return points;
}

using Points = std::vector<Point>;

TEST(NichedArchive, KeepsTheBestOfEveryTupleOfDegrees) {
  NichedArchive archive(10, 4, objective);
  EXPECT_TRUE(archive.tell(at(0, 0), valid(5)));
  EXPECT_FALSE(archive.tell(at(0, 1), valid(4)));
  EXPECT_TRUE(archive.tell(at(1, 1), valid(4)));
  EXPECT_EQ(points(archive), (Points{at(0, 0), at(1, 1)}));
  EXPECT_TRUE(archive.tell(at(1, 2), valid(6)));
  EXPECT_EQ(points(archive), (Points{at(1, 2), at(0, 0)}));
}

TEST(NichedArchive, TellsBatchesApart) {
  NichedArchive archive(10, 4, objective);
  archive.tell({0, 0, 0, 0, 0}, valid(5));
  EXPECT_TRUE(archive.tell({0, 0, 0, 1, 0}, valid(4)));
}

TEST(NichedArchive, KeepsTheFirstOfEquals) {
  NichedArchive archive(10, 4, objective);
  archive.tell(at(0, 0), valid(5));
  EXPECT_FALSE(archive.tell(at(0, 1), valid(5)));
  archive.tell(at(1, 0), valid(5));
  EXPECT_EQ(points(archive), (Points{at(0, 0), at(1, 0)}));
}

TEST(NichedArchive, OrdersInvalidOnesByViolationAfterValidOnes) {
  NichedArchive archive(10, 4, objective);
  archive.tell(at(0, 0), Evaluation());
  archive.tell(at(1, 0), overMemory(160));
  archive.tell(at(2, 0), valid(1));
  archive.tell(at(3, 0), overMemory(90));
  EXPECT_EQ(points(archive), (Points{at(2, 0), at(3, 0), at(1, 0), at(0, 0)}));
}

TEST(NichedArchive, FullAdmitsOnlyWhatIsBetterThanTheWorst) {
  NichedArchive archive(2, 4, objective);
  archive.tell(at(0, 0), valid(5));
  archive.tell(at(1, 0), valid(3));
  EXPECT_FALSE(archive.tell(at(2, 0), valid(3)));
  EXPECT_FALSE(archive.tell(at(3, 0), valid(2)));
  EXPECT_TRUE(archive.tell(at(4, 0), valid(4)));
  EXPECT_EQ(points(archive), (Points{at(0, 0), at(4, 0)}));
}

TEST(NichedArchive, OrdersByLatencyIfThatIsTheGoal) {
  NichedArchive archive(2, 4, {Goal::Latency, 50, 80});
  archive.tell(at(0, 0), {true, Reason::None, 9, 20, 10});
  archive.tell(at(1, 0), {true, Reason::None, 1, 10, 10});
  EXPECT_EQ(points(archive), (Points{at(1, 0), at(0, 0)}));
}
