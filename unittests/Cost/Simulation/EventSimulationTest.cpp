//===- EventSimulationTest.cpp - Streams and links ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/EventSimulation.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::simulation;

namespace {

constexpr double interference = 0.25;

Task kernel(double seconds, int after = Task::none) {
  return {Stream::Compute, Link::None, 0, seconds, {after, -1, -1}};
}

Task transfer(Axis axis, Link link, double latency, double work,
              int after = Task::none) {
  return {streamOf(axis), link, latency, work, {after, -1, -1}};
}

TEST(EventSimulation, RunsTheTasksOfAStreamInOrder) {
  EventSimulation events(interference);
  int first = events.add(kernel(1)), second = events.add(kernel(2));
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(first), 1);
  EXPECT_DOUBLE_EQ(events.finish(second), 3);
}

TEST(EventSimulation, TransfersShareALink) {
  EventSimulation events(interference);
  int ep = events.add(transfer(Axis::Ep, Link::Network, 0, 1));
  int pp = events.add(transfer(Axis::Pp, Link::Network, 0, 3));
  events.run();
  // Half the bandwidth each until the shorter one is through.
  EXPECT_DOUBLE_EQ(events.finish(ep), 2);
  EXPECT_DOUBLE_EQ(events.finish(pp), 4);
}

TEST(EventSimulation, LinksDoNotShare) {
  EventSimulation events(interference);
  int tp = events.add(transfer(Axis::Tp, Link::Domain, 0, 1));
  int pp = events.add(transfer(Axis::Pp, Link::Network, 0, 3));
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(tp), 1);
  EXPECT_DOUBLE_EQ(events.finish(pp), 3);
}

TEST(EventSimulation, LatencyUsesNoLink) {
  EventSimulation events(interference);
  int ep = events.add(transfer(Axis::Ep, Link::Network, 2, 1));
  int pp = events.add(transfer(Axis::Pp, Link::Network, 0, 2));
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(pp), 2);
  EXPECT_DOUBLE_EQ(events.finish(ep), 3);
}

TEST(EventSimulation, KernelsRunSlowerBesideTransfers) {
  EventSimulation events(interference);
  int compute = events.add(kernel(4));
  int tp = events.add(transfer(Axis::Tp, Link::Domain, 0, 2));
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(tp), 2);
  // Two seconds at a rate of 1 / 1.25, the rest at full speed.
  EXPECT_DOUBLE_EQ(events.finish(compute), 2 + (4 - 2 / 1.25));
}

TEST(EventSimulation, DevicesShareNothing) {
  EventSimulation events(interference, 2);
  Task there = transfer(Axis::Tp, Link::Domain, 0, 2);
  there.device = 1;
  int here = events.add(transfer(Axis::Ep, Link::Domain, 0, 2));
  int other = events.add(there);
  int compute = events.add(kernel(3));
  Task last = kernel(1, other);
  last.device = 1;
  int next = events.add(last);
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(here), 2);
  EXPECT_DOUBLE_EQ(events.finish(other), 2);
  // One transfer beside it, not two.
  EXPECT_DOUBLE_EQ(events.finish(compute), 2 + (3 - 2 / 1.25));
  EXPECT_DOUBLE_EQ(events.finish(next), 3);
}

TEST(EventSimulation, ATaskWaitsForThoseBeforeIt) {
  EventSimulation events(interference);
  int compute = events.add(kernel(1));
  int tp = events.add(transfer(Axis::Tp, Link::Domain, 0.5, 0, compute));
  int next = events.add(kernel(1, tp));
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(next), 2.5);
}

TEST(EventSimulation, TasksMayTakeNoTime) {
  EventSimulation events(interference);
  int compute = events.add(kernel(1));
  int tp = events.add(transfer(Axis::Tp, Link::Domain, 0, 0, compute));
  int end = events.add(kernel(0, tp));
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(end), 1);
}

TEST(EventSimulation, ForgetsWhenCleared) {
  EventSimulation events(interference);
  events.add(kernel(5));
  events.run();
  events.clear();
  int only = events.add(kernel(1));
  events.run();
  EXPECT_DOUBLE_EQ(events.finish(only), 1);
}

} // namespace
