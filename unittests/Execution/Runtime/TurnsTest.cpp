//===- TurnsTest.cpp - Programs of one rank that take turns ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeTest.h"

#include "shardopt/Execution/Runtime/Collectives.h"
#include "shardopt/Execution/Runtime/ThreadWorld.h"
#include "shardopt/Execution/Runtime/Turns.h"

#include "gtest/gtest.h"

using namespace shardopt;
using namespace shardopt::runtime;

namespace {

std::string spellTurn(const Turn &turn) {
  return std::to_string(turn.label) + " of " + std::to_string(turn.program);
}

/// A program of ops 0 to `last`, each of which sums over all ranks; the last
/// may make no mark. The total tells programs and ranks apart.
std::optional<Error> runOps(Process &process, Turns &turns, int64_t program,
                            int64_t last, bool marksLast, float &total) {
  return process.protect([&] {
    for (int64_t op = 0; op <= last; ++op) {
      {
        ErrorOr<Tensor> sum =
            allReduce(process, floats({1}, {float(10 * program + op)}),
                      Reduction::Sum, packAxes({0}), op);
        if (sum)
          total += values(*sum)[0];
      }
      if (!process.failure() && (op < last || marksLast))
        turns.finish(op);
      if (process.failure())
        process.unwind();
    }
  });
}

TEST(Turns, ProgramsGoOnAsPlanned) {
  std::vector<Turn> order = {{1, 0}, {0, 0}, {0, 1}, {1, 1}, {2, 0},
                             {1, 2}, {2, 1}, {0, 2}, {2, 2}};
  for (bool marksLast : {false, true}) {
    ThreadWorld world({2});
    std::vector<std::vector<Turn>> done(2);
    std::vector<std::vector<float>> totals(2, std::vector<float>(3));
    std::optional<Error> error = world.run([&](Process &process) {
      Turns turns(process, order, 3, spellTurn);
      // Twice, as in two steps of a program.
      for (int step = 0; step < 2; ++step) {
        EXPECT_FALSE(turns.run([&](int64_t program) {
          EXPECT_EQ(turns.running(), program);
          return runOps(process, turns, program, 2, marksLast,
                        totals[process.rank()][program]);
        }));
        done[process.rank()] = turns.done();
      }
    });
    EXPECT_FALSE(error) << error->message;
    for (int rank : {0, 1}) {
      EXPECT_EQ(done[rank], order);
      // Two steps, two ranks: 4 * (0 + 1 + 2 + 3 * 10 * program).
      EXPECT_EQ(totals[rank], (std::vector<float>{12, 132, 252}));
    }
  }
}

TEST(Turns, WhatWasNotPlannedIsAnError) {
  struct Case {
    std::vector<Turn> order;
    const char *message;
  };
  for (const Case &c :
       {Case{{{0, 0}, {1, 1}, {1, 0}, {0, 1}},
             "0 of 1 was done where 1 of 1 was planned, turn 1"},
        Case{{{0, 0}, {1, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 1}},
             "a program ended where 2 of 0 was planned, turn 3"},
        Case{{{1, 0}, {1, 1}}, "0 of 0 was done where nothing was planned"}}) {
    ThreadWorld world({2});
    float total[2] = {0, 0};
    std::optional<Error> error = world.run([&](Process &process) {
      Turns turns(process, c.order, 2, spellTurn);
      std::optional<Error> first = turns.run([&](int64_t program) {
        return runOps(process, turns, program, 1, true, total[process.rank()]);
      });
      EXPECT_TRUE(first);
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->message.substr(0, std::string(c.message).size()),
              c.message);
  }
}

TEST(Turns, AFailureEndsAllPrograms) {
  ThreadWorld world({2});
  std::optional<Error> error = world.run([&](Process &process) {
    Turns turns(process, {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}}, 3,
                spellTurn);
    float total = 0;
    std::optional<Error> first = turns.run([&](int64_t program) {
      if (program == 1 && process.rank() == 1)
        return std::optional<Error>(Error{"program 1 of rank 1 is wrong"});
      return runOps(process, turns, program, 1, true, total);
    });
    EXPECT_TRUE(first);
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message.substr(0, 28), "program 1 of rank 1 is wrong");
}

} // namespace
