//===- MpiWorldTest.cpp - Ranks that mpirun starts ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every process runs all tests, in the same order; see CMakeLists.txt for how
// they are started. What threads compute is computed in each process again.
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include "shardopt/Execution/Runtime/Collectives.h"
#include "shardopt/Execution/Runtime/MpiWorld.h"
#include "shardopt/Execution/Runtime/ThreadWorld.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstring>
#include <regex>

using namespace shardopt;
using namespace shardopt::runtime;

static std::unique_ptr<MpiWorld> world;

namespace {

/// Results of a rank, in order.
using Results = std::vector<Tensor>;
using Program = std::function<void(Process &, Results &)>;

std::optional<Error> runOn(std::vector<int64_t> shape, Extent extent,
                           const Program &program, Results &results) {
  return world->run(std::move(shape), {}, extent,
                    [&](Process &process) { program(process, results); });
}

void expectSameBits(const Results &found, const Results &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(describe(found[i]), describe(expected[i])) << i;
    EXPECT_EQ(
        std::memcmp(found[i].data(), expected[i].data(), expected[i].bytes()),
        0)
        << i;
  }
}

/// Runs a program on MPI and on threads, and compares what each rank gets.
void expectLikeThreads(std::vector<int64_t> shape, const Program &program,
                       Extent extent = Extent::Whole) {
  Results found;
  std::optional<Error> error = runOn(shape, extent, program, found);
  ASSERT_FALSE(error) << error->message;
  ThreadWorld threads(shape);
  std::vector<Results> expected(threads.size());
  error = threads.run(
      [&](Process &process) { program(process, expected[process.rank()]); });
  ASSERT_FALSE(error) << error->message;
  if (world->rank() < threads.size())
    expectSameBits(found, expected[world->rank()]);
}

void add(Results &results, ErrorOr<Tensor> result) {
  if (result)
    results.push_back(std::move(*result));
}

/// Values of which sums depend on the order.
Tensor uneven(std::vector<int64_t> shape, const Process &process) {
  Tensor tensor(Element::F32, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.floats().data()[i] = 1.0f / float(3 + 7 * process.rank() + i);
  return tensor;
}

TEST(MpiWorld, CollectivesHaveTheBitsOfThreads) {
  std::vector<int64_t> packed;
  for (const std::vector<int64_t> &axes :
       {std::vector<int64_t>{0}, {1}, {2}, {0, 2}, {2, 1}, {0, 1, 2}})
    packed.push_back(packAxes(axes));
  expectLikeThreads({2, 2, 2}, [&](Process &process, Results &results) {
    for (int64_t axes : packed) {
      auto value = [&] { return uneven({8, 16}, process); };
      add(results, allReduce(process, value(), Reduction::Sum, axes, 0));
      add(results, allReduce(process, value(), Reduction::Max, axes, 1));
      add(results, allGather(process, value(), 1, axes, 2));
      add(results, reduceScatter(process, value(), 0, axes, 3));
      add(results, allToAll(process, value(), 0, 1, axes, 4));
      add(results, broadcast(process, value(), 1, axes, 5));
    }
  });
}

TEST(MpiWorld, UnevenExchanges) {
  // Rank r sends (r + i) % 3 rows to member i, among them none.
  expectLikeThreads({8}, [](Process &process, Results &results) {
    int64_t rank = process.rank();
    std::vector<int32_t> send, recv;
    int64_t rows = 0;
    for (int64_t i = 0; i < 8; ++i) {
      send.push_back(int32_t((rank + i) % 3));
      recv.push_back(int32_t((i + rank) % 3));
      rows += send.back();
    }
    add(results,
        allToAllV(process, uneven({rows, 5}, process), counts({8, 1, 1}, send),
                  counts({8, 1, 1}, recv), packAxes({0}), 0));
  });
}

TEST(MpiWorld, LargeMessagesCrossEachOther) {
  // Beyond what MPI sends before it is received.
  expectLikeThreads({8}, [](Process &process, Results &results) {
    int64_t axes = packAxes({0}), next = (process.rank() + 1) % 8;
    for (int step = 0; step < 2; ++step)
      (void)send(process, uneven({1 << 18}, process), next, axes, 0);
    for (int step = 0; step < 2; ++step)
      add(results, receive(process, Tensor(Element::F32, {1 << 18}),
                           (process.rank() + 7) % 8, axes, 1));
  });
}

TEST(MpiWorld, ManyCollectivesDoNotUseUpCommunicators) {
  expectLikeThreads({2, 2, 2}, [](Process &process, Results &results) {
    Tensor value = uneven({2}, process);
    for (int step = 0; step < 3000; ++step) {
      ErrorOr<Tensor> sum = allReduce(process, std::move(value), Reduction::Max,
                                      packAxes({step % 3}), step);
      if (!sum)
        return;
      value = std::move(*sum);
    }
    results.push_back(std::move(value));
  });
}

TEST(MpiWorld, AProgramMayTakeTheFirstRanks) {
  Program sum = [](Process &process, Results &results) {
    add(results, allReduce(process, uneven({3}, process), Reduction::Sum,
                           packAxes({0}), 0));
  };
  expectLikeThreads({3}, sum, Extent::FirstRanks);
  Results results;
  std::optional<Error> error = runOn({3}, Extent::Whole, sum, results);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "the program has 3 ranks, mpirun started 8");
  EXPECT_TRUE(runOn({9}, Extent::FirstRanks, sum, results));
}

TEST(MpiWorld, AFailureReachesEveryRank) {
  // Rank 2 fails before what the others wait for; a message is left behind.
  std::optional<Error> error =
      world->run({8}, {}, Extent::Whole, [](Process &process) {
        int64_t axes = packAxes({0});
        (void)send(process, rising({4}, 0), 2, axes, 0);
        (void)broadcastBytes(process, "left behind");
        if (process.rank() == 2)
          process.report({"no weights"});
        else
          (void)allReduce(process, rising({4}, 0), Reduction::Sum, axes, 1);
      });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message.substr(0, error->message.find('\n')), "no weights");
  // A rank of a chain waits for one that waits for rank 2, so whom it names
  // depends on how far the others got.
  std::regex waiting("\n  rank 0 waits for rank [1-7] in all_reduce_sum over "
                     "axes \\[0\\] at site 1, 1 done before");
  EXPECT_TRUE(std::regex_search(error->message, waiting)) << error->message;

  // The next program does not see it.
  expectLikeThreads({8}, [](Process &process, Results &results) {
    int64_t axes = packAxes({0});
    (void)send(process, uneven({1}, process), 2, axes, 0);
    if (process.rank() == 2)
      for (int64_t from = 0; from < 8; ++from)
        add(results,
            receive(process, Tensor(Element::F32, {1}), from, axes, 1));
  });
}

TEST(MpiWorld, DifferentCollectivesAreAnErrorEverywhere) {
  std::optional<Error> error =
      world->run({2, 4}, {}, Extent::Whole, [](Process &process) {
        (void)allReduce(process, rising({4}, 0), Reduction::Sum, packAxes({1}),
                        process.rank() == 5 ? 1 : 0);
      });
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("all_reduce_sum over axes [1] at site"),
            std::string::npos)
      << error->message;
}

TEST(MpiWorld, AWaitForWhatNobodySendsEndsByTheTimeLimit) {
  std::optional<Error> error =
      world->run({8}, {}, Extent::Whole, [](Process &process) {
        if (process.rank() == 3)
          (void)allReduce(process, rising({4}, 0), Reduction::Sum,
                          packAxes({0}), 7);
      });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message.substr(0, error->message.find('\n')),
            "no message came within the time limit, 2 s");
  EXPECT_NE(error->message.find("\n  rank 2 has finished, 0 done\n  rank 3 "
                                "waits for rank 0 in all_reduce_sum over axes "
                                "[0] at site 7, 0 done before\n"),
            std::string::npos)
      << error->message;
}

TEST(MpiWorld, TheHostExchangesBytes) {
  std::string object(100000, 'o');
  ErrorOr<std::string> told =
      broadcastBytes(world->host(), world->rank() == 0 ? object : "");
  ASSERT_TRUE(told);
  EXPECT_EQ(*told, object);
  ErrorOr<std::vector<std::string>> all =
      gatherBytes(world->host(), std::to_string(world->rank()));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), world->rank() == 0 ? 8u : 0u);
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  ErrorOr<MpiKind> kind = parseMpiKind(argc > 1 ? argv[1] : "auto");
  if (!kind) {
    std::fprintf(stderr, "error: %s\n", kind.error().message.c_str());
    return 1;
  }
  ErrorOr<std::unique_ptr<MpiWorld>> opened =
      MpiWorld::open(*kind, /*timeLimit=*/2);
  if (!opened) {
    std::fprintf(stderr, "error: %s\n", opened.error().message.c_str());
    return 1;
  }
  world = std::move(*opened);
  // One rank tells what passes; all tell what fails, by their exit status.
  if (world->rank() != 0) {
    testing::TestEventListeners &listeners =
        testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  int status = RUN_ALL_TESTS();
  if (status != 0 && world->rank() != 0)
    std::fprintf(stderr, "rank %d failed\n", int(world->rank()));
  world.reset();
  return status;
}
