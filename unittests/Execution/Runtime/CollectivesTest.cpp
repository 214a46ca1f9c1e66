//===- CollectivesTest.cpp - Meanings of collectives, on threads ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include "shardopt/Execution/Runtime/Collectives.h"
#include "shardopt/Execution/Runtime/ThreadWorld.h"

#include "gtest/gtest.h"

#include <cmath>
#include <functional>

using namespace shardopt;
using namespace shardopt::runtime;

namespace {

using Values = std::vector<float>;
using Each = std::function<ErrorOr<Tensor>(Process &)>;

/// The result of every rank; fails the test where there is none.
std::vector<Tensor> runAll(ThreadWorld &world, const Each &body) {
  std::vector<Tensor> results(world.size());
  std::optional<Error> error = world.run([&](Process &process) {
    if (ErrorOr<Tensor> result = body(process))
      results[process.rank()] = std::move(*result);
  });
  EXPECT_FALSE(error) << error->message;
  return results;
}

TEST(Collectives, AllReduceAddsInTheOrderOfTheGroup) {
  // In f32 the sum of these depends on the order.
  const float terms[] = {1.0f, 1e8f, -1e8f, 1.0f};
  float expected = ((terms[0] + terms[1]) + terms[2]) + terms[3];
  ThreadWorld world({4});
  for (const Tensor &result : runAll(world, [&](Process &process) {
         return allReduce(process, floats({1}, {terms[process.rank()]}),
                          Reduction::Sum, packAxes({0}), 0);
       }))
    EXPECT_EQ(values(result), Values{expected});
}

TEST(Collectives, AllReduceTakesTheLargestAndKeepsNaN) {
  ThreadWorld world({2});
  for (const Tensor &result : runAll(world, [](Process &process) {
         bool first = process.rank() == 0;
         return allReduce(process,
                          first ? floats({3}, {1, 5, NAN})
                                : floats({3}, {2, -5, 1}),
                          Reduction::Max, packAxes({0}), 0);
       })) {
    EXPECT_EQ(values(result)[0], 2);
    EXPECT_EQ(values(result)[1], 5);
    EXPECT_TRUE(std::isnan(values(result)[2]));
  }
}

TEST(Collectives, IntegersAreExact) {
  ThreadWorld world({2});
  for (const Tensor &result : runAll(world, [](Process &process) {
         return allReduce(process, counts({1}, {(1 << 24) + 1}), Reduction::Sum,
                          packAxes({0}), 0);
       }))
    EXPECT_EQ(result.ints()[0], (1 << 25) + 2);
}

TEST(Collectives, AllGatherPutsTensorsSideBySide) {
  ThreadWorld world({2});
  for (const Tensor &result : runAll(world, [](Process &process) {
         return allGather(process,
                          rising({2, 2}, 10.0f * float(process.rank())), 1,
                          packAxes({0}), 0);
       })) {
    EXPECT_EQ(result.shape(), (std::vector<int64_t>{2, 4}));
    EXPECT_EQ(values(result), (Values{0, 1, 10, 11, 2, 3, 12, 13}));
  }
}

TEST(Collectives, ReduceScatterKeepsABlock) {
  ThreadWorld world({2});
  std::vector<Tensor> results = runAll(world, [](Process &process) {
    return reduceScatter(process, rising({2, 4}, 10.0f * float(process.rank())),
                         1, packAxes({0}), 0);
  });
  EXPECT_EQ(values(results[0]), (Values{10, 12, 18, 20}));
  EXPECT_EQ(values(results[1]), (Values{14, 16, 22, 24}));
}

TEST(Collectives, AllToAllTradesADimForAnother) {
  ThreadWorld world({2});
  std::vector<Tensor> results = runAll(world, [](Process &process) {
    return allToAll(process, rising({1, 4}, 10.0f * float(process.rank())), 1,
                    0, packAxes({0}), 0);
  });
  EXPECT_EQ(results[0].shape(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(values(results[0]), (Values{0, 1, 10, 11}));
  EXPECT_EQ(values(results[1]), (Values{2, 3, 12, 13}));
}

TEST(Collectives, AllToAllVSendsUnevenNumbersOfRows) {
  // Rank 0 sends [0, 3] rows, rank 1 [2, 1]; two experts share the last count.
  ThreadWorld world({2});
  std::vector<Tensor> results = runAll(world, [](Process &process) {
    bool first = process.rank() == 0;
    Tensor send = first ? counts({2, 1, 2}, {0, 0, 1, 2})
                        : counts({2, 1, 2}, {2, 0, 0, 1});
    Tensor recv = first ? counts({2, 1, 2}, {0, 0, 2, 0})
                        : counts({2, 1, 2}, {1, 2, 0, 1});
    return allToAllV(process, rising({3, 2}, first ? 0.0f : 10.0f), send, recv,
                     packAxes({0}), 0);
  });
  EXPECT_EQ(values(results[0]), (Values{10, 11, 12, 13}));
  EXPECT_EQ(values(results[1]), (Values{0, 1, 2, 3, 4, 5, 14, 15}));
}

TEST(Collectives, AllToAllVMaySendNothingAtAll) {
  ThreadWorld world({2});
  for (const Tensor &result : runAll(world, [](Process &process) {
         return allToAllV(process, rising({0, 3}, 0), counts({2, 1, 1}, {0, 0}),
                          counts({2, 1, 1}, {0, 0}), packAxes({0}), 0);
       }))
    EXPECT_EQ(result.shape(), (std::vector<int64_t>{0, 3}));
}

TEST(Collectives, BroadcastGivesTheTensorOfTheRoot) {
  ThreadWorld world({3});
  for (const Tensor &result : runAll(world, [](Process &process) {
         return broadcast(process, rising({2}, 10.0f * float(process.rank())),
                          1, packAxes({0}), 0);
       }))
    EXPECT_EQ(values(result), (Values{10, 11}));
}

TEST(Collectives, GroupsAlongSomeAxesDoNotMeet) {
  // Axes [2, 0] of a 2x2x2 grid: the sum over ranks of equal middle coordinate.
  ThreadWorld world({2, 2, 2});
  std::vector<Tensor> results = runAll(world, [](Process &process) {
    return allReduce(process, floats({1}, {float(1 << process.rank())}),
                     Reduction::Sum, packAxes({2, 0}), 0);
  });
  for (int64_t rank = 0; rank < 8; ++rank)
    EXPECT_EQ(values(results[rank]), Values{rank & 2 ? 204.0f : 51.0f});
  // The order of a gather is that of the axes.
  results = runAll(world, [](Process &process) {
    return allGather(process, floats({1}, {float(process.rank())}), 0,
                     packAxes({2, 0}), 0);
  });
  EXPECT_EQ(values(results[0]), (Values{0, 4, 1, 5}));
}

TEST(Collectives, AGroupOfOneKeepsItsOwn) {
  ThreadWorld world({2});
  std::vector<Tensor> results = runAll(world, [](Process &process) {
    return allReduce(process, floats({1}, {float(process.rank())}),
                     Reduction::Sum, 0, 0);
  });
  EXPECT_EQ(values(results[1]), Values{1});
}

TEST(Collectives, SendDoesNotWaitAndReceiveTakesMessagesInOrder) {
  ThreadWorld world({2});
  std::vector<Tensor> results =
      runAll(world, [](Process &process) -> ErrorOr<Tensor> {
        int64_t axes = packAxes({0});
        if (process.rank() == 0)
          for (float value : {1.0f, 2.0f, 3.0f})
            send(process, floats({1}, {value}), 1, axes, 0);
        // A collective between a send and its receive is not in the way.
        ErrorOr<Tensor> sum =
            allReduce(process, floats({1}, {1}), Reduction::Sum, axes, 1);
        if (process.rank() == 0)
          return sum;
        Tensor like(Element::F32, {1});
        (void)receive(process, like, 0, axes, 2);
        return receive(process, like, 0, axes, 2);
      });
  EXPECT_EQ(values(results[1]), Values{2});
}

TEST(Collectives, StatisticsCountWhatACostModelCharges) {
  ThreadWorld world({2});
  runAll(world, [](Process &process) -> ErrorOr<Tensor> {
    int64_t axes = packAxes({0});
    for (int step = 0; step < 2; ++step)
      (void)allGather(process, rising({3, 2}, 0), 0, axes, 4);
    send(process, rising({5}, 0), 1 - process.rank(), axes, 0);
    (void)receive(process, Tensor(Element::F32, {5}), 1 - process.rank(), axes,
                  1);
    return allToAll(process, rising({2, 2}, 0), 0, 0, axes, 2);
  });
  const std::vector<SiteStatistics> &sites =
      world.process(1).statistics().sites();
  ASSERT_EQ(sites.size(), 5u);
  EXPECT_EQ(sites[4][0].calls, 2);
  EXPECT_EQ(sites[4][0].elements, 24);
  EXPECT_EQ(sites[4][0].bytes, 96);
  EXPECT_EQ(sites[0][0].elements, 5);
  EXPECT_EQ(sites[1][0].calls, 1);
  EXPECT_EQ(sites[1][0].elements, 0);
  EXPECT_EQ(sites[2][0].elements, 4);
}

TEST(Collectives, StatisticsOfASiteHaveParts) {
  Statistics statistics;
  statistics.setParts({{}, {2, 1}});
  for (int64_t elements : {1, 2, 4, 8, 16, 32, 64})
    statistics.add(1, elements, 4);
  statistics.add(0, 3, 4);
  statistics.add(2, 5, 4);
  ASSERT_EQ(statistics.sites().size(), 3u);
  EXPECT_EQ(statistics.sites()[0][0].elements, 3);
  EXPECT_EQ(statistics.sites()[2][0].elements, 5);
  const SiteStatistics &split = statistics.sites()[1];
  ASSERT_EQ(split.size(), 2u);
  EXPECT_EQ(split[0].calls, 5);
  EXPECT_EQ(split[0].elements, 1 + 2 + 8 + 16 + 64);
  EXPECT_EQ(split[1].calls, 2);
  EXPECT_EQ(split[1].elements, 4 + 32);
}

TEST(Collectives, TheHostExchangesBytes) {
  ThreadWorld world({2, 2});
  std::vector<std::vector<std::string>> gathered(4);
  std::optional<Error> error = world.run([&](Process &process) {
    std::string mine = std::string(process.rank(), 'x');
    ErrorOr<std::string> first =
        broadcastBytes(process, process.rank() == 0 ? "object" : "");
    EXPECT_EQ(*first, "object");
    gathered[process.rank()] = *gatherBytes(process, mine);
  });
  EXPECT_FALSE(error);
  EXPECT_EQ(gathered[0], (std::vector<std::string>{"", "x", "xx", "xxx"}));
  EXPECT_TRUE(gathered[3].empty());
}

} // namespace
