//===- ThreadWorldTest.cpp - Failures and deadlocks of threads ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include "shardopt/Execution/Runtime/Collectives.h"
#include "shardopt/Execution/Runtime/ThreadWorld.h"

#include "gtest/gtest.h"

using namespace shardopt;
using namespace shardopt::runtime;

namespace {

/// What a run in which `body` fails says.
std::string failureOf(ThreadWorld &world,
                      const std::function<void(Process &)> &body) {
  std::optional<Error> error = world.run(body);
  return error ? error->message : "no error";
}

void sum(Process &process, int64_t site, std::vector<int64_t> shape = {2}) {
  (void)allReduce(process, rising(std::move(shape), 0), Reduction::Sum,
                  packAxes({0}), site);
}

TEST(ThreadWorld, ADeadlockSaysWhereEveryRankIs) {
  ThreadWorld world({3}, {"qkv_proj", "lm_head"});
  std::string expected =
      "deadlock: no rank can go on\n"
      "  rank 0 waits for rank 1 in all_reduce_sum over axes [0] at site 1 "
      "(lm_head), 1 done before\n"
      "  rank 1 has finished, 1 done\n"
      "  rank 2 waits for rank 1 in recv over axes [0] at site 5, 1 done "
      "before";
  for (int repeat = 0; repeat < 20; ++repeat)
    EXPECT_EQ(failureOf(world,
                        [](Process &process) {
                          sum(process, 0);
                          if (process.rank() == 0)
                            sum(process, 1);
                          if (process.rank() == 2)
                            (void)receive(process, rising({1}, 0), 1,
                                          packAxes({0}), 5);
                        }),
              expected);
}

TEST(ThreadWorld, LivesOnAfterADeadlock) {
  ThreadWorld world({2});
  EXPECT_TRUE(world.run([](Process &process) {
    if (process.rank() == 0)
      sum(process, 0);
  }));
  float total = 0;
  std::optional<Error> error = world.run([&](Process &process) {
    ErrorOr<Tensor> result =
        allReduce(process, floats({1}, {3}), Reduction::Sum, packAxes({0}), 0);
    if (process.rank() == 1)
      total = values(*result)[0];
  });
  EXPECT_FALSE(error);
  EXPECT_EQ(total, 6);
}

TEST(ThreadWorld, AFailedRankStaysSo) {
  // A body that goes on regardless gets the same error again, and waits no
  // more.
  ThreadWorld world({2});
  std::string second;
  failureOf(world, [&](Process &process) {
    if (process.rank() == 1)
      return;
    sum(process, 0);
    second =
        allReduce(process, rising({1}, 0), Reduction::Sum, packAxes({0}), 1)
            .error()
            .message;
  });
  EXPECT_EQ(second, "deadlock: no rank can go on");
}

TEST(ThreadWorld, DifferentCollectivesOfAGroupAreAnError) {
  ThreadWorld world({2}, {"router", "dispatch"});
  std::string message = failureOf(world, [](Process &process) {
    if (process.rank() == 0)
      (void)allGather(process, rising({2}, 0), 0, packAxes({0}), 0);
    else
      sum(process, 1);
  });
  EXPECT_EQ(
      message,
      "rank 0: all_gather over axes [0] at site 0 (router): rank 1 called "
      "all_reduce_sum over axes [0] at site 1 (dispatch)\n"
      "  rank 0 failed in all_gather over axes [0] at site 0 (router), 0 "
      "done before\n"
      "  rank 1 failed in all_reduce_sum over axes [0] at site 1 "
      "(dispatch), 0 done before");
}

TEST(ThreadWorld, DifferentSitesOfAGroupAreAnError) {
  ThreadWorld world({2});
  std::string message =
      failureOf(world, [](Process &process) { sum(process, process.rank()); });
  EXPECT_NE(
      message.find("rank 1 called all_reduce_sum over axes [0] at site 1"),
      std::string::npos)
      << message;
}

TEST(ThreadWorld, DifferentDimsOfAGroupAreAnError) {
  ThreadWorld world({2});
  std::string message = failureOf(world, [](Process &process) {
    (void)allGather(process, rising({2, 2}, 0), process.rank(), packAxes({0}),
                    0);
  });
  EXPECT_NE(
      message.find("rank 1 called all_gather over axes [0] at site 0 with "
                   "[1, 0] instead of [0, 0]"),
      std::string::npos)
      << message;
}

TEST(ThreadWorld, SizesThatDifferAreAnError) {
  ThreadWorld world({2});
  std::string message = failureOf(
      world, [](Process &process) { sum(process, 0, {2 + process.rank()}); });
  EXPECT_EQ(
      message.substr(0, message.find('\n')),
      "rank 0: all_reduce_sum over axes [0] at site 0: expected 2xf32 from "
      "rank 1, found 3xf32");
}

TEST(ThreadWorld, SizesThatAGroupDoesNotDivideAreAnError) {
  ThreadWorld world({2});
  std::string message = failureOf(world, [](Process &process) {
    (void)reduceScatter(process, rising({3, 4}, 0), 0, packAxes({0}), 0);
  });
  EXPECT_EQ(message.substr(0, message.find('\n')),
            "rank 0: reduce_scatter over axes [0] at site 0: a group of 2 does "
            "not divide dim 0 of 3x4xf32");
}

TEST(ThreadWorld, CountsThatDoNotFitAreErrors) {
  ThreadWorld world({2});
  auto exchange = [&](int32_t sent, int32_t expected) {
    return failureOf(world, [&](Process &process) {
      (void)allToAllV(process, rising({2, 1}, 0), counts({2, 1, 1}, {1, sent}),
                      counts({2, 1, 1}, {1, expected}), packAxes({0}), 0);
    });
  };
  EXPECT_NE(exchange(2, 1).find("3 rows announced, 2 held"), std::string::npos);
  EXPECT_NE(exchange(-1, 1).find("or a negative one"), std::string::npos);
  EXPECT_NE(exchange(1, 2).find("sent 1x1xf32, expected 2 rows as in 2x1xf32"),
            std::string::npos);
}

TEST(ThreadWorld, AMessageOfAnotherSizeIsAnError) {
  ThreadWorld world({2});
  std::string message = failureOf(world, [](Process &process) {
    if (process.rank() == 0)
      send(process, rising({2, 3}, 0), 1, packAxes({0}), 7);
    else
      (void)receive(process, rising({3, 3}, 0), 0, packAxes({0}), 8);
  });
  EXPECT_EQ(message.substr(0, message.find('\n')),
            "rank 1: recv over axes [0] at site 8: expected 3x3xf32, found "
            "2x3xf32 of send over axes [0] at site 7");
}

TEST(ThreadWorld, AxesAndMembersThatDoNotExistAreErrors) {
  ThreadWorld world({2});
  std::string message = failureOf(world, [](Process &process) {
    (void)broadcast(process, rising({1}, 0), 2, packAxes({0}), 0);
  });
  EXPECT_NE(message.find("a group of 2 has no member 2"), std::string::npos);
  message = failureOf(world, [](Process &process) {
    (void)broadcast(process, rising({1}, 0), 0, packAxes({1}), 0);
  });
  EXPECT_NE(message.find("expected different axes of a grid of 1"),
            std::string::npos);
}

TEST(ThreadWorld, AReportedFailureIsTheCauseOfTheOthersWait) {
  ThreadWorld world({2});
  std::string message = failureOf(world, [](Process &process) {
    if (process.rank() == 1)
      process.report({"no weights"});
    else
      sum(process, 0);
  });
  EXPECT_EQ(message,
            "no weights\n"
            "  rank 0 waits for rank 1 in all_reduce_sum over axes [0] "
            "at site 0, 0 done before\n"
            "  rank 1 failed before its first collective");
}

} // namespace
