//===- ExportTest.cpp - Problems for other solvers ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Export.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

/// Nodes that begin one after the other and end so, half of them live at a
/// time.
static Problem makeStaircase(int32_t count) {
  Problem problem;
  for (int32_t i = 0; i < count; ++i) {
    problem.intervals.push_back({2 * i, 2 * i + count + 1});
    problem.costs.add({1, 0});
    problem.usages.add({0, 1});
  }
  problem.usageLimit = 1;
  return problem;
}

struct Exported {
  size_t bytes = 0, largestPiece = 0;
};

static Exported sizeOf(const Problem &problem, ExportFormat format) {
  Exported result;
  std::optional<Error> error =
      exportProblem(problem, format, [&](std::string_view piece) {
        result.bytes += piece.size();
        result.largestPiece = std::max(result.largestPiece, piece.size());
      });
  EXPECT_FALSE(error.has_value());
  return result;
}

TEST(Export, ProgramsGrowWithNodesNotWithTimesOfEach) {
  Exported few = sizeOf(makeStaircase(500), ExportFormat::Mps);
  Exported many = sizeOf(makeStaircase(2000), ExportFormat::Mps);
  // Four times the nodes, and numbers of a digit more.
  EXPECT_LT(many.bytes, 5 * few.bytes);
}

TEST(Export, TextGoesOutInPieces) {
  for (ExportFormat format :
       {ExportFormat::Cfn, ExportFormat::Wcsp, ExportFormat::Mps}) {
    Exported text = sizeOf(makeStaircase(2000), format);
    EXPECT_GT(text.bytes, 4 * text.largestPiece);
  }
}

TEST(Export, WhatIsRefusedLeavesNoText) {
  Problem problem = makeStaircase(2);
  problem.costs.values[0] = infiniteCost - 1;
  problem.costs.values[2] = infiniteCost - 1;
  size_t bytes = 0;
  EXPECT_TRUE(
      exportProblem(problem, ExportFormat::Wcsp, [&](std::string_view piece) {
        bytes += piece.size();
      }).has_value());
  EXPECT_EQ(bytes, 0u);
}
