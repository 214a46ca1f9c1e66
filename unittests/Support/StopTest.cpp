//===- StopTest.cpp - Tests of the stop token -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Stop.h"

#include <gtest/gtest.h>

#include <csignal>

using namespace shardopt;

TEST(StopToken, theFirstSignalStays) {
  StopToken token;
  EXPECT_FALSE(token.requested());
  token.request(SIGINT);
  token.request(SIGTERM);
  EXPECT_TRUE(token.requested());
  EXPECT_EQ(token.signal(), SIGINT);
}

static StopToken raised;

TEST(StopToken, isRequestedBySignalHandlers) {
  auto previous = std::signal(SIGUSR1, [](int s) { raised.request(s); });
  std::raise(SIGUSR1);
  std::signal(SIGUSR1, previous);
  EXPECT_EQ(raised.signal(), SIGUSR1);
}
