//===- CopiesTest.cpp - The copies of a value and their reshards ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Copies.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

struct Copy {
  Layout layout = Layout::R;
  int number = 0;
};

/// The number of the copy that `to` is made of.
int chosen(const std::vector<Copy> &copies, Layout to, int64_t tp = 8) {
  Roofline time(h100());
  return cheapestCopy(copies, {to, 512, 8192}, time, {tp, 1, 1, 512}).number;
}

TEST(Copies, AGatherOfACopyIsCheaperThanOneMoreReduction) {
  std::vector<Copy> copies = {{Layout::P, 0}};
  EXPECT_EQ(chosen(copies, Layout::R), 0);
  copies.push_back({Layout::T, 1});
  EXPECT_EQ(chosen(copies, Layout::R), 1);
  EXPECT_EQ(chosen(copies, Layout::H), 1);
}

TEST(Copies, WhatLiesThereOrIsWholeCostsNothing) {
  EXPECT_EQ(chosen({{Layout::P, 0}, {Layout::T, 1}}, Layout::T), 1);
  EXPECT_EQ(chosen({{Layout::P, 0}, {Layout::R, 1}}, Layout::H), 1);
}

TEST(Copies, TheOldestOfEqualsIsTaken) {
  // A gather of rows takes as long as one of features.
  EXPECT_EQ(chosen({{Layout::H, 0}, {Layout::T, 1}}, Layout::R), 0);
  EXPECT_EQ(chosen({{Layout::T, 0}, {Layout::H, 1}}, Layout::R), 0);
  // On one device nothing takes any time.
  EXPECT_EQ(chosen({{Layout::P, 0}, {Layout::R, 1}}, Layout::R, 1), 0);
}

} // namespace
